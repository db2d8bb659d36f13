"""Programs of the command line: what sort of thing each does, and which take a command of their own."""

import re

#: Kind of action, then patterns of programs with their command, separated by commas; the first kind that fits.
_KINDS = r"""
test:
    pytest, py\.test, unittest, nose2, tox(?: \S+)?, nox(?: \S+)?, jest, vitest, mocha, ava, karma, cypress,
    playwright test, (?:npm|yarn|pnpm|bun)(?: run)? (?:test\S*|e2e|check|lint|typecheck), cargo
    (?:test|check|clippy|nextest), go (?:test|vet), make (?:test\S*|check|lint), (?:mvn|mvnw|gradle|gradlew)
    (?:test|verify|check), rspec, rake test, manage\.py test, rails test, phpunit, dotnet test, ctest, mypy,
    pyright, ruff, eslint, tsc, flake8, ng test, swift test, flutter test, mix test, hatch test
install:
    (?:pip3?|pipx|uv pip|uv tool|conda|mamba|gem|brew|apt|apt-get|yum|dnf|choco|winget|cargo|go)
    (?:install|add|get|update|upgrade), (?:bundle|poetry|pdm|composer|playwright|npm|pnpm|yarn|bun|rustup|pyenv|nvm)
    (?:install|i|ci|add|sync|require|update|upgrade|lock), apk add, uv
    (?:add|sync|lock), yarn, go mod (?:tidy|download|vendor), rustup (?:component|target|toolchain|default),
    corepack, dotnet (?:add|restore), npm (?:update|dedupe|link|rebuild), pod install
migrate:
    alembic (?:upgrade|stamp), manage\.py (?:migrate|loaddata), make \S*(?:migrat|seed|db|schema)\S*, prisma
    (?:migrate|generate|db)(?: \w+)?, rails db:\S+, rake db:\S+, flyway, liquibase, knex, (?:npm|yarn|pnpm)(?:
    run)? \S*(?:migrat|seed|db:)\S*, flask db, createdb, initdb, dbmate, sqlx, diesel, artisan migrate
service:
    docker compose (?:up|start|restart), docker-compose (?:up|start|restart), docker
    (?:start|run|restart|network|volume), systemctl (?:start|restart|enable|daemon-reload), service, brew
    services(?: \w+)?, redis-server, mongod, pg_ctl, (?:npm|yarn|pnpm|bun)(?: run)? (?:start|dev|serve), make
    (?:up|start|run|serve|dev), minikube start, colima start, kubectl (?:apply|rollout|create|port-forward),
    uvicorn, gunicorn, nginx, ollama, manage\.py runserver, flask run, dockerd, ssh-agent
setup:
    nvm use, pyenv (?:local|global|shell), conda activate, mamba activate, direnv,
    (?:gh|gcloud|az|npm|docker|aws|vercel|firebase|heroku|fly|wrangler) (?:auth|login|sso|configure|config)(?:
    \w+)?, ssh-add, ssh-keygen, ssh-keyscan, git (?:config|lfs|submodule)(?: \w+)?, (?:python3?|virtualenv) venv,
    virtualenv, uv venv, chmod, chown, mkdir, ln, npm config, pip config, poetry config, huggingface-cli, setx,
    ulimit, sysctl, usermod
vcs:
    git(?: .*)?, gh pr, glab(?: .*)?, hg, svn
build:
    make(?: .*)?, cmake, ninja, bazel, tsc, webpack, vite, rollup, esbuild, (?:npm|yarn|pnpm|bun)(?: run)?
    (?:build\S*|compile|generate|codegen), cargo (?:build|run), go (?:build|run|generate),
    (?:mvn|mvnw|gradle|gradlew)(?: .*)?, docker (?:build|buildx), docker(?: |-)compose build, gcc, g\+\+, clang,
    javac, rustc, dotnet (?:build|publish|run), next, xcodebuild, protoc, ng build, hugo, mkdocs, sphinx-build
http:
    curl, wget, http, https, httpie, xh
sql:
    psql, mysql, mariadb, sqlite3, duckdb, mongosh, clickhouse-client, sqlcmd, bq, usql
search:
    grep, rg, ag, find, fd, ack, locate
read:
    cat, less, more, head, tail, ls, tree, bat, wc, stat, file, du, df, xxd, hexdump, strings, diff, jq, nl, od,
    awk, column, sort, uniq, cut, journalctl, dmesg, env, printenv, docker(?: |-)compose (?:logs|ps|config),
    docker (?:ps|logs|images|inspect), kubectl (?:get|describe|logs), git
    (?:log|diff|show|status|blame|branch|grep|ls-files), ps, top, free, id, whoami, uname, pip3?
    (?:list|show|freeze), npm (?:ls|list|view|outdated), history, man
"""

#: Words before a program that do not change what it is for, with the number of arguments that they take.
WRAPPERS = {
    **dict.fromkeys("sudo time nohup env exec command nice npx bunx xvfb-run winpty".split(), 0),
    **dict.fromkeys(("timeout", "stdbuf"), 1),
}
#: Programs that run another one in an environment of their own.
RUNNERS = frozenset(
    tuple(pair.split())
    for pair in (
        "uv run, poetry run, pdm run, pipenv run, hatch run, rye run, bundle exec, pnpm exec, npm exec, yarn exec"
    ).split(", ")
)
#: Programs whose next word is the command.
WITH_COMMAND = frozenset(
    (
        "git docker docker-compose podman npm yarn pnpm bun pip pip3 pipx uv poetry pdm conda mamba cargo rustup go "
        "kubectl helm apt apt-get yum dnf apk brew choco winget make systemctl service terraform aws gcloud az gh "
        "glab dotnet bundle gem rails rake composer gradle gradlew mvn mvnw manage.py artisan alembic flask prisma "
        "playwright nvm pyenv supabase vercel firebase minikube colima swift flutter mix hatch tox nox redis-cli ng "
        "expo heroku fly wrangler django-admin"
    ).split()
)
#: Commands that take one more.
TWO_COMMANDS = frozenset(
    (
        "docker compose, npm run, yarn run, pnpm run, bun run, uv pip, go mod, gh run, gh pr, gh auth, git submodule, "
        "git lfs, git remote, docker container, docker image, brew services, gcloud auth, prisma migrate, prisma db, "
        "uv tool, aws sso"
    ).split(", ")
)


def _compiled() -> dict[str, re.Pattern[str]]:
    kinds: dict[str, re.Pattern[str]] = {}
    for block in re.split(r"\n(?=\S)", _KINDS.strip()):
        kind, _, patterns = block.partition(":\n")
        kinds[kind] = re.compile(f"^(?:{'|'.join(' '.join(patterns.split()).split(', '))})$")
    return kinds


PROGRAM_KINDS = _compiled()

#: Programs that ask how something is getting on.
POLLS = re.compile(
    r"^(?:sleep|watch|wait|ps|pgrep|top|jobs|docker ps|docker compose (?:ps|logs)|docker logs|gh run(?: .*)?|gh pr|"
    r"kubectl (?:get|describe|logs)|git status|tail|systemctl status|nvidia-smi|squeue|df|du|free|date|uptime)$"
)
