"""What faults look like in the output of tools: one table for programs, one for the system below them."""

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Fault:
    """One way in which a tool says what is wrong."""

    #: whose fault it is: "python", "git", "http"; two tools that report the same fault share it
    tool: str
    #: its class in words; braces are filled in from the pattern's groups
    error: str
    #: group `what` holds the words that tell one such fault from another
    pattern: re.Pattern[str]
    #: take the last match: the end of a traceback is its cause
    last: bool = False


def _table(rows: str, *, ignore_case: bool = False) -> tuple[Fault, ...]:
    """Rows of "tool | class | pattern"; a class that begins with "<" asks for the last match."""
    faults: list[Fault] = []
    for row in rows.strip().splitlines():
        tool, error, pattern = (part.strip() for part in row.split(" | ", 2))
        flags = re.MULTILINE | (re.IGNORECASE if ignore_case else re.NOFLAG)
        faults.append(Fault(tool, error.lstrip("<"), re.compile(pattern, flags), error.startswith("<")))
    return tuple(faults)


_QUOTED = "[\"'`“‘「]?"
_END = "[\"'`”’」]?"

#: Faults that name themselves so well that the first one found is it; in the order of precision.
PROGRAMS = _table(rf"""
mcp | MCP error {{code}} | MCP error (?P<code>-\d{{3,5}}):?\s?(?P<what>[^\n]{{0,120}})
edit | text to replace not found | (?:String to replace not found|old_str(?:ing)? (?:was )?not found|No replacement was performed|search string not found|did not appear verbatim|Could not find the (?:text|string) to replace)
edit | text to replace not unique | (?:Found \d+ matches of the string to replace|old_str(?:ing)? (?:is )?not unique|Multiple occurrences of old_str)
edit | file not read before the edit | (?:File has not been read yet|must read the file before|[Rr]ead it first before writing)
edit | file changed since it was read | (?:File has been (?:unexpectedly )?modified since)
mcp | argument missing | (?:Input validation error:|[Ii]nvalid (?:arguments|params|parameters)[^\n]{{0,40}}:)\s*(?P<what>[^\n]{{0,100}}(?:is a required property|is required|Required|missing)[^\n]{{0,40}})
mcp | invalid arguments | (?:Input validation error|InputValidationError)[^\n]{{0,20}}:\s*(?P<what>[^\n]{{1,120}})
mcp | unknown tool | (?:Unknown tool|Tool not found|No such tool(?: available)?):?\s*{_QUOTED}(?P<what>[\w./-]+)
browser | browser not installed | Executable doesn't exist at|Please run the following command to download new browsers|Chrom(?:e|ium) (?:is )?not found at
browser | several elements match | strict mode violation: (?P<what>[^\n]{{1,120}}?)(?= resolved to|$)
browser | element covered | (?:intercepts pointer events|ElementClickInterceptedException|element click intercepted)
browser | element gone | (?:stale element reference|[Ee]lement is not attached|Ref \w+ not found in the current page snapshot|detached from (?:the )?(?:DOM|document))
browser | element not found | (?:NoSuchElementException|no such element)[^\n]{{0,80}}?(?P<what>"selector":"[^"\n]{{1,80}}")?
browser | page closed | (?:Target (?:page, context or browser has been )?closed|browser has been closed|invalid session id|Session closed)
browser | {{code}} | (?P<code>net::ERR_[A-Z_]+)(?: at (?P<what>\S+))?
browser | timed out on an element | Timeout \d+ ?ms exceeded[\s\S]{{0,300}}?waiting for (?P<what>(?:locator|selector|getBy\w+|get_by_\w+|element)?[^\n]{{1,100}})
browser | timed out | (?:[Pp]age|[Ll]ocator|[Ff]rame|[Ee]xpect)[.(][^\n]{{0,60}}?Timeout \d+ ?ms exceeded
docker | daemon not reachable | Cannot connect to the Docker daemon|docker daemon is not running|error during connect
docker | no permission on the docker socket | permission denied while trying to connect to the (?:Docker|docker)
docker | image not found | (?:pull access denied for|manifest for|[Uu]nable to find image|repository does not exist[^\n]{{0,20}}) {_QUOTED}(?P<what>[\w./-]+)[^\n]*
docker | image not found | manifest unknown
docker | pull limit reached | toomanyrequests
docker | port in use | (?:port is already allocated|[Pp]orts are not available)
docker | container name in use | The container name {_QUOTED}/?(?P<what>[\w.-]+)[^\n]{{0,10}} is already in use
docker | no such container | No such container: (?P<what>[\w.-]+)
docker | service not running | service "(?P<what>[\w.-]+)" is not running
docker | no compose file | no configuration file provided
docker | env file not found | env file (?P<what>\S+) not found
docker | container unhealthy | dependency failed to start: container (?P<what>[\w.-]+) (?:is unhealthy|exited)[^\n]*
docker | file not in the build context | (?:COPY failed|failed to (?:compute cache key|calculate checksum))[^\n]{{0,120}}?{_QUOTED}(?P<what>/?[\w./-]+){_END}:? (?:not found|no such file)
docker | network missing | network (?P<what>[\w.-]+) declared as external, but could not be found
kubernetes | {{code}} | \b(?P<code>ImagePullBackOff|ErrImagePull|CrashLoopBackOff|OOMKilled|CreateContainerConfigError)\b
kubernetes | {{code}} | Error from server \((?P<code>\w+)\):? ?(?P<what>[^\n]{{0,100}})
kubernetes | server refused | The connection to the server \S+ was refused
git | not a repository | fatal: not a git repository|不是(?:一个)? ?git 仓库
git | pathspec unknown | pathspec {_QUOTED}(?P<what>[^'"\n]{{1,60}}?){_END} did not match|路径规格 {_QUOTED}(?P<what2>[^'"’\n]{{1,60}}?){_END} 未匹配
git | push rejected: remote is ahead | \((?:non-fast-forward|fetch first)\)|Updates were rejected because|推送[^\n]{{0,20}}被拒绝
git | push rejected: protected branch | (?:protected branch|GH006)
git | merge conflict | CONFLICT \((?P<what>[\w/ -]+)\)|Automatic merge failed|自动合并失败
git | no upstream branch | has no upstream branch|没有对应的上游分支
git | key refused | Permission denied \(publickey
git | authentication failed | (?:Authentication failed for|could not read Username|Support for password authentication was removed)
git | repository not found | (?:remote: Repository not found|repository '[^'\n]*' not found)
git | unrelated histories | refusing to merge unrelated histories
git | local changes would be overwritten | (?:Your local changes|untracked working tree files)[^\n]{{0,60}}would be overwritten
git | dubious ownership | detected dubious ownership
git | index locked | index\.lock'?: File exists
git | identity unknown | Please tell me who you are|empty ident name
git | ref unknown | src refspec (?P<what>\S+) does not match|unknown revision or path|bad revision '(?P<what2>[^'\n]*)'|couldn't find remote ref (?P<what3>\S+)
git | rebase with changes | cannot (?:pull with )?rebase: You have unstaged changes
git | commit hook failed | (?:pre-commit|husky|commit-msg)[^\n]{{0,60}}(?:hook id|failed|exited with)[^\n]*
ssh | host key verification failed | Host key verification failed|REMOTE HOST IDENTIFICATION HAS CHANGED
pip | no matching distribution | No matching distribution found for (?P<what>[\w.\[\]-]+)
pip | externally managed environment | externally-managed-environment
pip | conflicting dependencies | ResolutionImpossible|have conflicting dependencies|pip's dependency resolver does not
pip | wheel not built | (?:Failed building wheel for|Failed to build) (?P<what>[\w.-]+)
pip | wrong Python version | requires a different Python|Requires-Python
uv | no solution for dependencies | No solution found when resolving dependencies[\s\S]{{0,120}}?Because (?P<what>[\w.\[\]-]+)|version solving failed
conda | package not found | (?:PackagesNotFoundError|ResolvePackageNotFound)[\s\S]{{0,120}}?- (?P<what>[\w.-]+)
npm | script missing | (?:[Mm]issing script:?|ERR_PNPM_NO_SCRIPT[^\n]{{0,20}}script:?) {_QUOTED}(?P<what>[\w:.-]+)|error Command "(?P<what2>[\w:.-]+)" not found
npm | {{code}} | npm (?:ERR!|error) (?:code )?(?P<code>E(?:RESOLVE|404|401|403|INTEGRITY|BADENGINE|NOTEMPTY|USAGE|LIFECYCLE|JSONPARSE|NOLOCK|TARGET))(?:[\s\S]{{0,200}}?'(?P<what>@?[\w./-]+)@[^'\n]{{0,40}}' is not in)?
npm | {{code}} | (?P<code>ERR_PNPM_[A-Z_]+)
npm | package not found | Couldn't find package "(?P<what>[^"\n]+)"
node | module not found | Cannot find (?:module|package) '(?P<what>[^'\n]+)'|Can't resolve '(?P<what2>[^'\n]+)'|Failed to resolve import "(?P<what3>[^"\n]+)"
node | ES module loaded with require | ERR_REQUIRE_ESM|require\(\) of ES Module|Cannot use import statement outside a module
node | out of heap | JavaScript heap out of memory
typescript | TS{{code}} | error TS(?P<code>\d{{3,5}}): (?P<what>[^\n]{{1,120}})
eslint | {{code}} | ^[ \t]{{0,40}}\d+:\d+\s+error\s+[^\n]{{1,200}}?\s{{2,}}(?P<code>[@\w/-]+)\s*$
python | module not found | (?:ModuleNotFoundError: |^[^\n]{{0,100}}python[\d.]*: |ImportError: )No module named {_QUOTED}(?P<what>[\w.]+)
python | cannot import name | ImportError: cannot import name {_QUOTED}(?P<what>\w+)
pytest | fixture not found | fixture '(?P<what>\w+)' not found
pytest | no tests ran | (?:no tests ran|collected 0 items)
mypy | {{code}} | ^\S+:\d+(?::\d+)?: error: (?P<what>[^\n]{{1,160}}?)\s*\[(?P<code>[a-z-]+)\]$
lint | {{code}} | ^(?:\S+:\d+:\d+:|-) (?P<code>[A-Z]{{1,4}}\d{{3,4}}) (?:\[\*\] )?(?P<what>[^\n]{{1,120}})
rust | {{code}} | error\[(?P<code>E\d{{4}})\]: (?P<what>[^\n]{{1,120}})
rust | panic | panicked at (?:'(?P<what>[^'\n]{{1,120}})'|[^\n]{{1,120}}:\n(?P<what2>[^\n]{{1,120}}))
cargo | no such package | (?:no matching package(?: named)?|could not find) `(?P<what>[\w-]+)`[^\n]{{0,40}}(?:found|registry|crate)|failed to select a version for `(?P<what2>[\w-]+)`
cargo | linker not found | linker `(?P<what>\w+)` not found
go | module not required | (?:no required module provides package|cannot find package) "?(?P<what>[\w./-]+)
go | go.sum entry missing | missing go\.sum entry
go | no go.mod | go(?:\.mod file not found|: cannot find main module)
go | undefined | \.go:\d+:\d+: undefined: (?P<what>[\w.]+)
go | not used | (?:imported and not used|declared and not used):? "?(?P<what>[\w./]+)
go | panic | ^panic: (?P<what>[^\n]{{1,120}})
java | cannot find symbol | error: cannot find symbol(?:[\s\S]{{0,200}}?symbol:\s+(?P<what>\w+ \w+))?
java | package does not exist | error: package (?P<what>[\w.]+) does not exist
java | class file version | UnsupportedClassVersionError|Unsupported class file major version|invalid (?:target|source) release
java | JAVA_HOME not set | JAVA_HOME (?:is not set|environment variable is not defined|is set to an invalid)
java | dependencies not resolved | (?:Could not resolve dependencies for|Could not find artifact|Could not resolve|Could not find) (?:project )?(?P<what>[\w.-]+:[\w.-]+)
java | <{{code}} | ^(?:Caused by: |Exception in thread "[^"\n]*" )(?P<code>[\w.$]+(?:Exception|Error))(?:: (?P<what>[^\n]{{1,120}}))?
dotnet | {{code}} | error (?P<code>(?:CS|MSB|NU|NETSDK)\d{{4}}): (?P<what>[^\n]{{1,120}})
c | header not found | fatal error: (?P<what>[\w./+-]+): (?:No such file or directory|没有那个文件或目录)
c | undefined reference | undefined reference to {_QUOTED}(?P<what>[\w:~]+)
make | no rule for target | No rule to make target {_QUOTED}(?P<what>[^'"`’\n]{{1,60}}?){_END}(?:[.,\s]|$)|没有规则可制作目标{_QUOTED}(?P<what2>[^'"`”’\n]{{1,60}})
cmake | package not found | Could (?:NOT|not) find (?:a package configuration file provided by )?"?(?P<what>\w+)
ruby | gem not found | (?:Could not find gem|cannot load such file --) '?(?P<what>[\w./-]+)
php | class not found | Class ["'](?P<what>[\w\\]+)["'] not found
sql | no such {{code}} | no such (?P<code>table|column|function|index|view): (?P<what>[\w.]+)
sql | no such {{code}} | (?P<code>relation|column|database|role|schema|function|type) "?(?P<what>[\w.]+)"?(?: of relation "?\w+"?)? does not exist
sql | no such table | Table '(?:[\w-]+\.)?(?P<what>\w+)' doesn't exist
sql | no such column | Unknown column '(?P<what>[\w.]+)'
sql | duplicate value | (?:UNIQUE constraint failed: |duplicate key value violates unique constraint ")(?P<what>[\w.]+)|Duplicate entry '[^'\n]*' for key '(?P<what2>[\w.]+)'
sql | missing value | (?:NOT NULL constraint failed: |null value in column ")(?P<what>[\w.]+)
sql | foreign key | (?:FOREIGN KEY constraint failed|violates foreign key constraint "(?P<what>\w+)"|a foreign key constraint fails)
sql | syntax error | syntax error at or near "(?P<what>[^"\n]{{1,40}})"|near "(?P<what2>[^"\n]{{1,40}})": syntax error|You have an error in your SQL syntax
sql | database locked | database (?:table )?is locked
sql | deadlock | [Dd]eadlock (?:detected|found)
sql | no entry in pg_hba.conf | (?:no pg_hba\.conf entry|没有用于主机[^\n]{{0,120}}pg_hba\.conf)
sql | login refused | (?:password authentication failed for user|Access denied for user)
sql | server not reachable | Can't connect to (?:local )?MySQL server|could not connect to server|connection to server at
sql | permission denied | permission denied for (?P<what>(?:table|schema|database|relation|view|sequence) \w+)
sql | {{code}} | SQLSTATE\[?(?P<code>[0-9A-Z]{{5}})|\((?P<code2>ORA-\d{{5}})\)|\b(?P<code3>ORA-\d{{5}}):
login | not logged in | (?:gh auth login|[Nn]ot logged in|[Yy]ou (?:must|need to) (?:be logged|log) in|[Pp]lease (?:run|use) [^\n]{{0,40}}\blogin\b|未登录|请先登录)
aws | {{code}} | An error occurred \((?P<code>\w+)\) when calling the (?P<what>\w+) operation
aws | no credentials | Unable to locate credentials|The security token included in the request is (?:expired|invalid)
apt | package not found | (?:Unable to locate package|无法定位软件包) (?P<what>[\w.+-]+)
apt | lock held | Could not get lock
systemd | unit not found | Unit (?P<what>[\w@.-]+) (?:could not be found|not found)
""")

