"""How the command line says what went wrong: in its own verbs, and in Chinese where the terminal is.

The library, MCP and HTTP say errors in English, in words of the library. A row here gives one of those sentences in
Chinese, and in English too where the library's words are not those of the command. What has no row stays as it is.
"""

from afterwit.cli.words import language
from afterwit.errors import AfterwitError, Sentence

#: the library's sentence -> (its Chinese, its English where that differs); braces are filled from the error
SAID: dict[str, tuple[str, str]] = {
    # numbers
    "{field} must be a whole number from {low} to {high}, not {value!r}.": (
        "{field} 必须是 {low} 到 {high} 的整数，不能是 {value!r}。",
        "",
    ),
    "{field} must be a number from {low:g} to {high:g}, not {value!r}.": (
        "{field} 必须是 {low:g} 到 {high:g} 的数，不能是 {value!r}。",
        "",
    ),
    "confidence must be a number from 0 to 1, not {value!r}.": (
        "confidence 必须是 0 到 1 的数，不能是 {value!r}。",
        "",
    ),
    "limit must be a whole number from 1 to {most}, not {limit}.": (
        "limit 必须是 1 到 {most} 的整数，不能是 {limit}。",
        "",
    ),
    "limit must be from 1 to 1000, not {limit}.": ("limit 必须是 1 到 1000，不能是 {limit}。", ""),
    "limit must be at least 1, not {limit}.": ("limit 至少为 1，不能是 {limit}。", ""),
    "--limit must be at least 1, not {limit}.": ("--limit 至少为 1，不能是 {limit}。", ""),
    "offset must not be negative, not {offset}.": ("offset 不能是负数：{offset}。", ""),
    "days must be from 1 to 366, not {days}.": ("days 必须是 1 到 366，不能是 {days}。", ""),
    "count must be from 1 to 200, not {count}.": ("数量必须是 1 到 200，不能是 {count}。", ""),
    "window must be from 1 to 200, not {window!r}.": ("window 必须是 1 到 200，不能是 {window!r}。", ""),
    "Give a number in that range, or leave {field} out.": ("请给出范围内的数，或不给 {field}。", ""),
    "Give a number in that range, or leave it out.": ("请给出范围内的数，或不给。", ""),
    "Give a number in that range.": ("请给出范围内的数。", ""),
    "Give 0 for a guess, 1 for what is certain, 0.8 for what is likely.": ("猜测为 0，很可能为 0.8，确定为 1。", ""),
    "Ask for one page, and for the next one with offset.": (
        "请分页列出，用 --offset 看下一页。",
        "Ask for one page, and for the next one with --offset.",
    ),
    "Begin with 0.": ("请从 0 开始。", ""),
    "Leave it out for all sessions.": ("不给则为全部会话。", ""),
    # texts
    "{field} is empty.": ("{field} 是空的。", ""),
    "--{name} is empty.": ("--{name} 是空的。", ""),
    "Pass at least one word.": ("请至少给一个词。", "Give at least one word."),
    "Give a value or leave it out.": ("请给出值，或不给这个选项。", ""),
    "{field} must be text, not {given}.": ("{field} 必须是文本，不能是 {given}。", ""),
    "{field} is not valid Unicode: a lone surrogate at character {start}.": (
        "{field} 不是有效的 Unicode：第 {start} 个字符是单独的代理项。",
        "",
    ),
    "{field} is {size} bytes long; at most {max_bytes} are kept.": ("{field} 有 {size} 字节，最多 {max_bytes}。", ""),
    "Shorten it to the conclusion worth keeping, or split it into several.": ("请只留下值得记的结论，或分成几条。", ""),
    "{field} has the control character U+{code:04X} at character {start}.": (
        "{field} 的第 {start} 个字符是控制字符 U+{code:04X}。",
        "",
    ),
    "Remove it; only tab and line breaks are allowed.": ("请去掉；只允许制表符和换行。", ""),
    "{name} is not valid UTF-8.": ("{name} 不是有效的 UTF-8。", ""),
    "Use a terminal or file encoded in UTF-8.": ("请使用 UTF-8 编码的终端或文件。", ""),
    "{field} is not valid UTF-8: byte 0x{byte:02x} in line {line}.": (
        "{field} 不是有效的 UTF-8：第 {line} 行的字节 0x{byte:02x}。",
        "",
    ),
    "Convert it first, for example with `iconv -f GB18030 -t UTF-8`.": (
        "请先转换，例如用 `iconv -f GB18030 -t UTF-8`。",
        "",
    ),
    "{name} is not JSON: {problem}.": ("{name} 不是 JSON：{problem}。", ""),
    "{field} is not JSON: {problem}.": ("{field} 不是 JSON：{problem}。", ""),
    "{field} must be an object.": ("{field} 必须是 JSON 对象。", ""),
    "For example {example}.": ("例如 {example}。", ""),
    """Quote it for the shell: '{"value": "Shanghai"}'.""": ("""请为 shell 加上引号：'{"value": "Shanghai"}'。""", ""),
    "There is nothing to write.": ("没有要写入的内容。", ""),
    'Give a sentence, "-" to read a text, or --stdin to read lines.': (
        "请给出一句话；用 - 读入全文，用 --stdin 逐行读入。",
        "",
    ),
    "There is nothing to search for.": ("没有要检索的内容。", ""),
    'Give a question, or "-" to read one.': ("请给出问题，或用 - 从标准输入读取。", ""),
    "Both CONTENT and --stdin were given.": ("CONTENT 与 --stdin 不能同时给出。", ""),
    "Both ACTION and --stdin were given.": ("ACTION 与 --stdin 不能同时给出。", ""),
    "Leave one of them out.": ("请去掉其中一个。", ""),
    "Standard input holds no statement.": ("标准输入中没有内容。", ""),
    "Pipe one statement per line.": ("请每行给一句话。", ""),
    # times
    "{field} is not a date: {text!r}.": ("{field} 不是日期：{text!r}。", ""),
    "Write it as 2025-03-01 or 2025-03-01T09:00:00+08:00.": ("请写成 2025-03-01 或 2025-03-01T09:00:00+08:00。", ""),
    "{field} has a time of day but no time zone: {text!r}.": ("{field} 有时刻但没有时区：{text!r}。", ""),
    "Add one, for example +08:00 or Z.": ("请加上时区，例如 +08:00 或 Z。", ""),
    "{field} is out of range: {text!r}.": ("{field} 超出范围：{text!r}。", ""),
    "Use a year from 1 to 9999.": ("年份请用 1 到 9999。", ""),
    "happened_at lies in the future: {happened_at}.": ("happened_at 在将来：{happened_at}。", ""),
    "For something that begins later use valid_from.": (
        "以后才开始成立的，请用 --valid-from。",
        "For something that begins later use --valid-from.",
    ),
    "expires_at is not after valid_from.": ("expires_at 不晚于 valid_from。", ""),
    "until is not after since.": ("until 不晚于 since。", ""),
    "Swap them or leave one out.": ("请交换两者，或去掉一个。", ""),
    "The end of validity is not after its start.": ("有效期的结束不晚于开始。", ""),
    "Give valid_from as well.": ("请同时给出 --valid-from。", "Give --valid-from as well."),
    # words of a fixed list
    "Did you mean {name}? ": ("是否指 {name}？", ""),
    "Unknown kind {word}.": ("没有这种类型：{word}。", ""),
    "{nearest}The kinds are {names}.": ("{nearest}类型有：{names}。", ""),
    "Unknown source {word}.": ("没有这种来源：{word}。", ""),
    "{nearest}The sources are {names}.": ("{nearest}来源有：{names}。", ""),
    "{text} is not a scope.": ("{text} 不是作用范围。", ""),
    "Use global, project:NAME, session:ID or task:ID.": ("请用 global、project:名称、session:编号 或 task:编号。", ""),
    "Unknown purpose {purpose!r}.": ("没有这种用途：{purpose!r}。", ""),
    'Use "answer" or "action".': ("请用 answer 或 action。", ""),
    "Unknown verdict {verdict!r}.": ("没有这种判定：{verdict!r}。", ""),
    "Unknown outcome {word!r}.": ("没有这种结果：{word!r}。", ""),
    'Use "success", "failure" or "abandoned"; say more in summary.': (
        "请用 success、failure 或 abandoned；其余写在 --summary 里。",
        "Use success, failure or abandoned; say more in --summary.",
    ),
    "Unknown category {category!r}.": ("没有这个类别：{category!r}。", ""),
    "Use some of: {names}.": ("可用：{names}。", ""),
    "Use one of: {names}.": ("可用：{names}。", ""),
    "Unknown client {name!r}.": ("没有这个客户端：{name!r}。", ""),
    "The clients are {names}.": ("客户端有：{names}。", ""),
    "Name the client: {names}.": ("请用 --client 指定客户端：{names}。", "Name it with --client: {names}."),
    "There are {count} tags; at most {most} are kept.": ("有 {count} 个标签，最多 {most} 个。", ""),
    "Keep the best ones.": ("请只留最合适的。", ""),
    "The {what} has {count} characters; at most {most} are allowed.": (
        "{what} 有 {count} 个字符，最多 {most} 个。",
        "",
    ),
    "Put the words into the text and give a short {what}.": ("请把内容写进正文，{what} 用简短的词。", ""),
    "The {what} has control characters: {text}.": ("{what} 含有控制字符：{text}。", ""),
    "Remove them.": ("请去掉。", ""),
    # memories
    "There is no memory {memory_id!r} here.": ("这里没有记忆 {memory_id!r}。", ""),
    "Search for it, or list memories to see their ids.": (
        "用 `afterwit search` 或 `afterwit list --all` 查看编号。",
        "`afterwit search` and `afterwit list --all` show ids.",
    ),
    "{memory_id!r} is too short for an id.": ("{memory_id!r} 太短，不是编号。", ""),
    "Give at least {least} characters of it.": ("请至少给出编号的 {least} 个字符。", ""),
    "Several memories have an id like {memory_id!r}.": ("有多条记忆的编号符合 {memory_id!r}。", ""),
    "Give the whole id.": ("请给出完整编号。", ""),
    "This memory is {status} and cannot be corrected.": ("这条记忆的状态是 {status}，不能更正。", ""),
    "Correct the one that replaced it, or write a new one.": ("请更正取代它的那一条，或写一条新的。", ""),
    "This memory is {status}.": ("这条记忆的状态是 {status}。", ""),
    'Use verdict="restore" first.': (
        "请先运行 `afterwit update 编号 --restore`。",
        "Run `afterwit update ID --restore` first.",
    ),
    "It was replaced by [m:{id}] “{summary}”, which still holds.": (
        "它已被 [m:{id}]“{summary}”取代，后者仍然有效。",
        "",
    ),
    "Refute or forget that one first, or write anew what holds now.": ("请先否定或遗忘那一条，或重新写入。", ""),
    "Only an intent can be {state}; this memory is a {kind}.": ("只有待办可以标为 {state}；这条记忆是 {kind}。", ""),
    "Forget it, or refute it if it is wrong.": (
        "请用 `afterwit forget 编号` 遗忘；若有误，用 `afterwit update 编号 --refute`。",
        "Use `afterwit forget ID`, or `afterwit update ID --refute` if it is wrong.",
    ),
    "Several verdicts were given.": ("给出了多个判定。", ""),
    "Give one of {verdicts}.": ("请只给其中一个：{verdicts}。", ""),
    "--content and --{verdict} do not go together.": ("--content 与 --{verdict} 不能同时给出。", ""),
    "Corrected words need no verdict; drop it.": ("更正内容时不需要判定，请去掉。", ""),
    "Nothing to change was given.": ("没有给出要修改的内容。", ""),
    "Give --content, a verdict ({verdicts}) or a field.": ("请给出 --content、判定（{verdicts}）或某个字段。", ""),
    "Erasing cannot be undone.": ("抹除无法撤销。", ""),
    "Add --yes if that is meant.": ("若确定，请加 --yes。", ""),
    "Cleaning was not confirmed.": ("清理未经确认。", ""),
    "Add --yes to do it without being asked.": ("加 --yes 可不经询问直接执行。", ""),
    # names
    "Nothing is known of {name!r} here.": ("这里没有关于 {name!r} 的记忆。", ""),
    "{alias!r} is no other name of anything here.": ("{alias!r} 不是任何已知事物的别名。", ""),
    "List the entities to see their names.": (
        "用 `afterwit entity list` 查看已有的名称。",
        "`afterwit entity list` shows the names there are.",
    ),
    "{alias!r} is one name.": ("{alias!r} 是同一个名称。", ""),
    "Give two different names.": ("请给出两个不同的名称。", ""),
    "{alias!r} already stands for {name!r}.": ("{alias!r} 已经代表 {name!r}。", ""),
    "Split {alias!r} first, or merge {name!r} with {other!r}.": (
        "请先用 `afterwit entity split` 拆开 {alias!r}，或用 `afterwit entity merge` 合并 {name!r} 与 {other!r}。",
        "Split {alias!r} first (`afterwit entity split`), or merge {name!r} with {other!r} (`afterwit entity merge`).",
    ),
    # tasks
    "There is no task {task_id!r} here.": ("这里没有任务 {task_id!r}。", ""),
    "Start one, or list the tasks.": ("用 `afterwit task list` 查看任务。", "`afterwit task list` shows the tasks."),
    "{task_id!r} is too short for a task's id.": ("{task_id!r} 太短，不是任务编号。", ""),
    "Give at least 8 characters.": ("请至少给出 8 个字符。", ""),
    "Several tasks have an id like {task_id!r}.": ("有多个任务的编号符合 {task_id!r}。", ""),
    "Several tasks are open in this session.": ("有多个进行中的任务。", ""),
    "Name one with task_id.": (
        "请用 --task 指定一个；`afterwit task list` 可查看。",
        "Name one with --task; `afterwit task list` shows them.",
    ),
    "No task is open in this session.": ("没有进行中的任务。", ""),
    "Start one, or name one with task_id.": (
        "用 `afterwit task start` 开始一个，或用 --task 指定。",
        "Start one with `afterwit task start`, or name one with --task.",
    ),
    "This task has ended ({how}).": ("这个任务已经结束（{how}）。", ""),
    "This task has ended already, as {status}.": ("这个任务早已结束，结果为 {status}。", ""),
    "Start a new task.": ("请开始新的任务。", "Start a new one with `afterwit task start`."),
    "What it was judged to be stays; refute or confirm single memories.": (
        "已有的判定不变；可用 `afterwit update 编号` 否定或确认单条记忆。",
        "What it was judged to be stays; refute or confirm single memories with `afterwit update ID`.",
    ),
    "This task still runs.": ("这个任务还在进行。", ""),
    "Finish it first.": ("请先用 `afterwit task finish` 结束它。", "Finish it first with `afterwit task finish`."),
    "Nothing to log.": ("没有要记录的步骤。", ""),
    'Give a step, such as `afterwit task step bash "make test" --ok`, or --stdin.': (
        '请给出一步，例如 `afterwit task step bash "make test" --ok`，或用 --stdin。',
        "",
    ),
    "Line {number} is not JSON: {problem}.": ("第 {number} 行不是 JSON：{problem}。", ""),
    "Line {number} is no JSON object.": ("第 {number} 行不是 JSON 对象。", ""),
    "Nothing was logged.": ("没有记录任何内容。", ""),
    "Nothing says what is to be taken back.": ("没有说明要撤回什么。", ""),
    "Name a task, a session, a writer or a time.": ("请指定任务、会话、写入者或时间。", ""),
    "TASK, --rules, --sample and --lift exclude each other.": ("TASK、--rules、--sample 与 --lift 只能给一个。", ""),
    "Give one of them.": ("请只给其中一个。", ""),
    # files
    "{path} is a directory.": ("{path} 是目录。", ""),
    "{path} is a folder.": ("{path} 是目录。", ""),
    "Name a file in it, such as {file}.": ("请指定其中的文件，例如 {file}。", ""),
    "{path} is a file, not a directory.": ("{path} 是文件，不是目录。", ""),
    "Choose another directory: the option --data-dir, or the setting data_dir or store.": (
        "请换一个目录：选项 --data-dir，或设置 data_dir、store。",
        "",
    ),
    "{file} is already there.": ("{file} 已存在。", ""),
    "{path} is already there.": ("{path} 已存在。", ""),
    "Choose another name, or add --force to replace it.": ("请换个名字，或加 --force 覆盖。", ""),
    "Choose another name, or add --force.": ("请换个名字，或加 --force。", ""),
    "--json would mix with the export.": ("--json 会与导出的内容混在一起。", ""),
    "Give a FILE, or drop --json.": ("请指定文件，或去掉 --json。", ""),
    "Cannot use {path}: {strerror}.": ("无法使用 {path}：{strerror}。", ""),
    "Cannot read {file}: {strerror}.": ("无法读取 {file}：{strerror}。", ""),
    "Cannot read {path}: {strerror}.": ("无法读取 {path}：{strerror}。", ""),
    "Cannot write {path}: {strerror}.": ("无法写入 {path}：{strerror}。", ""),
    "{path} cannot be written: {problem}.": ("无法写入 {path}：{problem}。", ""),
    "Choose a file in a directory that you may write.": ("请选一个你有权写入的目录中的文件。", ""),
    "Check the path and your rights there.": ("请检查路径和权限。", ""),
    "Check the path and your rights.": ("请检查路径和权限。", ""),
    "Check the path and your right to read it.": ("请检查路径和读取权限。", ""),
    "Check the path.": ("请检查路径。", ""),
    "The daemon cannot run here: {problem}.": ("后台进程无法在此运行：{problem}。", ""),
    "Choose another --data-dir, or check your rights there.": ("请换一个 --data-dir，或检查权限。", ""),
    "Free some space.": ("请腾出磁盘空间。", ""),
    "There is no file or folder {path}.": ("没有文件或目录 {path}。", ""),
    "{path} holds more than {most} documents.": ("{path} 中的文档超过 {most} 个。", ""),
    "Name its parts.": ("请分别指定其中的部分。", ""),
    "The session {path} cannot be read: {problem}.": ("无法读取会话 {path}：{problem}。", ""),
    "{path} is not a session file of a client that is known.": ("{path} 不是已知客户端的会话文件。", ""),
    "Line {number} cannot be imported: {problem}": ("第 {number} 行无法导入：{problem}", ""),
    "Nothing was changed. Use a file made by `afterwit export`.": (
        "未做任何修改。请使用 `afterwit export` 生成的文件。",
        "",
    ),
    "the first line is not the header of an export": ("首行不是导出文件的文件头", ""),
    "not an object": ("不是 JSON 对象", ""),
    "unknown record {name!r}": ("没有这种记录：{name!r}", ""),
    "The database {path} cannot be made: {problem}.": ("无法创建数据库 {path}：{problem}。", ""),
    "Choose another path in the setting store, or give this user the right to write there.": (
        "请换一个路径（--data-dir，或设置 data_dir、store），或给予当前用户写入权限。",
        "Choose another path (--data-dir, or the setting store), or give this user the right to write there.",
    ),
    # settings
    "Setting {name} is {value}; it must be from {low:g} to {high:g}.": (
        "设置 {name} 为 {value}；必须在 {low:g} 到 {high:g} 之间。",
        "",
    ),
    "Setting {name} must be a number, not {value!r}.": ("设置 {name} 必须是数，不能是 {value!r}。", ""),
    "Setting {name} must be text, not {value!r}.": ("设置 {name} 必须是文本，不能是 {value!r}。", ""),
    "Mend it where it was set: in config.toml, in AFTERWIT_{variable} or as an option.": (
        "请在设定它的地方改正：config.toml、AFTERWIT_{variable} 或选项。",
        "",
    ),
    "Unknown setting {name!r}.": ("没有设置项 {name!r}。", ""),
    "`afterwit doctor` lists the settings there are.": ("`afterwit doctor` 会列出所有设置。", ""),
    "Setting space is {space!r}.": ("设置 space 为 {space!r}。", ""),
    "Use a name of 1 to {most} visible characters, such as default or team-a.": (
        "请用 1 到 {most} 个可见字符的名称，例如 default 或 team-a。",
        "",
    ),
    "Setting timezone is {timezone!r}, which is no zone.": ("设置 timezone 为 {timezone!r}，没有这个时区。", ""),
    "Use a name like Asia/Shanghai or UTC, or leave it empty.": ("请用 Asia/Shanghai、UTC 这样的名称，或留空。", ""),
    'Setting llm_extract is {llm_extract!r}; use "on" or "off".': (
        "设置 llm_extract 为 {llm_extract!r}；请用 on 或 off。",
        "",
    ),
    "Setting log_level is {log_level!r}; use DEBUG, INFO, WARNING or ERROR.": (
        "设置 log_level 为 {log_level!r}；请用 DEBUG、INFO、WARNING 或 ERROR。",
        "",
    ),
    "Cannot read {path}: {problem}.": ("无法读取 {path}：{problem}。", ""),
    "Mend the file or move it away.": ("请改正该文件，或将其移走。", ""),
    "Unknown embedder {embedder!r}.": ("没有这个嵌入模型：{embedder!r}。", ""),
    "Use {choices}.": ("可用：{choices}。", ""),
    "The {setting} {value!r} needs the package {module}, which is not installed.": (
        "{setting} {value!r} 需要软件包 {module}，但没有安装。",
        "",
    ),
    "Run pip install '{install}', or set {setting} to {otherwise}.": (
        "请运行 pip install '{install}'，或把 {setting} 设为 {otherwise}。",
        "",
    ),
    "Run pip install '{install}', or leave {setting} empty.": (
        "请运行 pip install '{install}'，或把 {setting} 留空。",
        "",
    ),
    "There is no storage engine for {scheme!r}.": ("没有用于 {scheme!r} 的存储引擎。", ""),
    "Write sqlite:///PATH in the setting store.": ("请在设置 store 中写 sqlite:///路径。", ""),
    "Cannot listen on {host} port {port}: {problem}.": ("无法监听 {host} 的端口 {port}：{problem}。", ""),
    "Choose another host or port.": ("请换一个地址或端口。", ""),
    # the command itself, as click says it
    "No such command {name}.": ("没有命令 {name}。", ""),
    "No such command {name}. Did you mean {near}?": ("没有命令 {name}。是否指 {near}？", ""),
    "No such command {name}. (Did you mean one of: {near}?)": ("没有命令 {name}。是否指：{near}？", ""),
    "No such option {name}.": ("没有选项 {name}。", ""),
    "No such option {name}. Did you mean {near}?": ("没有选项 {name}。是否指 {near}？", ""),
    "No such option {name}. (Did you mean one of: {near}?)": ("没有选项 {name}。是否指：{near}？", ""),
    "Missing argument {name}.": ("缺少参数 {name}。", ""),
    "Missing option {name}.": ("缺少选项 {name}。", ""),
    "Missing command.": ("缺少命令。", ""),
    "Invalid value for {name}: {value} is not a valid integer.": ("{name} 的值 {value} 不是整数。", ""),
    "Invalid value for {name}: {value} is not a valid float.": ("{name} 的值 {value} 不是数。", ""),
    "Invalid value for {name}: {value} is not one of {choices}.": ("{name} 的值 {value} 无效，可用：{choices}。", ""),
    "Got unexpected extra argument ({names})": ("多出的参数：{names}", ""),
    "Got unexpected extra arguments ({names})": ("多出的参数：{names}", ""),
    "Option {name} requires an argument.": ("选项 {name} 需要一个值。", ""),
    "Option {name} does not take a value.": ("选项 {name} 不带值。", ""),
    "See `{place} --help`.": ("见 `{place} --help`。", ""),
    "Use `afterwit {command}`.": ("请用 `afterwit {command}`。", ""),
    "Quality is measured in a checkout of the source, with `make eval` or `python -m evals`.": (
        "质量评测在源码仓库中进行：`make eval` 或 `python -m evals`。",
        "",
    ),
    "The system refused: {problem}.": ("系统拒绝：{problem}。", ""),
    "Check the disk and its free space.": ("请检查磁盘及其剩余空间。", ""),
}

