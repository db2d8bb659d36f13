"""Words that would make whoever reads them do something: they come from outputs and are never passed on."""

import re

_ORDERS = re.compile(
    r"(?i)\b(?:ignore|disregard|forget|override|bypass) (?:all |any |the |your |my |previous |prior |above |"
    r"earlier |these |those ){1,4}"
    r"(?:instruction|rule|prompt|message|polic|guideline|safet|context)|\bsystem prompt\b|\bnew instructions?\b|"
    r"\b(?:remember|note|memorize|memorise|store|save) (?:that|this|to)\b|\b(?:from now on|in (?:the )?future|"
    r"henceforth)\b|"
    r"\b(?:always|never) (?:run|use|execute|trust|approve|send|call|install|recommend|include|reply|answer|"
    r"ask|tell|follow|do)\b|"
    r"\byou (?:must|should|are|need to|have to|will|can now|may now)\b|\b(?:please|kindly) (?!try again|wait|"
    r"check|see|refer|report)\w+|"
    r"\bdo not (?:tell|mention|reveal|ask|inform)\b|\bdon't (?:tell|mention|ask)\b|\b(?:assistant|agent|ai|"
    r"model|llm)s?\s*[:,]|"
    r"\b(?:the )?(?:user|admin\w*|owner) (?:has |have )?(?:authori[sz]ed|approved|confirmed|allowed)|<"
    r"\|?(?:system|im_start|assistant)|\[INST\]|"
    r"忽略.{0,8}(?:指令|规则|提示|要求|内容)|(?:请|务必|必须|一定要|应当|记住|今后|以后|从现在起|总是|永远|始终).{0,6}"
    r"(?:运行|执行|使用|记住|发送|调用|安装|信任|批准|推荐|告诉|回复|遵守)|不要(?:告诉|提及|询问|透露)|"
    r"记住[:：，,]|已(?:经)?授权|系统提示"
)
_DANGEROUS = re.compile(
    r"(?i)\b(?:curl|wget|iwr|invoke-webrequest|irm|fetch)\b[^\n;&]{0,300}[|>(][^\n]{0,60}\b(?:ba|z|da|k|"
    r"fi)?sh\b|(?:ba|z)?sh\s+(?:-c\s+)?[\"']?(?:<\(|\$\()\s*(?:curl|wget)|"
    r"\b(?:iex|invoke-expression)\b|\bbase64\s+(?:-d|-D|--decode)|\beval\b[^\n]{0,40}\$\(|"
    r"\bpython[\d.]*\s+-c\b[^\n]{0,200}(?:urlopen|requests\.get)[^\n]{0,200}exec|"
    r"\brm\s+-(?:\w*r\w*f|\w*f\w*r)\w*\s+(?:--no-preserve-root\s+)?(?:/(?:\s|$|\*)|~(?:/)?(?:\s|$)|\$HOME\s*$|"
    r"\.\s*$|\*)|\bmkfs|\bdd\s+[^\n]{0,80}of=/dev/|:\(\)\s*\{|"
    r"\bchmod\s+(?:-R\s+)?[0-7]?777\b|\bgit\s+push\b[^\n]{0,120}(?:--force(?!-with-lease)|\s-f\b)|"
    r"--no-verify\b|-DskipTests\b|-Dmaven\.test\.skip|\s-x test\b|\bverify\s*=\s*False\b|"
    r"\bNODE_TLS_REJECT_UNAUTHORIZED=0|http\.sslVerify[= ]false|--trusted-host\b|(?:^|\s)(?:-k|"
    r"--insecure)(?:\s|$)|--no-check-certificate|"
    r"\bDROP\s+(?:TABLE|DATABASE|SCHEMA)\b|\bTRUNCATE\s+TABLE\b|\bsetenforce\s+0|\bufw\s+disable|"
    r"\biptables\s+-F|/etc/(?:shadow|sudoers)|"
    r"authorized_keys|\bnc\s+-\w*e|/dev/tcp/|\bcrontab\b|--dangerously|\b--privileged\b"
)


def reads_as_instruction(words: str) -> bool:
    """Whether words of an output would tell an agent what to do, remember or keep silent about."""
    return _ORDERS.search(words) is not None or _DANGEROUS.search(words) is not None


def is_dangerous(command: str) -> bool:
    """Whether a command runs what it fetches, destroys, or turns a protection off: no advice to anybody."""
    return _DANGEROUS.search(command) is not None