#: The shell does not know a command, in the words of many shells.
COMMANDS = _table(rf"""
shell | command not found | (?:command not found|未找到命令|找不到命令)[:：]\s*{_QUOTED}(?P<what>[\w.+-]{{1,60}})
shell | command not found | (?:^|[\s:])(?:\d+: )?{_QUOTED}(?P<what>[\w.+/-]{{1,60}}?){_END}[:：] ?(?:command not found|not found|未找到命令|找不到命令)
shell | command not found | [“'"](?P<what>[\w.+-]{{1,60}})[”'"] (?:is not recognized as an internal|不是内部或外部命令)|[Tt]he term '(?P<what2>[\w.+-]{{1,60}})' is not recognized|[”'"]不是内部或外部命令
shell | command not found | ["“'](?P<what>[\w.+-]{{1,60}})["”'] ?不是内部或外部命令|未找到[“'"](?P<what2>[\w.+-]+)[”'"]命令
shell | command not found | (?:exec:? "(?P<what>[\w.+-]+)": executable file not found|spawn (?P<what2>[\w.+-]+) ENOENT|env: ['‘]?(?P<what3>[\w.+-]+)['’]?: (?:No such file or directory|没有那个文件或目录)|FileNotFoundError: \[Errno 2\] No such file or directory: '(?P<what4>[\w+-]+)')
""")