#: what operating systems say
_SYSTEM = {
    "No such file or directory": "没有这个文件或目录",
    "Permission denied": "没有权限",
    "Is a directory": "是目录",
    "Not a directory": "不是目录",
    "File exists": "文件已存在",
    "No space left on device": "磁盘已满",
    "Read-only file system": "文件系统只读",
    "Address already in use": "地址已被占用",
}


def worded(text: str, spoken: str = "") -> str:
    """A sentence of an error as this command says it.

    Args:
        text: the sentence, in English.
        spoken: "zh" or "en"; "" = the language of the terminal.
    """
    chosen = spoken or language()
    template, values = (text.template, text.values) if isinstance(text, Sentence) else (text, {})
    chinese, english = SAID.get(template, ("", ""))
    said = chinese if chosen == "zh" and chinese else english
    if not said:
        return text
    return said.format(**{name: _value(value, chosen) for name, value in values.items()}) if values else said


def reworded(error: AfterwitError, spoken: str = "") -> str:
    """What went wrong and what to do, as this command says it.

    Args:
        error: of the library.
        spoken: "zh" or "en"; "" = the language of the terminal.
    """
    chosen = spoken or language()
    told = (worded(error.message, chosen), worded(error.next_step, chosen))
    return ("" if chosen == "zh" else " ").join(filter(None, told))


def _value(value: object, spoken: str) -> object:
    if isinstance(value, Sentence):
        return worded(value, spoken)
    known = _SYSTEM.get(str(value)) if spoken == "zh" else None
    return known or value
