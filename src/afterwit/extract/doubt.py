"""What must not be taken at its word: questions, hypotheses, hearsay, jokes, role play, words denied or in quotes."""

import re

_QUOTED = re.compile(r"\"[^\"\n]{12,}\"|“[^”\n]{6,}”|「[^」\n]{6,}」|『[^』\n]{6,}』|(?<!\w)'[^'\n]{14,}'(?!\w)")
_FIRST_PERSON = re.compile(r"\b(?:I|my|we|our)\b|我|咱")

_QUESTION = re.compile(
    r".*[?？]\W*$"
    r"|(?:(?:and|so|but|hey|ok|well|also|then),? )*(?:"
    r"(?:can|could|would|will|should|shall|may|might|do|does|did|is|are|was|were|have|has|am) (?:you|we|i|"
    r"it|they|he|she|there|this|that|the|my|our)\b"
    r"|(?:what|who|where|how|why|which|whose)(?:'s|'re| is| are| do| does| did| can| should| would| was| "
    r"were| will| about| if| many| much)\b)"
    r"|.*(?:吗|么|怎么办|是什么|为什么|怎么样|怎么回事|多少|几点|在哪儿?|是谁|如何|什么意思|好不好|对不对|"
    r"行不行|可以不)[。.!！~]*$"
    r"|(?:请问|为什么|为啥|怎么|如何|能不能|可不可以|是不是|有没有|要不要|能否|你觉得|你说|你知道|你认为).*"
    r"|.*(?:怎么|如何|什么|谁|哪|多少|几|为何).*呢[。.!！~]*$"
    r"|.*(?:是不是|有没有|要不要|能不能|该不该|需不需要|会不会|还是不).*",
    re.IGNORECASE,
)
_WISH = re.compile(
    r"(?:.*\b)?(?:"
    r"if (?:i|we|you|he|she|they|user|the user|it) (?:were|was|had|lived|could|did|worked|moved|used|ever|"
    r"would|might|get|want|went|switched|chose)\b"
    r"|if (?:only|i'd|we'd|i'm)|i wish|we wish|imagine|suppose|supposing|hypothetical|pretend|let's say|"
    r"let us say|what if|"
    r"in theory|would have|could have|should have|might have|as if|would be nice|in an alternate|ideally)\b"
    r"|.*(?:如果|假如|要是|假设|假使|倘若|若是|万一)(?:有一天|哪天|将来|以后)?(?:我|咱|用户|你|他|她|能|"
    r"当初|当时|可以|换|有钱|中了|是你|是我)"
    r"|.*(?:就好了|该多好|想象一下|设想|幻想|做梦|恨不得|巴不得|多好啊|理论上|早知道|本来(?:想|打算|可以|应该))",
    re.IGNORECASE,
)
_UNSURE = re.compile(
    r".*\b(?:maybe|perhaps|might|possibly|probably|presumably|not sure|unsure|i guess|i suppose|i wonder|"
    r"wondering|thinking (?:about|of)|"
    r"considering|tempted|could be|may be|seems?|apparently|supposedly|allegedly|someday|one day|leaning "
    r"towards?|on the fence|"
    r"undecided|debating|haven't decided|not decided|i think (?:we|i) (?:could|should|might))\b"
    r"|.*(?:可能|也许|大概|或许|说不定|好像|似乎|看起来|应该会|不确定|不太确定|没想好|还没决定|没决定|"
    r"在考虑|正考虑|考虑(?:要|过|是否|用|换|把)|犹豫|纠结|估计|据说|听说|"
    r"想过要?|想要不|要不就?|不知道(?:要|该|是))",
    re.IGNORECASE,
)
_SEEMS = re.compile(r"\b(?:seems?|appears?) to (\w+)", re.IGNORECASE)
_HEDGE = re.compile(
    r"\b(?:maybe|perhaps|possibly|probably|presumably|apparently|supposedly|likely|i guess|i suppose),?\s+"
    r"|(?:可能|也许|大概|或许|说不定|好像|似乎|看起来|看来|估计|应该)(?:是(?=[在住用喜叫]))?[，,]?",
    re.IGNORECASE,
)
_HEARSAY = re.compile(
    r"(?:.*\b)?(?:he|she|they|people|someone|somebody|everyone|everybody|who|mom|dad|mother|father|wife|"
    r"husband|friend|friends|boss|colleague|"
    r"coworker|manager|brother|sister|teacher|doctor|neighbou?r|article|book|blog|post|docs?|"
    r"documentation|tutorial|tweet|video|song|movie|film|"
    r"character|quote|stack ?overflow|reddit|(?-i:[A-Z][a-z]+))(?: once| always| just| also)? "
    r"(?:said|says|say|told|tells|claims?|claimed|thinks?|thought|believes?|believed|wrote|writes|asked|"
    r"asks|suggested|suggests|reckons|mentioned|recommended|"
    r"recommends|goes|argues|keeps (?:saying|telling))\b"
    r"|(?:.*\b)?(?:according to|rumou?r has it|they say|it is said|reportedly|some people|most people|"
    r"many people|quote|quoting|in the (?:book|movie|song|story|novel))\b"
    r"|.*(?:他|她|他们|她们|它|同事|朋友|老板|领导|别人|有人|有些人|很多人|大家|网上|文章|书上|书里|"
    r"电影里?|小说里?|歌词|博客|教程|文档里?|新闻|老师|医生|邻居|"
    r"妈妈?|爸爸?|老婆|老公|妻子|丈夫|弟弟|妹妹|哥哥|姐姐|客户|专家|经理|[小老][\u4e00-\u9fff])(?:里|中|"
    r"上|总|常|经常|一直|刚才|昨天|今天|之前|曾经?|都|们|又|还)*(?:说|告诉|觉得|认为|建议|问|写道?|提到|"
    r"提过|表示|声称|劝|讲|推荐|写着|介绍)",
    re.IGNORECASE,
)
_USER_SAID = re.compile(
    r"(?:the )?user(?: has| just| explicitly| clearly| also)*(?: said| says| stated| states| told| "
    r"mentioned| asked| asks| requested| requests| confirmed| wants| insisted)"
    r"|(?:该)?用户(?:明确|曾|刚才|之前|也|已|已经|再次|多次|反复|特别)*(?:说|表示|要求|提到|告诉|强调|"
    r"指出|确认|声明|希望)",
    re.IGNORECASE,
)
_DENIED = re.compile(
    r"(?:.*\b)?(?:i (?:never|didn't|did not) (?:said|say|claim|claimed|mean)|i'm not saying|i am not "
    r"saying|it's not (?:that|true|like)|it is not (?:that|true)|"
    r"not that i|doesn't mean|does not mean|don't think (?:that )?(?:i|we|the)|no one said|nobody said|"
    r"who said|it isn't true|wrongly|by no means)\b"
    r"|.*(?:(?:我|用户)?(?:没|没有|从没|从来没|并没有?|并未)说过?|并不是说|不是说|不代表|不意味着|谁说|"
    r"并非(?:是)?|不等于|不见得|未必|不是真的|误以为|以为)",
    re.IGNORECASE,
)
_JOKE = re.compile(
    r"(?:.*\b)?(?:just kidding|kidding|jk|lol|lmao|rofl|haha\w*|/s|sarcasm|joking|joke|not really|in my "
    r"dreams|as they say)(?:\b|$)"
    r"|.*(?:开玩笑|玩笑话|哈哈|逗你|骗你|狗头|才怪|doge|笑死|逗你玩|反话|嘻嘻|呵呵|😂|🤣|😜|\[doge\])",
    re.IGNORECASE,
)
_JOKE_ALONE = re.compile(
    r"\W*(?:(?:just |only )?(?:kidding|joking)|jk|lol|haha\w*|not really|in my dreams|开(?:个)?玩笑的?|"
    r"逗你(?:玩)?的?|骗你的|才怪|哈哈+|假的)\b.*",
    re.IGNORECASE,
)
_SAMPLE = re.compile(
    r"(?:for example|for instance|e\.g\.|such as|like this:|example:|sample|an? example|say,|lyrics|once "
    r"upon|dear |to whom|subject:|"
    r"as an ai|as a language model|you are (?:an?|the|now)|act as|your role|imagine you)"
    r"|(?:比如|例如|譬如|举例|举个例子|打个比方|示例|样例|假如|你是一[个名位]|你现在是|扮演|从前|亲爱的|尊敬的|此致)",
    re.IGNORECASE,
)
_PAST = re.compile(
    r".*\b(?:used to|back when|when i was|as a (?:kid|child)|years ago|formerly|previously|in my previous)\b"
    r"|.*(?:以前|曾经|小时候|过去|当年|那时候?|之前(?:住|在|用|喜欢|是)|从前|原来(?:住|在|用|喜欢|是)|上学时|年轻时)",
    re.IGNORECASE,
)