#: Faults of the system below the programs; looked for when no program and no exception tells more.
SYSTEM = _table(rf"""
system | address in use | EADDRINUSE|[Aa]ddress already in use|端口[^\n]{{0,12}}(?:已被占用|被占用)|地址已(?:在|被)使用
system | connection refused | ECONNREFUSED|[Cc]onnection refused|连接被拒绝|拒绝连接|积极拒绝|[Ff]ailed to connect to \S+ port|Couldn't connect to server
system | connection reset | ECONNRESET|[Cc]onnection reset|连接被(?:对方|对端)?重[置设]
system | name not resolved | [Cc]ould not resolve host:? ?(?P<what>[\w.-]+)?|ENOTFOUND (?P<what2>[\w.-]+)|Name or service not known|[Tt]emporary failure in name resolution|nodename nor servname|无法解析(?:主机|域名)|未知的名称或服务|域名解析暂时失败
system | certificate not trusted | certificate verify failed|SSL certificate problem|self[- ]signed certificate|CERT_HAS_EXPIRED|x509: certificate|UNABLE_TO_VERIFY_LEAF|证书(?:验证失败|不受信任|已过期)
system | no space left | No space left on device|ENOSPC|设备上没有空间|磁盘空间不足
system | out of memory | [Oo]ut of memory|Cannot allocate memory|CUDA out of memory|内存不足|无法分配内存
system | too many open files | Too many open files|EMFILE
system | read-only file system | Read-only file system|EROFS|只读文件系统
system | segmentation fault | [Ss]egmentation fault|段错误|core dumped
system | permission denied | Permission denied|EACCES|权限不够|权限不足|拒绝访问|Access is denied|Operation not permitted|EPERM|不允许的操作|must be (?:run as )?root|is not in the sudoers|sudo: a (?:terminal|password) is required
system | not a directory | Not a directory|不是(?:一个)?目录
system | is a directory | Is a directory|是一个目录
system | file exists | File exists|文件已存在
system | no such file | (?:No such file or directory|没有那个文件或目录|ENOENT(?:: no such file or directory)?|cannot find the (?:path|file)(?: specified)?|系统找不到指定的(?:文件|路径)|[Ff]ile (?:does not exist|not found)|文件不存在|Could not (?:open|read) (?P<what3>\S+)|FileNotFoundError)
shell | syntax error | syntax error near unexpected token|unexpected EOF while looking for matching|未预期的(?:符号|文件结尾)
shell | unbound variable | (?P<what>\w+): unbound variable
shell | unknown option | (?:(?:invalid|unknown|unrecogni[sz]ed) (?:option|flag|argument|arguments)s?|无效的?选项|未识别的选项|未知选项|No such option|unexpected argument|unknown shorthand flag)[^\n]{{0,12}}?[:：]?\s*(?:-- )?{_QUOTED}(?P<what>-{{0,2}}[\w-]{{1,40}})
system | timed out | EXECUTION TIMED OUT|(?:handshake|i/o) timeout|[Tt]imed out|ETIMEDOUT|TimeoutError|[Tt]imeout (?:of \d+ ?\w* )?exceeded|deadline exceeded|超时|command timed out
system | killed | ^(?:[^\n:]{{0,80}}: )?(?:Killed|已杀死|已终止)\s*$
""")

