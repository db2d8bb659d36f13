"""Outputs as tools print them, for the tests of signatures: groups of one fault, and outputs without one."""

#: Each group is one fault in several runs, shells or languages: one key. Different groups: different keys.
SAME_FAULT: dict[str, tuple[str, ...]] = {
    "python module requests": (
        'Traceback (most recent call last):\n  File "/home/ann/app/main.py", line 3, in <module>\n    import requests\n'
        "ModuleNotFoundError: No module named 'requests'",
        'Traceback (most recent call last):\n  File "/srv/job-17/run.py", line 118, in <module>\n    import requests\n'
        "ModuleNotFoundError: No module named 'requests'\n",
    ),
    "no entry in pg_hba.conf": (
        'psql: error: connection to server at "db.x.dev" (10.0.0.2), port 5432 failed: FATAL:  no pg_hba.conf entry for host '
        '"10.0.0.7", user "app", database "shop", no encryption',
        'psql: error: connection to server at "db.y.dev" (10.0.9.2), port 5432 failed: 致命错误:  没有用于主机 "10.0.0.9", '
        '用户 "web", 数据库 "shop", 无加密 的 pg_hba.conf 记录',
    ),
    "handshake that timed out": (
        "Unable to connect to the server: net/http: TLS handshake timeout",
        "dial tcp 10.0.0.7:443: i/o timeout",
    ),
    "python module yaml": (
        "ModuleNotFoundError: No module named 'yaml'",
        "E   ModuleNotFoundError: No module named 'yaml'",
    ),
    "python -m pytest": (
        "/usr/bin/python3: No module named pytest",
        "/opt/venvs/a1b2c3d4/bin/python3.12: No module named pytest",
    ),
    "cannot import name": (
        "ImportError: cannot import name 'soft_unicode' from 'markupsafe' (/a/b/markupsafe/__init__.py)",
        "ImportError: cannot import name 'soft_unicode' from 'markupsafe' (/home/x/lib/markupsafe/__init__.py)",
    ),
    "key error": (
        "Traceback (most recent call last):\n  File \"a.py\", line 3, in f\nKeyError: 'price'",
        "Traceback (most recent call last):\n  File \"/tmp/pytest-of-bo/pytest-12/b.py\", line 91, in g\nKeyError: 'price'",
    ),
    "none has no attribute": (
        "Traceback (most recent call last):\n  File \"a.py\", line 3, in f\nAttributeError: 'NoneType' object has no attribute 'id'",
        "During handling of the above exception, another exception occurred:\n\nTraceback (most recent call last):\n"
        "  File \"b.py\", line 7, in g\nAttributeError: 'NoneType' object has no attribute 'id'",
    ),
    "pytest assertion": (
        "FAILED tests/test_cart.py::test_total_includes_tax - AssertionError: assert 107 == 119\n1 failed, 12 passed in 0.31s",
        "FAILED tests/test_cart.py::test_total_includes_tax - AssertionError: assert 100 == 119\n1 failed, 40 passed in 2.31s",
    ),
    "pytest fixture": (
        "E       fixture 'db_session' not found\n>       available fixtures: cache, capfd",
        "  fixture 'db_session' not found",
    ),
    "unittest": ("FAIL: test_login (tests.test_auth.AuthTest)\nAssertionError: 401 != 200\nFAILED (failures=1)",),
    "node module": (
        "node:internal/modules/cjs/loader:1148\n  throw err;\n  ^\n\nError: Cannot find module 'express'\nRequire stack:\n- /app/server.js",
        "Error: Cannot find module 'express'\nRequire stack:\n- /Users/eve/code/shop/index.js\n    at Module._resolveFilename",
    ),
    "webpack": (
        "Module not found: Error: Can't resolve 'lodash' in '/app/src'",
        "Module not found: Error: Can't resolve 'lodash' in '/x/y'",
    ),
    "js undefined": (
        "TypeError: Cannot read properties of undefined (reading 'map')\n    at render (/app/src/list.js:12:20)",
        "TypeError: Cannot read properties of undefined (reading 'map')\n    at List (/srv/www/list.js:99:1)",
    ),
    "typescript 2345": (
        "src/cart.ts(12,5): error TS2345: Argument of type 'string' is not assignable to parameter of type 'number'.",
        "lib/x/other.ts(3,18): error TS2345: Argument of type 'string' is not assignable to parameter of type 'number'.",
    ),
    "typescript 2339": ("src/a.ts:3:7 - error TS2339: Property 'total' does not exist on type 'Cart'.",),
    "eslint": (
        "/app/src/a.js\n  3:10  error  'x' is assigned a value but never used  no-unused-vars\n\n✖ 1 problem (1 error, 0 warnings)",
    ),
    "npm eresolve": (
        "npm ERR! code ERESOLVE\nnpm ERR! ERESOLVE unable to resolve dependency tree\nnpm ERR! Found: react@18.2.0",
        "npm error code ERESOLVE\nnpm error ERESOLVE could not resolve\nnpm error While resolving: shop@1.4.2",
    ),
    "npm script": ('npm ERR! Missing script: "build:prod"', 'npm error Missing script: "build:prod"'),
    "npm 404": (
        "npm ERR! code E404\nnpm ERR! 404 Not Found - GET https://registry.example.com/lefft-pad - Not found\n"
        "npm ERR! 404  'lefft-pad@*' is not in this registry.",
    ),
    "pnpm": (
        'ERR_PNPM_OUTDATED_LOCKFILE  Cannot install with "frozen-lockfile"',
        " ERR_PNPM_OUTDATED_LOCKFILE  lockfile is old",
    ),
    "http 401": (
        'HTTP/1.1 401 Unauthorized\ncontent-type: application/json\n\n{"message":"Requires authentication"}',
        "HTTP/2 401 \ndate: Tue, 03 Jun 2025 10:11:12 GMT",
    ),
    "http 429": ("HTTP/1.1 429 Too Many Requests\nretry-after: 30", "Request failed with status code 429"),
    "http 404 route": (
        "requests.exceptions.HTTPError: 404 Client Error: Not Found for url: https://api.shop.example/v2/orders/18273",
        "requests.exceptions.HTTPError: 404 Client Error: Not Found for url: https://api.shop.example/v2/orders/99?expand=1",
    ),
    "http 404 other route": (
        "requests.exceptions.HTTPError: 404 Client Error: Not Found for url: https://api.shop.example/v2/users/18273",
    ),
    "http 503": ("curl: (22) The requested URL returned error: 503", "服务返回状态码：503"),
    "sqlite table": (
        "sqlite3.OperationalError: no such table: invoices",
        "Error: in prepare, no such table: invoices",
        "django.db.utils.OperationalError: no such table: invoices",
    ),
    "sqlite column": ("sqlite3.OperationalError: no such column: due_at",),
    "postgres relation": (
        'ERROR:  relation "orders" does not exist\nLINE 1: select * from orders;',
        'psycopg2.errors.UndefinedTable: relation "orders" does not exist\nLINE 1: SELECT 1',
    ),
    "postgres duplicate": (
        'ERROR:  duplicate key value violates unique constraint "users_email_key"\nDETAIL:  Key (email)=(a@b.example) already exists.',
    ),
    "mysql table": (
        "ERROR 1146 (42S02): Table 'shop.carts' doesn't exist",
        "ERROR 1146 (42S02) at line 12: Table 'shop_test.carts' doesn't exist",
    ),
    "postgres login": (
        'FATAL:  password authentication failed for user "app"',
        'psql: error: FATAL:  password authentication failed for user "root"',
    ),
    "sqlite locked": ("sqlite3.OperationalError: database is locked",),
    "docker daemon": (
        "Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?",
        "ERROR: Cannot connect to the Docker daemon at unix:///Users/bo/.colima/docker.sock. Is the docker daemon running?",
    ),
    "docker socket": (
        "permission denied while trying to connect to the Docker daemon socket at unix:///var/run/docker.sock",
        "docker: permission denied while trying to connect to the docker API at unix:///run/user/1000/docker.sock",
    ),
    "docker port": (
        "Error response from daemon: driver failed programming external connectivity on endpoint web (9f3c2b1a77d0): "
        "Bind for 0.0.0.0:8080 failed: port is already allocated",
        "Bind for 0.0.0.0:5432 failed: port is already allocated",
    ),
    "docker image": (
        "Error response from daemon: pull access denied for acme/worker, repository does not exist or may require 'docker login'",
    ),
    "docker name": (
        'docker: Error response from daemon: Conflict. The container name "/redis" is already in use by container "0b7e2f1c9d5a4e".',
        'The container name "/redis" is already in use by container "ff00ee11dd22".',
    ),
    "kubernetes": ("web-5d8f7c-abcde  0/1  ImagePullBackOff  0  3m", "worker-0  0/1  ImagePullBackOff  0  11m"),
    "git upstream": (
        "fatal: The current branch feature/x has no upstream branch.\nTo push the current branch and set the remote as upstream",
        "fatal: 当前分支 dev 没有对应的上游分支。",
    ),
    "git behind": (
        "To github.com:acme/shop.git\n ! [rejected]        main -> main (fetch first)\nerror: failed to push some refs",
        " ! [rejected]        dev -> dev (non-fast-forward)",
    ),
    "git conflict": (
        "Auto-merging a.txt\nCONFLICT (content): Merge conflict in a.txt\nAutomatic merge failed; fix conflicts",
        "CONFLICT (content): Merge conflict in src/b.ts",
    ),
    "git none": (
        "fatal: not a git repository (or any of the parent directories): .git",
        "致命错误：不是 git 仓库（或者任何父目录）：.git",
    ),
    "git key": ("git@github.com: Permission denied (publickey).\nfatal: Could not read from remote repository.",),
    "git pathspec": ("error: pathspec 'develop' did not match any file(s) known to git",),
    "pip none": (
        "ERROR: Could not find a version that satisfies the requirement torch==9.9 (from versions: 2.0)\nERROR: No matching distribution found for torch==9.9",
        "ERROR: No matching distribution found for torch==9.9",
    ),
    "pip managed": (
        "error: externally-managed-environment\n\n× This environment is externally managed",
        "error: externally-managed-environment",
    ),
    "pip wheel": (
        "  ERROR: Failed building wheel for psycopg2\nFailed to build psycopg2",
        "ERROR: Failed building wheel for psycopg2",
    ),
    "cargo unresolved": (
        "error[E0432]: unresolved import `serde`\n --> src/main.rs:1:5",
        "error[E0432]: unresolved import `serde`\n --> src/lib.rs:44:9",
    ),
    "cargo borrow": ("error[E0502]: cannot borrow `v` as mutable because it is also borrowed as immutable",),
    "rust panic": (
        "thread 'main' panicked at src/main.rs:4:10:\ncalled `Option::unwrap()` on a `None` value",
        "thread 'worker' panicked at src/job.rs:77:2:\ncalled `Option::unwrap()` on a `None` value",
    ),
    "go module": (
        "main.go:4:2: no required module provides package github.com/gin-gonic/gin; to add it:\n\tgo get github.com/gin-gonic/gin",
    ),
    "go undefined": ("./main.go:12:3: undefined: parseOrder", "./cmd/x/main.go:140:31: undefined: parseOrder"),
    "go test": (
        "--- FAIL: TestTotal (0.00s)\n    cart_test.go:12: got 3, want 4\nFAIL",
        "--- FAIL: TestTotal (1.20s)\nFAIL\texample.com/shop\t1.3s",
    ),
    "java npe": (
        'Exception in thread "main" java.lang.NullPointerException: Cannot invoke "Cart.total()"\n\tat App.main(App.java:9)',
        'Exception in thread "pool-3-thread-7" java.lang.NullPointerException: Cannot invoke "Cart.total()"\n\tat Job.run(Job.java:88)',
    ),
    "java symbol": ("Cart.java:3: error: cannot find symbol\n  symbol:   class Money\n  location: class Cart",),
    "maven": (
        "[ERROR] Failed to execute goal org.apache.maven.plugins:maven-compiler-plugin:3.11.0:compile on project shop",
    ),
    "gcc header": (
        "a.c:1:10: fatal error: openssl/ssl.h: No such file or directory",
        "b/c.c:9:10: fatal error: openssl/ssl.h: 没有那个文件或目录",
    ),
    "make target": (
        "make: *** No rule to make target 'migrate'.  Stop.",
        "make[1]: *** No rule to make target 'migrate'.  Stop.",
    ),
    "command jq": (
        "bash: line 1: jq: command not found",
        "/bin/sh: 1: jq: not found",
        "zsh: command not found: jq",
        "bash: jq: 未找到命令",
        "'jq' is not recognized as an internal or external command,\noperable program or batch file.",
    ),
    "command tsc": ("sh: tsc: command not found",),
    "permission": ("bash: ./deploy.sh: Permission denied", "bash: ./deploy.sh: 权限不够"),
    "refused": (
        "Error: connect ECONNREFUSED 127.0.0.1:5432",
        "连接被拒绝",
        "dial tcp 10.0.0.7:6379: connect: connection refused",
    ),
    "in use": (
        "Error: listen EADDRINUSE: address already in use :::3000",
        "OSError: [Errno 98] Address already in use",
    ),
    "no file": (
        "cp: cannot stat '/tmp/a1/x.bin': No such file or directory",
        "cp: 无法获取'/data/y.bin' 的文件状态: 没有那个文件或目录",
    ),
    "package json": (
        "ENOENT: no such file or directory, open '/app/package.json'",
        "ENOENT: no such file or directory, open '/home/eve/shop/package.json'",
    ),
    "dns": ("curl: (6) Could not resolve host: api.internal.example",),
    "certificate": (
        "ssl.SSLCertVerificationError: [SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed: self-signed certificate (_ssl.c:1006)",
        "curl: (60) SSL certificate problem: self signed certificate",
    ),
    "space": ("tar: x: Cannot write: No space left on device", "写入失败：设备上没有空间"),
    "mcp argument": (
        "MCP error -32602: Invalid arguments for tool search: query is required",
        "MCP error -32602: Invalid arguments for tool search: query is required\n",
    ),
    "mcp unknown": ("Unknown tool: create_isue",),
    "edit text": (
        "<tool_use_error>String to replace not found in file.\nString: def f(x)</tool_use_error>",
        "String to replace not found in file.\nString: return 3",
    ),
    "edit unread": (
        "<tool_use_error>File has not been read yet. Read it first before writing to it.</tool_use_error>",
    ),
    "playwright": (
        "TimeoutError: locator.click: Timeout 30000ms exceeded.\nCall log:\n  - waiting for locator('button#submit')",
        "TimeoutError: locator.click: Timeout 5000ms exceeded.\nCall log:\n  - waiting for locator('button#submit')",
    ),
    "playwright other": (
        "TimeoutError: locator.click: Timeout 30000ms exceeded.\nCall log:\n  - waiting for locator('#cookie-accept')",
    ),
    "browser install": (
        "browserType.launch: Executable doesn't exist at /root/.cache/ms-playwright/chromium-1117/chrome-linux/chrome",
    ),
    "browser covered": ('<div class="overlay"></div> intercepts pointer events',),
    "aws": ("An error occurred (AccessDenied) when calling the PutObject operation: Access Denied",),
    "apt": ("E: Unable to locate package libfoo-dev", "E: 无法定位软件包 libfoo-dev"),
    "uuid user": (
        "Error: job 3f2b8c1e-1111-4222-8333-abcdefabcdef of user 'ann' failed at 2025-06-03T10:11:12Z",
        "Error: job 9a8b7c6d-aaaa-4bbb-8ccc-0123456789ab of user 'bob' failed at 2025-07-09T01:02:03Z",
    ),
}