def unquoted(sentence: str) -> str:
    """The sentence with long quotations blanked, so that nothing is read inside them."""
    return _QUOTED.sub(lambda quote: "“…”" if _FIRST_PERSON.search(quote.group()) else quote.group(), sentence)


def is_question(sentence: str) -> bool:
    """Whether it asks."""
    return _QUESTION.match(sentence) is not None


def is_joke_alone(sentence: str) -> bool:
    """Whether it takes back the sentence before: "Just kidding." """
    return _JOKE_ALONE.fullmatch(sentence) is not None


def is_unsure(sentence: str) -> bool:
    """Whether the speaker hedges: "probably", "seems", 可能, 看起来."""
    return _UNSURE.match(sentence) is not None


def without_hedge(sentence: str) -> str:
    """The sentence without the words that only say how sure it is, so that what is guessed can be read."""
    return _HEDGE.sub("", _SEEMS.sub(r"\1s", sentence))


def is_past(sentence: str) -> bool:
    """Whether it speaks of what no longer is: "used to", 以前."""
    return _PAST.match(sentence) is not None


def reports_user(sentence: str) -> bool:
    """Whether it reports the user's own statement: "user said ...", 用户明确表示."""
    return _USER_SAID.search(sentence) is not None


def is_not_meant(sentence: str) -> bool:
    """Whether it is a wish, hearsay, a denial, a joke or a sample: said, but not as the speaker's own view."""
    if any(pattern.match(sentence) for pattern in (_WISH, _DENIED, _JOKE, _SAMPLE)):
        return True
    return _HEARSAY.match(sentence) is not None and not reports_user(sentence)