#: A test failed; looked for after `PROGRAMS`, for what made it fail tells more.
TESTS = _table(r"""
pytest | {code} in a test | ^(?:FAILED|ERROR) [^\s:]+(?:::\w+)?::(?P<what>\w+)(?:\[[^\n]*?\])?(?: - (?:\w+\.)*(?P<code>\w+))?
unittest | test failed | ^(?:FAIL|ERROR): (?P<what>test\w+) \(
jest | test failed | ^[ \t]{0,40}● (?P<what>[^\n]{1,120})
jest | test failed | ^[ \t]{0,40}(?:FAIL|×|✕|❯)\s+\S+\.(?:test|spec)\.\w+ > (?P<what>[^\n]{1,120})
go | test failed | ^[ \t]{0,40}--- FAIL: (?P<what>\w+)
cargo | test failed | ^test (?P<what>[\w:]+) \.\.\. FAILED
""")

#: A program only ran what failed; looked for last.
AROUND = _table(r"""
docker | build step failed | failed to solve: (?P<what>[^\n]{1,120})
maven | goal failed | Failed to execute goal (?P<what>[\w.-]+:[\w.-]+)
make | target failed | make(?:\[\d+\])?: \*\*\* \[[^\n]{0,120}\] (?:Error|错误) \d+
""")

