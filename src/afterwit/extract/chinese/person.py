"""Chinese: how people say what they prefer, who and where they are, what they use."""

from afterwit.extract.chinese.words import (
    ADV,
    ATTRIBUTE,
    CITY,
    END,
    JOB,
    KIN,
    LANGUAGE,
    NAME,
    ORG,
    PLACE,
    PLEASE,
    TEAM,
    TECH,
    VALUE,
    WHO,
)
from afterwit.extract.rules import rule
from afterwit.records import Kind

PREFERENCES = (
    rule(
        Kind.PREFERENCE,
        rf"{PLEASE}(?:用|使用|说|讲){LANGUAGE}(?:来|跟我|和我|给我)?(?:回答|回复|交流|沟通|说|解释|输出|"
        rf"对话|聊|作答|就行|就好|吧)",
        "reply_language",
    ),
    rule(
        Kind.PREFERENCE,
        rf"{PLEASE}(?:回答|回复|答案|解释|说明|总结|输出)(?:的?(?:内容|时候?|要|请|尽量|都|得|应该|最好|"
        rf"一定要|能|可以|再|更|可以更|写得?|我|问题))*(?P<value>(?:简短|简洁|简明|详细|精简|精炼|直接|正式|"
        rf"口语|通俗|短|具体|严谨|幽默)[^。，,；;！\n]*)",
        "reply_style",
    ),
    rule(
        Kind.PREFERENCE,
        rf"{WHO}{ADV}(?:喜欢|偏好|偏爱|希望|想要|倾向于?)(?:看|收到)?(?P<value>[^。，,；;！\n]*?)(?:回答|"
        rf"回复|答复|解释)(?:[^。，,；;！\n]*)",
        "reply_style",
    ),
    rule(
        Kind.PREFERENCE,
        rf"(?P<who>我|用户|{NAME}|我的?{KIN})(?:平时|现在)?最(?:喜欢|爱|常)(?:吃|喝|看|听|用|玩|"
        rf"去)?的(?P<word>[\u4e00-\u9fff]{{1,6}}?)(?:就?是|叫|:|：){VALUE}",
    ),
    rule(
        Kind.PREFERENCE,
        rf"{WHO}{ADV}(?:不太|不怎么|不|从不|从来不|不再|一点都不|完全不|绝不|很少|只|不能|不敢|少)(?:吃|喝|"
        rf"碰|沾|抽)(?!了|饭了?$|饭[。，了]|东西$|早饭|午饭|晚饭|这|那)"
        rf"(?P<value>[^。，,；;！\n了]{{1,20}}){END}",
        "diet",
    ),
    *(
        rule(
            Kind.PREFERENCE,
            rf"{WHO}{ADV}(?:喜欢|爱|不喜欢|不爱|喜爱|偏爱|习惯){verb}(?!你|他|她|它|这|那|了|吗|什么){VALUE}",
            topic,
        )
        for verb, topic in (("吃", "food"), ("喝", "drink"), ("听", "music"), ("打", "sport"), ("踢", "sport"))
    ),
    rule(
        Kind.PREFERENCE,
        rf"{WHO}{ADV}(?:更?(?:喜欢|偏好|偏爱|钟爱|热爱|酷爱|爱好|倾向于?|习惯于?|喜爱)|(?:不|不太|不怎么|"
        rf"很不|最不)(?:喜欢|爱|习惯)|讨厌|受不了|反感|厌恶|爱(?:吃|喝|看|听|玩|用|打|去))(?!你|他|她|它|这|那|"
        rf"上你|上他|上她|了|吗|什么|的)(?:用|使用)?{VALUE}",
    ),
    rule(
        Kind.PREFERENCE,
        r"(?:请|以后|可以|就|你)*(?:叫我|称呼我|喊我)(?:为)?(?!来|去|起床|一声|回)"
        r"(?P<value>[\u4e00-\u9fff\w]{1,8}?)(?:就行|就好|就可以了?|吧)?(?=[。，,！!\s]|$)",
        "name",
    ),
    rule(
        Kind.PREFERENCE,
        r"(?:我|用户)(?:更)?(?:希望|想让|要求|想要)(?:你|助手|以后|今后|每次|所有|全部|代码|注释|文档|文件|"
        r"提交|变量)[^。；;！\n]+",
    ),
)

