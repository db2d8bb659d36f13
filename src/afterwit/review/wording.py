"""Words of people and agents that a review listens to, in English and Chinese."""

import re

#: The user says that what was done is wrong, or says it again.
CORRECTION = re.compile(
    r"(?i)^\s*(?:no|nope|wrong|stop|not (?:that|like that|this way)|that(?:'s| is) (?:wrong|not (?:right|what|"
    r"it|how))|actually)\b|"
    r"\bi (?:already )?(?:told|asked) you\b|\bi said\b|\bas i said\b|\b(?:revert|undo|roll (?:it|that|this)? "
    r"?back)\b|\bnot what i (?:asked|wanted|meant)\b|"
    r"\bshould(?:n't| not)? (?:have )?(?:be|use|used|go|been)\b|\byou (?:forgot|broke|missed)\b|\bwhy did you\b|"
    r"^\s*(?:不对|不是|错了|不行|别|不要|停|不用)|我(?:说过|告诉过你|不是说|让你)|(?:撤销|撤回|回退|还原|"
    r"恢复原样|改回)|应该(?:用|是|放|写)|不应该|弄错|搞错|而不是|为什么(?:又|要)"
)
#: The user wants something undone.
REVERT = re.compile(r"(?i)\b(?:revert|undo|roll (?:it|that|this)? ?back)\b|撤销|撤回|回退|还原|改回")
#: A wish or rule that outlives the task.
LASTING = re.compile(
    r"(?i)\b(?:always|never|from now on|in (?:the )?future|every time|whenever|by default|we (?:only |always |"
    r"never |don't |do not )?(?:use|keep|write|deploy|"
    r"run|commit|target|support|follow)|our (?:convention|standard|policy|team|code|repo)|i (?:always |really "
    r")?(?:prefer|like|want|hate|dislike|don't like)|"
    r"(?:please )?(?:don't|do not) (?:ever )?(?:use|touch|add|commit|push|change|edit|install|run|write|"
    r"delete|remove|mock|skip)|(?:must|has to|have to|need to) (?:be|stay|use|go|run|not)|must not|"
    r"(?:^|[,;:]\s*|please )(?:use|stick (?:to|with)|keep|prefer|avoid)\b|make sure|instead of|not allowed|"
    r"only (?:use|with|in))|"
    r"以后|今后|每次|总是|一律|统一|永远|从现在起|默认|必须|务必|禁止|不允许|不得|不要(?:用|改|动|提交|推|加|"
    r"删|直接)|别(?:用|改|动|提交|推|加|删|再)|"
    r"(?:请|要|改|应该|都|只|我们)(?:用|使用)|我(?:们)?(?:习惯|喜欢|更喜欢|偏好|不喜欢|讨厌|希望|想要)|"
    r"优先(?:用|使用)?|规范(?:是|要求)|约定"
)
#: Strong rule: something must or must not be.
RULE = re.compile(
    r"(?i)\b(?:always|never|must|not allowed|do not|don't|has to|have to|only)\b|必须|务必|禁止|不允许|不得|"
    r"不要|别|一律|永远|只能"
)
#: Words that tie a sentence to the piece of work at hand.
ONE_OFF = re.compile(
    r"(?i)\b(?:this (?:file|function|line|test|pr|branch|commit|one|time|page|error|bug|issue|change|output)|"
    r"that (?:file|function|line|one|button|test)|line \d+|lines \d+|the (?:first|second|third|"
    r"last|next|other) (?:one|link|button|row|item|file)|now\b(?! on)|today|here|above|below|again|try|yet|"
    r"for now|#\d+|issue \d+|pr \d+|it (?:should|must) (?:be|print|return|show)|continue|go ahead)\b|#\d+|"
    r"这(?:个|次|里|一?行|条|段|份)|那(?:个|次|里|一?行|条)|第\d+行|上面|下面|刚才|现在(?!起)|今天|继续|再试|先"
)
QUESTION = re.compile(
    r"[?？]\s*$|^(?i:can|could|would|will|do|does|is|are|what|why|how|where|when|which|"
    r"who)\b(?![^\n]*\b(?i:always|never|instead)\b)|(?:吗|呢|么)[。？?]?$"
)
#: Where a message's courtesy ends and its statement begins.
PREAMBLE = re.compile(
    r"(?i)^(?:\s*(?:no|nope|wrong|stop|hey|hi|ok(?:ay)?|well|sorry|please|thanks|thank you|actually|again|hm+|"
    r"look|remember(?: that)?|btw|by the way|also|and|but|so|i (?:already )?told you(?: (?:to|that))?|"
    r"i said(?: (?:to|that))?|as i said|that(?:'s| is) (?:wrong|not right|not what i (?:asked|wanted|"
    r"meant)(?: for)?))\s*(?:[,.!:;—–-]+\s*|\s+(?=[a-z])))+|"
    r"^(?:\s*(?:不对|不是(?:这样|的)?|错了|不行|好的?|嗯|对了|另外|还有|麻烦|请|拜托|我(?:说过|"
    r"告诉过你)(?:了)?)\s*[，,。.！!：:；;]*\s*)+"
)
THANKS = re.compile(
    r"(?i)\b(?:thanks|thank you|thx|perfect|great|awesome|excellent|nice(?: work)?|looks good|lgtm|works(?: "
    r"now| fine| great| perfectly)?|that'?s (?:it|right|correct)|well done|good job|exactly)\b|"
    r"谢谢|感谢|太好了|很好|不错|完美|搞定|可以了|没问题了|好使|成功了|辛苦"
)
COMPLAINT = re.compile(
    r"(?i)\b(?:still (?:broken|fail\w*|not|doesn't|does not|wrong|the same|crash\w*|see)|doesn'?t work|does "
    r"not work|not working|didn'?t work|did not work|you broke|broke(?:n)?\b|wrong|useless|"
    r"not what i|give up|forget it|never mind|nevermind|worse)\b|还是(?:不行|报错|失败|不对|一样|没)|不(?:行|"
    r"对|工作|能用)|没(?:用|"
    r"解决|修好|成功)|坏了|算了|又(?:报错|失败|坏)"
)
#: The agent chooses between ways.
CHOICE = re.compile(
    r"(?i)\b(?:instead of|rather than|in favou?r of|opt(?:ed|ing)? for|decid(?:e|ed|ing) (?:to|on|for|"
    r"against)|chos(?:e|en)|choos(?:e|ing)|settle[ds]? on|going with|go with|"
    r"switch(?:ed|ing)? (?:to|from)|prefer(?:red)? .{1,60} (?:over|to)|trade-?off|alternativ\w+|option [A-C1-3]\b)\b|"
    r"选(?:择|用|了|定)?|决定|改用|换成|而不是|方案|采用|权衡|取舍|弃用"
)
STRONG_CHOICE = re.compile(
    r"(?i)\b(?:decided (?:to|on|for|against)|chose|opted for|settled on|going with|switch(?:ed|ing)? (?:to|"
    r"from))\b|决定|选择了?|选用|改用|采用"
)
#: The agent says why.
CAUSE = re.compile(
    r"(?i)\b(?:because|the (?:root )?cause (?:is|was)|root cause|turns out|turned out|caused by|due to|"
    r"meaning (?:that|there)|"
    r"the (?:problem|issue|reason) (?:is|was)(?: that)?|explains why)\b|因为|由于|原因(?:是|在于)|根本原因|"
    r"问题(?:是|出在|在于)|导致|原来(?:是)?|根因"
)
#: The agent says what it will do next.
PLAN = re.compile(
    r"(?i)\b(?:let(?:'s| us| me)|i(?:'ll| will| am going to| need to| should)|we(?:'ll| will| can now| need "
    r"to| should)|next)\b|"
    r"reproduc|(?:接下来|下一步|我来|让我|先)"
)
GAVE_UP = re.compile(
    r"(?i)\b(?:giv(?:e|ing) up|unable to (?:complete|finish|fix|solve|proceed|reproduce)|could ?n[o']t "
    r"(?:complete|finish|fix|solve|be fixed)|cannot (?:complete|proceed|continue)|abandon(?:ed|ing)?|blocked "
    r"(?:by|on)|"
    r"not possible (?:to|without)|transfer(?:red)? to (?:a )?human)\b|放弃|无法(?:完成|继续|解决|修复)|做不到|"
    r"卡住|转人工"
)
ACHIEVED = re.compile(
    r"(?i)\b(?:all (?:tests|checks) pass(?:ed|ing)?|task (?:is )?(?:complete|completed|done|finished)|"
    r"successfully (?:completed|fixed|deployed|solved|merged|implemented)|(?:issue|bug|problem) (?:is |has "
    r"been )?"
    r"(?:fixed|resolved|solved))\b|(?:任务|问题|需求)?(?:已(?:经)?)?(?:完成|解决|修复|上线)(?:了)?[。！!]?$|全部通过"
)