#: HTTP status, wherever a client, server or library puts it.
HTTP_STATUS = re.compile(
    r"HTTP/\d(?:\.\d)?\"? (?P<a>[45]\d\d)\b|(?i:status(?:[ _]?code)?)[\"']?\s{0,2}(?:[:=]|of|is|was)?\s{0,2}(?P<b>[45]\d\d)\b|"
    r"\bHTTP(?: error| status| response)?:? (?P<c>[45]\d\d)\b|\b(?P<d>[45]\d\d) (?:Client|Server) Error\b|"
    r"returned error: (?P<e>[45]\d\d)\b|\b(?:API )?[Ee]rror:? (?P<f>[45]\d\d)\b|^(?P<g>[45]\d\d) (?:Unauthorized|Forbidden|"
    r"Not Found|Bad Request|Too Many Requests|Conflict|Gone|Internal Server Error|Bad Gateway|Service Unavailable|"
    r"Gateway Time-?out|Unprocessable (?:Entity|Content)|Method Not Allowed)\b|\(HTTP (?P<h>[45]\d\d)\)|"
    r"(?:状态码|响应码)\s{0,2}(?:为|是|[:：])?\s{0,2}(?P<i>[45]\d\d)",
    re.MULTILINE,
)
#: A class of error that names itself at a line's beginning, as in Python, JavaScript, Java and Ruby.
EXCEPTION = re.compile(
    r"^(?:E\s{1,8}|Uncaught |Unhandled \w+ |\[error\] )?(?P<code>(?:[A-Za-z_]\w*\.){0,8}[A-Z]\w{0,60}(?:Error|Exception|Exit|Interrupt|Panic|Fault|"
    r"DoesNotExist|NotFound))(?: \[\w+\])?(?:: (?P<what>[^\n]{0,200}))?$",
    re.MULTILINE,
)
#: A line that calls itself an error.
ERROR_LINE = re.compile(
    r"^(?:[\w./@:()-]{1,60}:? )?(?:\[?(?:fatal|FATAL|[Ee]rror|ERROR|ERR!|panic|CRITICAL|SEVERE|E)\]?(?:\[\w+\])?[:：!]\s{0,4}|"
    r"(?:\[(?:ERROR|FATAL|error)\]|ERROR|npm ERR!)\s{1,4}|错误[:：]\s{0,2}|失败[:：]\s{0,2}|异常[:：]\s{0,2}|致命错误[:：]\s{0,2}|fatal: )"
    r"(?P<what>[^\n]{1,300})$",
    re.MULTILINE,
)