#: Outputs that show no failure though their words might.
NO_FAILURE: tuple[tuple[str, str, str], ...] = (
    ("bash", "pytest -q", "12 passed in 0.41s"),
    ("bash", "pytest -q", "collected 3 items\n\ntests/test_error_page.py ...\n\n3 passed in 0.02s"),
    ("bash", "npm run build", "webpack compiled successfully in 812 ms\n0 errors, 2 warnings"),
    ("bash", "npm test", "Tests:       0 failed, 14 passed, 14 total"),
    (
        "bash",
        "grep -rn error src",
        "src/app.py:3:    raise ValueError('error: no price')\nsrc/log.py:9:log.error('failed')",
    ),
    (
        "Grep",
        '{"pattern": "Traceback"}',
        "docs/faq.md:12:Traceback (most recent call last):\ndocs/faq.md:14:KeyError: 'x'",
    ),
    ("bash", "cat notes.md", "# Errors\nerror: something\nTraceback (most recent call last):\nValueError: x"),
    (
        "Read",
        '{"file_path": "/a/err.py"}',
        "1\timport x\n2\traise RuntimeError('error: bad')\n3\tprint('404 Not Found')",
    ),
    (
        "bash",
        "git diff",
        "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-raise KeyError('a')\n+raise KeyError('b')",
    ),
    ("bash", "make", "gcc -Wall -Werror -c error.c\nmake: Nothing to be done for 'all'."),
    ("bash", "ls", "error.log\nfailed_jobs.txt\nException.java"),
    ("bash", "python app.py", "WARNING: retrying after error: timeout\nINFO served 404 for /x\nready"),
    ("bash", "ruff check", "All checks passed!"),
    ("bash", "mypy src", "Success: no issues found in 12 source files"),
    ("bash", "./run.sh", "step 1\nstep 2\nExit code: 0"),
    ("bash", "npm install", "added 212 packages in 4s\n\nfound 0 vulnerabilities"),
    ("bash", "pnpm test", "全部通过：32 个用例，0 个失败"),
    ("user", "", "It prints error: no such table: users"),
    ("decision", "use sqlite", "because the error: connection refused"),
    ("curl", '{"url": "https://api.example.com/v1/items"}', 'HTTP/1.1 200 OK\n\n{"errors": [], "items": [404]}'),
    ("bash", "echo", ""),
    ("edit", "1:3", "[File: /a/b.py (3 lines total)]\n1:try:\n2:    f()\n3:except ImportError: pass\nFile updated."),
)

