"""A few days in the life of an agent with a memory, played by a real MCP client against a real server:
first it remembers what it is told, then it learns from what it does.

Run it with `make demo`. It needs no key and no network, uses a directory of its own, and stops
with an error as soon as something is not as it says.
"""

import asyncio
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mcp.client import Client
from mcp.client.stdio import StdioServerParameters


class NotAsPromised(Exception):
    """The memory did not do what the demo says it does."""


def say(text: str = "") -> None:
    """Print one line at once, so that the story can be watched."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def expect(condition: object, what: str) -> None:
    """Stop the demo when a promise is not kept."""
    if not condition:
        raise NotAsPromised(what)


@dataclass(frozen=True)
class Memory:
    """The MCP tools as seen by an agent."""

    client: Client

    async def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """Call a tool and return its structured answer."""
        result = await self.client.call_tool(tool, arguments)
        expect(not result.is_error, f"{tool} failed: {result.content}")
        return result.structured_content or {}

    async def write(self, content: str, **fields: Any) -> dict[str, Any]:
        """Write, and show what became of it."""
        receipt = await self.call("memory_write", content=content, **fields)
        say(f"  write   {content}")
        say(f"          -> {receipt['outcome']}: {receipt['message']}")
        return receipt

    async def search(self, query: str, **options: Any) -> list[dict[str, Any]]:
        """Search, and show what came back."""
        answer = await self.call("memory_search", query=query, **options)
        say(f"  search  {query}" + "".join(f"  [{key}: {value}]" for key, value in options.items()))
        for hit in answer["hits"]:
            say(f"          -> {hit['summary']}  ({hit['kind']}, relevance {hit['relevance']:.2f})")
            for warning in hit.get("warnings", []):
                say(f"             ! {warning}")
        if not answer["hits"]:
            say(f"          -> {answer['message']}")
        return answer["hits"]


def server(data_dir: Path) -> StdioServerParameters:
    """How a client starts the server: an absolute command and a data directory."""
    return StdioServerParameters(
        command=sys.executable,
        args=["-m", "afterwit", "mcp"],
        env={**os.environ, "AFTERWIT_DATA_DIR": str(data_dir), "AFTERWIT_TIMEZONE": "Asia/Shanghai"},
    )


async def first_days(memory: Memory) -> str:
    """What a user says over some days, and what becomes of it. Returns the id of a secret."""
    say("\nDay 1. The user tells things about themselves and the project (Chinese and English).")
    first = await memory.write("用户不吃辣。", kind="preference", source="user", happened_at="2026-11-02")
    expect(first["outcome"] == "stored", "a preference is stored")
    await memory.write("用户住在杭州。", source="user", happened_at="2026-11-02")
    await memory.write(
        "We chose PostgreSQL over MongoDB for project Atlas because the reports need joins.",
        kind="decision", scope="project:atlas", happened_at="2026-11-02",
    )  # fmt: skip
    await memory.write(
        "The Atlas API expects the auth token in the X-Auth header, not in the query string.",
        kind="lesson", scope="project:atlas", source="test", happened_at="2026-11-02",
    )  # fmt: skip
    await memory.write(
        "Atlas integration tests need the flag --run-db, otherwise the database tests are skipped.",
        kind="fact", scope="project:atlas", happened_at="2026-11-02",
    )  # fmt: skip
    await memory.write(
        "The Borealis API expects the auth token in a cookie.",
        kind="fact", scope="project:borealis", happened_at="2026-11-02",
    )  # fmt: skip
    secret = await memory.write(
        "The user's door code is K7-4711.", kind="fact", source="user", happened_at="2026-11-02"
    )

    say("\nDay 1, a little later. Chatter and noise stay out, and the agent is told why.")
    for noise in ("OK, got it, thanks!", "HTTP 200 OK"):
        refused = await memory.write(noise)
        expect(refused["outcome"] == "rejected", "noise is refused")

    say("\nDay 3. The same thing is said again: no second copy.")
    again = await memory.write("用戶不吃辣", source="user", happened_at="2026-11-04")
    expect(again["outcome"] == "merged" and again["id"] == first["id"], "a repeat is merged")
    return secret["id"]


async def changes(memory: Memory) -> None:
    """Facts that change, expire and are contradicted."""
    say("\nDay 10. The user moves. The old address is history, not a second truth.")
    moved = await memory.write("用户搬到上海了。", source="user", happened_at="2026-11-11")
    expect(moved["outcome"] == "superseded", "a move replaces the old address")
    hits = await memory.search("用户住在哪里？")
    expect(["上海" in hit["summary"] for hit in hits] == [True], "only the new address comes back")
    hits = await memory.search("Where does the user live?", as_of="2026-11-05")
    expect(hits and "杭州" in hits[0]["summary"], "asked about an earlier day, the earlier address comes back")

    say("\nDay 12. A guess contradicts what the user said. It is kept aside, and shown as a conflict.")
    guess = await memory.write("用户可能住在北京。", source="agent", happened_at="2026-11-13")
    expect(guess["outcome"] == "quarantined", "a guess does not beat a statement")
    hits = await memory.search("用户现在住哪")
    expect(len(hits) == 1 and "上海" in hits[0]["summary"], "the statement is still what comes back")

    say("\nDay 14. A trip that ends by itself.")
    await memory.write(
        "用户这周在成都出差。", kind="fact", source="user", happened_at="2026-11-16", expires_at="2026-11-21"
    )
    expect(not await memory.search("用户在哪里出差？"), "a trip that is over does not come back")
    hits = await memory.search("用户在哪里出差？", as_of="2026-11-18")
    expect(hits and "成都" in hits[0]["summary"], "asked about a day of the trip, it comes back")


async def use(memory: Memory, secret_id: str) -> None:
    """Search with the task in mind, correct, forget, erase."""
    say("\nDay 20. A new task in project Atlas: three memories matter, the other project's near-miss stays out.")
    hits = await memory.search(
        "How do I call the API and run the tests?",
        task_context="Write an integration test for the Atlas reports endpoint: authentication and database.",
        scopes=["project:atlas"],
    )
    expect(len(hits) == 3, f"three memories matter, got {len(hits)}")
    expect(all("Borealis" not in hit["summary"] for hit in hits), "the near-miss stays out")

    say("\nDay 20. Nothing is known about this, and the memory says so instead of guessing.")
    expect(not await memory.search("Which colour is the office carpet?"), "an empty answer is an answer")

    say("\nDay 21. The agent is corrected: the flag has another name.")
    hits = await memory.search("Which flag do the database tests need?", scopes=["project:atlas"])
    expect("--run-db" in hits[0]["summary"], "the memory about the flag comes first")
    correction = "Atlas integration tests need the flag --with-db, otherwise the database tests are skipped."
    receipt = await memory.call("memory_update", memory_id=hits[0]["id"], content=correction, source="user")
    say(f"  update  {correction}\n          -> {receipt['outcome']}: {receipt['message']}")
    hits = await memory.search("Which flag do the database tests need?", scopes=["project:atlas"])
    expect("--with-db" in hits[0]["summary"] and "--run-db" not in str(hits), "the wrong flag is gone")

    say("\nDay 22. The user wants the door code gone for good.")
    receipt = await memory.call("memory_forget", memory_id=secret_id, reason="the user asked", erase=True)
    say(f"  erase   -> {receipt['outcome']}: {receipt['message']}")
    expect(not await memory.search("door code"), "what is erased cannot be found")

    say("\nAt the end: a summary that cites its sources.")
    digest = await memory.call("memory_summarize", budget_tokens=300)
    for line in digest["text"].splitlines():
        say(f"  {line}")


def without_trace(data_dir: Path, words: bytes) -> bool:
    """Whether the bytes are in none of the files."""
    return all(words not in path.read_bytes() for path in data_dir.rglob("*") if path.is_file())


# --- second act: learning --------------------------------------------------------------------------

#: A program with a trap: the rates of the bank, which it takes unless told otherwise, are empty.
SHOP = """
import argparse, sys

