"""Raw text -> who says which sentence, without code, quotes, recalled memories and text to be worked on."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from afterwit.text import sentences
from afterwit.vocabulary import strip_injected

_LABEL = re.compile(
    r"^[ \t]*(?:\*\*|#+ |\[|<)?"
    r"(?:(?P<user>user|human|me|用户|人类|我|提问者)"
    r"|(?P<assistant>assistant|ai|bot|agent|claude|chatgpt|gpt|助手|助理|机器人|智能体)"
    r"|(?P<other>system|tool|function|系统|工具))"
    r"(?:\*\*|\]|>)?[ \t]*(?:\([^)\n]*\)|（[^）\n]*）)?[ \t]*[:：](?:\*\*)?[ \t]*",
    re.IGNORECASE | re.MULTILINE,
)
_CODE = re.compile(r"^[ \t]*(```|~~~).*?(?:^[ \t]*\1[ \t]*$|\Z)", re.DOTALL | re.MULTILINE)
_QUOTED_LINE = re.compile(r"^[ \t]*>.*$", re.MULTILINE)
_CODE_LINE = re.compile(
    r"^(?: {4,}|\t)\S.*$|^[ \t]*(?:\$ |def |class |import |from \S+ import |#include|//).*$", re.MULTILINE
)
_BULLET = re.compile(r"^[ \t]*(?:[-*•·]|\d{1,2}[.)、])[ \t]+(?=\S)")
_WORK_ON = re.compile(
    r"(?:please |can you |could you |help me )?(?:translate|rewrite|rephrase|proofread|paraphrase|polish|"
    r"summari[sz]e|"
    r"role ?play|pretend|write (?:a|an|the) (?:story|poem|song|email|letter|dialogue))\b.*"
    r"|(?:请|帮我|麻烦|帮忙)*(?:翻译|润色|改写|校对|总结|扮演|假装|写一?[个篇首段封](?:故事|小说|诗|歌|"
    r"邮件|信|对话)).*",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Sentence:
    """One sentence and who said it."""

    #: byte for byte as in the text, without the white space and list mark around it
    text: str
    #: "user" or "assistant"
    speaker: str


def spoken(text: str) -> Iterator[Sentence]:
    """The sentences that people said in a text, in order.

    Role labels ("User:", 助手：) change the speaker; text before any label is the user's. Speech of systems and
    tools, fenced or indented code, quoted lines and recalled memories are left out, and so is what follows a
    request to translate, rewrite or play a role, up to the end of that turn.
    """
    own = _CODE_LINE.sub("", _QUOTED_LINE.sub("", _CODE.sub("", strip_injected(text))))
    for speaker, turn in _turns(own):
        if speaker == "other":
            continue
        for line in turn.splitlines():
            parts = [_BULLET.sub("", part) for part in sentences(line)]
            work = next((index for index, part in enumerate(parts) if _WORK_ON.match(part)), None)
            for part in parts[:work]:
                yield Sentence(part, speaker)
            if work is not None:
                break


def _turns(text: str) -> Iterator[tuple[str, str]]:
    labels = list(_LABEL.finditer(text))
    if not labels:
        yield "user", text
        return
    if head := text[: labels[0].start()].strip():
        yield "user", head
    for label, following in zip(labels, [*labels[1:], None], strict=True):
        yield str(label.lastgroup), text[label.end() : following.start() if following else len(text)]