CHANGES = (
    rule(
        Kind.FACT,
        rf"{WHO}{ADV}(?:从(?:{CITY}|[\u4e00-\u9fff]{{2,4}}))?(?:搬到|搬去|搬来|"
        rf"搬家到|搬家去|搬回|迁居|移居到?|定居到|迁到)了?{PLACE}(?:来|去|住|生活|居住|工作)?(?:了|啦)?{END}",
        "residence",
        is_change=True,
    ),
    rule(
        Kind.FACT,
        rf"{WHO}{ADV}(?:换了?新?工作(?:了|到|去)?[，,]?(?:现在)?(?:在|去)?|跳槽(?:到|去)了?|入职了?|加入了?|"
        rf"转到了?|被调到了?|去了?)(?<!去)(?<!去了){ORG}(?:工作|上班|任职)?(?:了)?{END}",
        "employer",
        is_change=True,
    ),
    rule(
        Kind.FACT,
        rf"{WHO}{ADV}(?:升职?(?:为|成|任|到)?|晋升(?:为|成|到)|升任|转岗(?:为|成|到|做)|转行(?:做|当|成|到)|"
        rf"当上|转做|改行(?:做|当)|被提拔为)了?{JOB}(?:了)?{END}",
        "job_title",
        is_change=True,
    ),
    rule(
        Kind.FACT,
        rf"{WHO}{ADV}(?:上周|去年|今年|刚|上个月|前年)*(?P<value>结婚|离婚|订婚|分手)了",
        "marital_status",
        is_change=True,
    ),
    rule(
        Kind.FACT, rf"{WHO}{ADV}(?:离职|辞职|离开|从)(?:了)?{ORG}(?:离职|辞职)?(?:了)?{END}", "employer", is_change=True
    ),
    rule(Kind.FACT, rf"{TEAM}{ADV}(?:不再(?:使用|用)|弃用|停用|淘汰|下线)了?{TECH}", is_change=True, named=True),
    rule(
        Kind.FACT,
        rf"{TEAM}{ADV}(?:[\u4e00-\u9fff]{{0,6}}?(?:从|把|将)\s*(?P<rejected>[\w.+# -]+?)\s*)?(?:换成|改用|改成|改为|"
        rf"切换到|切到|迁移到|迁到|迁移至|升级到|升到|换到|换为|替换成|替换为|转向|转到|搬到|上了)了?\s*{TECH}",
        is_change=True,
        named=True,
    ),
    rule(
        Kind.FACT,
        rf"(?P<who>[\w\u4e00-\u9fff ]{{0,12}}?)的?(?P<word>截止日期|截止时间|最后期限|上线日期|上线时间|"
        rf"发布日期|发布时间|预算|版本|会议时间|例会时间)(?:已经?|又|再次)*(?:改到|改成|改为|推迟到|延期到|"
        rf"延到|提前到|调整为|调整到|增加到|减少到|降到|提高到|升到|变成)了?{VALUE}",
        is_change=True,
    ),
    rule(
        Kind.FACT,
        rf"(?:[\w\u4e00-\u9fff ]{{0,12}})(?P<word>上线|发布|交付|截止)(?:时间|日期)?(?:已经?|又|再次)*(?:改到|"
        rf"推迟到|延期到|延到|提前到|调整到)了?{VALUE}",
        "deadline",
        is_change=True,
    ),
)