parser = argparse.ArgumentParser(prog="shop.py")
parser.add_argument("command", choices=["report", "backup", "restore"])
parser.add_argument("--year", type=int, default=2026)
parser.add_argument("--currency", default="EUR")
parser.add_argument("--rates", choices=["bank", "ecb"], default="bank")
parser.add_argument("--fast", action="store_true")
parser.add_argument("--file", default="")
given = parser.parse_args()
rates = {"bank": {}, "ecb": {"EUR": 1.0, "USD": 1.08}}[given.rates]
if given.command != "report":
    if given.fast:
        sys.exit("shop.py: error: --fast cannot read an encrypted database")
    if not given.file:
        sys.exit(f"shop.py: error: {given.command} needs to know the file")
    print(f"{given.command} of {given.file} done")
elif given.currency not in rates:
    sys.exit(f"shop.py: error: no {given.currency} rate for {given.year} in source '{given.rates}'")
else:
    print(f"report of {given.year}: {round(4812 * rates[given.currency])} {given.currency}")
"""


@dataclass(frozen=True)
class Task:
    """What an agent is to do, and what it can think of, the plain way first."""

    goal: str
    ways: tuple[str, ...]


@dataclass(frozen=True)
class Done:
    """What became of a task."""

    task_id: str
    #: memories that it was told at its start
    told: list[dict[str, Any]]
    #: commands that were run, and whether they worked
    tried: list[tuple[str, bool]]
    #: what the memory said at its end
    end: dict[str, Any]

    def became(self, memory_id: str) -> str:
        """What the task's end made of a memory: "confirmed", "pending", "refuted"; empty when nothing changed."""
        return next((one.get("became", "") for one in self.end["credited"] if one["id"] == memory_id), "")


