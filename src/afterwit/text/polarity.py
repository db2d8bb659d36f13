"""Does a statement deny something? Rules for English and Chinese."""

import re

from afterwit.text.tokens import plain

_NOT_EN = re.compile(
    r"n['’]t\b|\b(?:dont|doesnt|didnt|isnt|arent|wasnt|wont|cant|cannot|not|never|no|nor|neither|none|nobody|nothing|"
    r"nowhere|without|avoids?|avoided|avoiding|forbid|forbids|forbidden|prohibit|prohibits|prohibited|disallow|"
    r"disallows|disallowed|refuses?|refused|(?:stop|stops|stopped|quit|quits) (?=\w+ing\b))\b",
    re.IGNORECASE,
)
_NOT_REALLY_EN = re.compile(
    r"\bnot (?:only|just|merely|simply|bad)\b|\bno (?:problem|doubt|worries|wonder|matter|big deal)\b|\bno\. ?(?=\d)|"
    r"(?:^|(?<=[.!?;])\s*)no\s*[,.!;]|\bnever mind\b|\bwhy not\b|\b(?:if|or|whether or) not\b|\bnothing but\b|"
    r"\b(?:can(?:no|['’])t|can not|could(?:n['’]t| not)) (?:wait|help but)\b|\bcan(?:not|['’]t) live without\b|"
    r"\b(?:is|are|does|do|did|was|were|has|have|can|would|could|should|wo|ca)n['’]t (?:it|he|she|they|you|we|i)\s*\?",
    re.IGNORECASE,
)
_NOT_REALLY_ZH = re.compile(
    r"([\u4e00-\u9fff])[不没]\1|有没有|差不多|[不没]得不|不[得能会可]不|无不|没有不|好不容易|忍不住|情不自禁|了不起|对不起|"
    r"不(?:错|仅|但|光|止|只是|论|管|过(?!敏|问|滤|载|期)|同|断|久|少|妨|免|料|愧|惜|由得|禁|客气|好意思|要紧|然|时|锈|丹|动产|"
    r"知不觉|约而同|言而喻|可思议|粘锅|等式|等于号|倒翁|二法门|离不弃)|要不|(?:^|(?<=[。！!]))不(?:是)?[，,]|"
    r"没(?:关系|问题|事|错|收|落|准|想到)|[沉淹埋覆出]没|神出鬼没|"
    r"特别|分别|区别|级别|类别|性别|识别|辨别|鉴别|告别|离别|个别|各别|差别|派别|判别|甄别|国别|组别|有别|"
    r"别(?:人|的|名|墅|处|扭|致|称|样|国|家|克)|未(?:来|婚|免|知|名|央|成年|必不)|莫(?:名|斯科|非|大|过于|扎特|奈)|"
    r"并?非(?:常|洲|凡|得)|是非|若非|无(?:论|线|人机|锡|聊|数|限|疑|形|间|偿)|勿忘我"
)
_NOT_ZH = re.compile(
    r"不|没|别(?=[再让把用去做在给碰动说提加写改删忘叫吃喝买放跑开发部直乱总老太这那])|未|勿|莫|甭|无法|无需|无须|无权|毫无|从无|并非|"
    r"绝非|而非|禁止|严禁|禁用|杜绝|避免|拒绝|切忌|无(?=糖|盐|咖啡因|关|效)"
)


def is_negated(text: str) -> bool:
    """Whether the text denies, forbids or ends something: "never", "no longer", 不, 没有, 别, 禁止.

    Words that only look negative are ignored: "not only", "no problem", 不错, 不仅, 差不多, 特别. A double
    negation such as 不得不 is positive.
    """
    known = plain(text)
    if _NOT_EN.search(_NOT_REALLY_EN.sub(" ", known)):
        return True
    return not known.isascii() and _NOT_ZH.search(_NOT_REALLY_ZH.sub(" ", known)) is not None