#: Outputs that show a failure without any flag.
FAILURE: tuple[tuple[str, str, str], ...] = (
    ("bash", "pytest", "==== 2 failed, 3 passed in 1.2s ===="),
    ("bash", "./x.sh", "doing it\nExit code: 2"),
    ("bash", "make all", "cc -c a.c\nmake: *** [Makefile:3: a.o] Error 1"),
    (
        "bash",
        "python a.py",
        'Traceback (most recent call last):\n  File "a.py", line 1, in <module>\nZeroDivisionError: division by zero',
    ),
    ("bash", "curl -i https://api.example.com/x", "HTTP/2 403 \nserver: x"),
    ("bash", "git push", "fatal: 'origin' does not appear to be a git repository"),
    ("bash", "cat /nope", "cat: /nope: No such file or directory"),
    ("Read", '{"file_path": "/nope"}', "File does not exist."),
    ("mcp__db__query", "{}", '{"isError": true, "content": [{"type": "text", "text": "bad"}]}'),
    ("bash", "npm test", "Tests:       1 failed, 13 passed, 14 total"),
    ("bash", "./deploy", "错误：没有部署权限"),
    ("bash", "foo", "bash: foo: command not found"),
    ("bash", "cargo build", 'error: could not compile `shop` (bin "shop") due to 2 previous errors'),
    ("submit", "x", "Wrong answer!"),
    ("bash", "go test ./...", "--- FAIL: TestX (0.00s)\nFAIL"),
)