def advice_in(told: str) -> str:
    """What a memory says to do, without when ("If `x` fails with “y”, ...") and what it says to leave out."""
    return re.sub(r"^If .* fails with “.*”, |(?:instead of|leave out) `[^`]*`", "", told)


def in_order(task: Task, told: Sequence[str]) -> list[str]:
    """The ways of a task: first what is told, in the order in which it is told, then what one would try anyway."""
    plain = set(task.ways[0].split())
    advised = [
        way
        for text in told
        for way in task.ways[1:]
        if all(word in advice_in(text) for word in set(way.split()) - plain)
    ]
    return list(dict.fromkeys((*advised, *task.ways)))


async def session(data_dir: Path, checkout: Path, task: Task) -> Done:
    """One session of an agent: a server process of its own, one task, commands that really run."""
    async with Client(server(data_dir)) as client:
        memory = Memory(client)
        briefing = await memory.call("task_start", goal=task.goal)
        say(f"  start   {task.goal}")
        told = [hit for part in ("rules", "cases") for hit in briefing.get(part, [])]
        for hit in told:
            say(f"          -> {hit['summary']}  ({hit['kind']}, {hit['standing']})")
        if not told:
            say(f"          -> {briefing['message']}")
        tried: list[tuple[str, bool]] = []
        for way in in_order(task, [hit["summary"] for hit in told]):
            ran = subprocess.run(  # noqa: S603  the demo's own script
                [sys.executable, *way.split()[1:]], cwd=checkout, capture_output=True, text=True, check=False
            )
            ok, output = ran.returncode == 0, (ran.stdout + ran.stderr).strip()
            await memory.call("task_step", action="bash", input=way, output=output, ok=ok)
            say(f"  run     {way}\n          -> {'ok' if ok else f'exit code {ran.returncode}'}: {output}")
            tried.append((way, ok))
            if ok:
                break
        end = await memory.call("task_finish", outcome="success" if tried[-1][1] else "failure")
        say(f"  finish  {end['message']}")
        for learned in end.get("learned", []):
            story = await memory.call("memory_explain", memory_id=learned["id"])
            say(f"          learned: {story['memory']['summary']}")
        for credited in end.get("credited", []):
            if credited["why"] == "followed":
                became = f", now {credited['became']}" if credited.get("became") else ""
                say(f"          {credited['credit']:+.0f} followed{became}: {credited['summary']}")
        return Done(briefing["task_id"], told, tried, end)


def report(year: int, goal: str) -> Task:
    """A report of the shop; only with the other source of rates does it work."""
    plain = f"python shop.py report --year {year}"
    return Task(goal, (plain, f"{plain} --currency EUR", f"{plain} --rates ecb"))