FACTS = (
    rule(
        Kind.FACT,
        rf"[^。，,；;！\n]{{0,8}}?(?P<word>预算|截止日期|截止时间|上线时间|发布日期|版本号?)(?:是|为|定在|：|:)"
        rf"(?!什么|多少|哪){VALUE}",
    ),
    rule(Kind.FACT, rf"{TEAM}{ADV}(?:不用|没有?用|没在用|不使用|没有使用){TECH}", named=True),
    rule(Kind.FACT, rf"{WHO}{ADV}(?:负责|主管|维护|牵头)(?!人)(?P<value>[^。，,；;！\n]{{2,20}}?)(?:的)?{END}"),
    rule(Kind.FACT, rf"(?P<who>{NAME})是(?:我|用户)的?{KIN}[，,]其{ATTRIBUTE}(?:是|为){VALUE}"),
    rule(
        Kind.FACT,
        rf"{WHO}(?:的)?{ADV}{ATTRIBUTE}{ADV}(?:是在?|为|叫做?|在|有|只有|也就|：|:|改成|变成)"
        rf"(?:了)?(?!什么|多少|哪){VALUE}",
    ),
    rule(
        Kind.FACT,
        rf"(?P<who>(?:项目\s*)?[\w-]{{1,20}}(?:\s*项目)?|项目|我们?项目)的?{ATTRIBUTE}(?:是在?|为|定在|定为|"
        rf"：|:)(?!什么|多少|哪){VALUE}",
    ),
    rule(
        Kind.FACT,
        rf"{WHO}{ADV}(?:住在?|居住在|定居在?|常住在?|长住|家住|家在|家就?在)(?:的?那个)?(?!院|校|了|酒店|"
        rf"这){PLACE}(?:这个小区|那边|这边|附近|生活|工作)?(?:了|呢|啊)?{END}",
        "residence",
    ),
    rule(Kind.FACT, rf"{WHO}{ADV}住的那?个?(?:小区|地方|城市)[，,]?(?:叫做?|是|在){VALUE}", "residence"),
    rule(
        Kind.FACT,
        rf"{WHO}{ADV}(?:在{ORG}(?:工作|上班|任职|实习|就职|担任|读书|上学|教书)|(?:就职于|供职于|任职于|"
        rf"就读于)(?P<other>[^。，,；;！\n]+?))(?:了|呢|的)?{END}",
        "employer",
    ),
    rule(
        Kind.FACT,
        rf"{WHO}{ADV}在(?:(?P<value>(?:{CITY})[\u4e00-\u9fff]{{0,6}}?)|[^。，,；;！\n]{{1,14}}?)(?:工作|"
        rf"上班|实习|任职)(?:了|呢|的)?{END}",
    ),
    rule(
        Kind.FACT,
        rf"{WHO}{ADV}(?:是|当|做|担任)(?:一?[名个位])?{JOB}(?:的)?(?:这行|工作)?(?:了|呢)?{END}",
        "job_title",
    ),
    rule(
        Kind.FACT,
        rf"{WHO}{ADV}(?:是|在)?(?:做|干|从事)(?!完|好|了|过|不|得|这|那|个|的)"
        rf"(?P<value>[\u4e00-\u9fff]{{2,10}}?)(?:的工作|工作|的|这行的?|行业|这一行)(?:了|呢)?{END}",
        "job_title",
    ),
    rule(
        Kind.FACT,
        rf"{WHO}(?:的)?(?:名字|姓名)?(?:就)?(?:是叫|名叫|叫做|叫)(?!我|你|他|她|它|了|人|什么|车|外卖|不|醒|"
        rf"大家)(?P<value>[\u4e00-\u9fff]{{2,4}}|[A-Z][a-z]+(?: [A-Z][a-z]+)?){END}",
        "name",
    ),
    rule(Kind.FACT, rf"{WHO}{ADV}(?:都|快|满)?(?P<value>\d{{1,3}}|[一二三四五六七八九十百]{{1,4}})岁(?:了|半)?", "age"),
    rule(
        Kind.FACT,
        rf"{WHO}{ADV}(?:出生于|生于|出生在)(?P<value>[^。，,；;！\n]+?\d[^。，,；;！\n]*?){END}",
        "birthday",
    ),
    rule(
        Kind.FACT,
        rf"{WHO}{ADV}(?:(?:是|来自|出生于|出生在|在)(?P<value>(?:{CITY})[\u4e00-\u9fff]{{0,4}}?)(?:本地人|"
        rf"人|长大|出生)|来自(?P<other>(?:{CITY})[\u4e00-\u9fff]{{0,4}}?)){END}",
        "birthplace",
    ),
    rule(Kind.FACT, rf"{WHO}{ADV}对(?P<value>[^。，,；;！\n这那]{{1,14}}?)(?:严重|重度|轻度|有点)?过敏", "allergy"),
    rule(
        Kind.FACT,
        rf"{WHO}{ADV}(?:是|吃)?(?:一?[名个位])?(?P<value>素食主义者|素食者|素食|素|纯素|清真|穆斯林|乳糖不耐)",
        "diet",
    ),
    rule(Kind.FACT, rf"{WHO}{ADV}(?P<value>已婚|未婚|单身|离异|丧偶)", "marital_status"),
    rule(
        Kind.FACT,
        rf"{WHO}{ADV}(?:家里?)?(?:有|生了|育有)(?P<value>(?:[一二两三四五六\d]+)(?:个|位|儿|"
        rf"对)?(?:[\u4e00-\u9fff\d]{{0,4}})?(?:孩子|儿子|女儿|女|小孩|娃|双胞胎))",
        "children",
    ),
    rule(
        Kind.FACT,
        rf"{WHO}{ADV}(?:家里?)?(?:有|养了?|养着|领养了?)(?P<value>(?:[一二两三四五六\d]+)(?:只|条|个|匹)"
        rf"[\u4e00-\u9fffA-Za-z]{{0,6}}?(?:猫|狗|犬|鹦鹉|兔子|仓鼠|乌龟|金毛|柯基|泰迪|英短|布偶))",
        "pet",
    ),
    rule(Kind.FACT, rf"{WHO}{ADV}(?:会说|会讲|能说|精通|母语是){LANGUAGE}", "language"),
    rule(
        Kind.FACT,
        rf"{WHO}{ADV}(?:有|患有|患|得了|确诊了?|得过)(?:轻微的?|严重的?|慢性|点)?(?P<value>糖尿病|高血压|"
        rf"低血压|哮喘|偏头痛|失眠|胃病|胃炎|[\u4e00-\u9fff]{{1,6}}(?:炎|症|病)|近视|颈椎病|高血脂|痛风)",
        "health",
    ),
    rule(
        Kind.FACT,
        rf"{WHO}(?:今天|明天|后天|大后天|下周[一二三四五六日天末]?|下个?月|这周[一二三四五六日天末]?|"
        rf"本周[一二三四五六日天末]?|周[一二三四五六日天末]|国庆|春节|五一|寒假|暑假|年底|"
        rf"[\d一二三四五六七八九十]+月[\d一二三四五六七八九十]*[日号]?|[，,\s到至-])+(?:要|会|将|准备|打算|"
        rf"计划)?(?:在|去|飞|到)(?P<value>[\u4e00-\u9fffA-Za-z]{{2,8}}?)(?:出差|旅游|旅行|开会|度假|玩|参加|"
        rf"培训|面试)",
        "travel",
    ),
    rule(
        Kind.FACT,
        rf"{WHO}{ADV}(?:要|会|准备|打算|计划)?(?:在|去|飞|到)(?P<value>[\u4e00-\u9fffA-Za-z]{{2,8}}?)(?:出差|"
        rf"旅游|旅行|度假)[^。]*?(?:到|至|从|直到|\d|周|月|天)",
        "travel",
    ),
    rule(Kind.FACT, r"(?P<who>我)将?要(?:去)?参加(?!的)(?P<value>[^。，,；;！\n]{2,30})", "schedule"),
    rule(
        Kind.FACT,
        rf"{WHO}?{ADV}(?:每天|每周|每月|每个?工作日|每个?周[一二三四五六日天末]|每周[一二三四五六日天末]|"
        rf"周[一二三四五六日天])[^。；;！\n]*?(?:点|上午|下午|早上|晚上|号)?[^。；;！\n]*?(?P<value>开会|例会|"
        rf"站会|周会|健身|跑步|上课|值班|休息|游泳|瑜伽|练琴)",
        "schedule",
    ),
    rule(
        Kind.FACT,
        rf"{WHO}(?:今天|明天|后天|下周[一二三四五六日天]?|这周[一二三四五六日天]?|本周[一二三四五六日天]?|"
        rf"周[一二三四五六日天]|[\d一二三四五六七八九十]+月[\d一二三四五六七八九十]+[日号]?)(?:早上|上午|下午|"
        rf"晚上|中午)?(?:[\d一二三四五六七八九十]+点半?)?(?:有|要开|要参加|约了)"
        rf"[^。，,；;！\n]*?(?P<value>会议|面试|考试|航班|评审|演示|体检|手术|会)",
        "schedule",
    ),
    rule(
        Kind.FACT,
        rf"{WHO}{ADV}(?:会弹|会打|会拉|正?在学习?|学习)(?!习|历|校|生)(?P<value>[\u4e00-\u9fff]{{2,6}}|"
        rf"[A-Z]\w+){END}",
        "hobby",
    ),
    rule(Kind.FACT, rf"{WHO}(?:学历|个子|身高)?{ADV}(?:有)?(?P<value>\d{{2,3}}\s?(?:cm|厘米|公分))", "height"),
    rule(Kind.FACT, rf"{WHO}的(?P<word>手机|电脑|笔记本|相机|运动鞋|车|洗衣机|耳机|平板)是{VALUE}"),
    rule(Kind.FACT, rf"{WHO}{ADV}(?:用|穿|开|骑|戴)的(?:[\u4e00-\u9fff]{{1,6}})?是{VALUE}"),
    rule(
        Kind.FACT,
        rf"{TEAM}{ADV}(?:用的?(?:是)?|使用的?(?:是)?|基于|采用的?(?:是)?|部署在|跑在|运行在|托管在|依赖|"
        rf"写的?(?:是)?|开发用(?:的是)?|选型是|技术栈是|是用)了?\s*{TECH}(?:\s*(?:写的|开发的|搭建的|实现的|"
        rf"做的))?",
        named=True,
    ),
    rule(
        Kind.FACT,
        rf"{TEAM}的?(?P<word>数据库|框架|编程语言|开发语言|语言|操作系统|包管理器|编辑器|缓存|消息队列|"
        rf"部署平台|测试框架|构建工具|CI)(?:用的?|使用的?|是|为|:|：)+\s*(?:的是|是)?\s*{TECH}",
        named=True,
    ),
    rule(
        Kind.FACT,
        r"(?:[\u4e00-\u9fffA-Za-z0-9_ /-]{0,14}?)(?P<word>地址|端口|域名|仓库|接口|路径|目录|分支|账号|"
        r"超时时间?|上限|限制|连接池|并发数?|文档|按钮|配置文件|配置|密钥|日志|有效期)"
        r"(?:[\u4e00-\u9fff]{0,4}?)(?:是|为|在|位于|放在|存在|最大|最多|默认|：|:)\s*(?:是|为|"
        r"在)?\s*(?P<value>(?=[^。；;！\n]*[\dA-Za-z/])[^。；;，,！\n]+)",
    ),
)

CORRECTIONS = (
    rule(
        Kind.FACT,
        r"(?!这|它|那|注意|所以|问题)[^。，,；;！\n]{0,10}?不是(?P<rejected>[^。，,；;！\n不]{1,12}?)(?:了)?[，,]\s*"
        r"(?:而?是|应该是|现在是|改成|改为)(?!一[类种个]|因为|要|怎么|什么)(?P<chosen>[^。，,；;！\n]{1,16})"
        r"(?=[。！!]?$)",
        is_change=True,
    ),
    rule(
        Kind.FACT,
        r"(?:[^。，,；;！\n]{0,12}?)(?:应该|应当)(?:是|用|为)(?P<chosen>[^。，,；;！\n]+?)[，,]?(?:而不是|"
        r"不是|而非)(?P<rejected>[^。，,；;！\n]+)",
        is_change=True,
    ),
)