async def learning(data_dir: Path, checkout: Path) -> None:
    """A lesson is learned, used, proved; a wrong one is found out. Every session is a process of its own."""
    (checkout / "shop.py").write_text(SHOP, encoding="utf-8")
    say("\nSession 1. A task in a checkout where a program has a trap. The agent fails twice, then finds the way.")
    done = await session(data_dir, checkout, report(2025, "Print the report of 2025 with shop.py"))
    expect([ok for _, ok in done.tried] == [False, False, True], "the plain way fails, and so does the next")
    expect(done.end.get("learned"), "a lesson is drawn from it")

    say("\nSession 2. Another process, another task, another wording. The lesson is there from the start.")
    done = await session(data_dir, checkout, report(2024, "The auditors need the 2024 report out of shop.py"))
    lesson = next((hit for hit in done.told if "--rates ecb" in hit["summary"]), None)
    expect(lesson is not None and lesson["standing"] == "pending", "the lesson is told, and that it is not yet proved")
    expect(done.tried == [("python shop.py report --year 2024 --rates ecb", True)], "it works at once")
    assert lesson is not None  # for readers and checkers; `expect` has made sure
    expect(done.became(lesson["id"]) == "confirmed", "a success in another session proves the lesson")

    say("\nSession 3. An agent writes down something wrong in the user's name: it counts as confirmed at once.")
    async with Client(server(data_dir)) as client:
        wrong = await Memory(client).write(
            "shop.py backup and restore need --fast, otherwise they fail.", kind="lesson", source="user"
        )
        expect(wrong["outcome"] == "stored", "it is believed at first")

    def by_any_way(goal: str, command: str) -> Task:
        plain = f"python shop.py {command}"
        return Task(goal, (plain, f"{plain} --fast", f"{plain} --file shop.tar"))

    say("\nSession 4. An agent follows it and fails. On the way it learns what does work.")
    done = await session(data_dir, checkout, by_any_way("Back up the shop with shop.py", "backup"))
    expect(done.tried[0] == ("python shop.py backup --fast", False), "the wrong lesson is followed, and fails")
    expect(done.became(wrong["id"]) == "pending", "it is no longer held for proved")

    say("\nSession 5. Another task. The wrong lesson has made room for what worked.")
    done = await session(data_dir, checkout, by_any_way("Restore yesterday's orders with shop.py", "restore"))
    expect(all(hit["id"] != wrong["id"] for hit in done.told), "what failed is not told")
    expect(done.tried == [("python shop.py restore --file shop.tar", True)], "it works at once")

    say("\nHow far each is proved, and why, can be read.")
    async with Client(server(data_dir)) as client:
        for id, status, standing in ((lesson["id"], "active", "confirmed"), (wrong["id"], "superseded", "pending")):
            story = await Memory(client).call("memory_explain", memory_id=id)
            shown = story["memory"]
            why = next(event["detail"]["reason"] for event in story["history"][::-1] if "standing" in str(event))
            say(f"  explain {shown['summary']}\n          -> {shown['status']}, {shown['standing']}: {why}")
            expect((shown["status"], shown["standing"]) == (status, standing), f"it is {status} and {standing}")


async def play(data_dir: Path) -> None:
    """The first act: one server process, then a second one on the same file."""
    say("Starting `afterwit mcp` as a client would (stdio, one SQLite file, no API key).")
    async with Client(server(data_dir)) as client:
        tools = await client.list_tools()
        say("Tools: " + ", ".join(tool.name for tool in tools.tools))
        memory = Memory(client)
        secret_id = await first_days(memory)
        await changes(memory)
        await use(memory, secret_id)
    say("\nThe server has stopped. A second process opens the same file.")
    async with Client(server(data_dir)) as client:
        hits = await Memory(client).search("这个用户有什么忌口？")
        expect(hits and "辣" in hits[0]["summary"], "another process sees what the first one wrote")
    expect(without_trace(data_dir, b"K7-4711"), "the erased code is in none of the files")
    say("The erased code is in none of the files' bytes.")


def main() -> int:
    """Play the demo in a directory of its own; 0 when every promise was kept."""
    with tempfile.TemporaryDirectory(prefix="afterwit-demo-") as directory:
        broken: list[str] = []
        data_dir, checkout = Path(directory, "data"), Path(directory, "checkout")
        checkout.mkdir()
        try:
            say("First act: remembering.")
            asyncio.run(play(data_dir))
            say("\nSecond act: learning.")
            asyncio.run(learning(data_dir, checkout))
        except* NotAsPromised as group:  # the client's task group wraps what happens inside it
            broken.append(str(group))
        if broken:
            say("\nNot as promised, see above.")
            return 1
    say("\nEverything went as said. Next: `afterwit init` shows how to connect your own agent.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
