"""A Pydantic AI agent with a memory: tools to search and write it, and a hook that logs what the agent does.

To run it for real (OPENAI_BASE_URL chooses another server, MODEL any model that Pydantic AI knows):

    pip install 'afterwit[examples]'
    OPENAI_API_KEY=... python examples/with_pydantic_ai.py "Print the report of 2025 with shop.py"

The agent runs shell commands in the present directory: begin in one that holds nothing of worth.
"""

import os
import subprocess
import sys
from dataclasses import dataclass
from typing import Any

from pydantic_ai import Agent, RunContext
from pydantic_ai.capabilities import Hooks

from afterwit import Afterwit, Briefing


@dataclass
class Work:
    """What tools and hooks share."""

    memory: Afterwit
    briefing: Briefing
    worked: bool = False


hooks = Hooks[Work]()
agent = Agent(deps_type=Work, capabilities=[hooks])


@agent.instructions
def notes(work: RunContext[Work]) -> str:
    """What the agent is told, with what earlier work knows about its goal."""
    briefing = work.deps.briefing
    known = [hit.memory.summary for hit in (*briefing.rules, *briefing.cases, *briefing.intents)]
    return "Reach the user's goal. Notes from earlier work:\n" + ("\n".join(known) or briefing.message)


@agent.tool
def memory_search(work: RunContext[Work], question: str) -> str:
    """Search what is known from earlier work: facts, wishes of the user, lessons."""
    answer = work.deps.memory.search(question)
    return "\n".join(hit.memory.summary for hit in answer.hits) or answer.message


@agent.tool
def memory_write(work: RunContext[Work], statement: str) -> str:
    """Remember one sentence that will still be true and useful in later tasks."""
    return work.deps.memory.write(statement, task_id=work.deps.briefing.task.id).message


@agent.tool_plain
def bash(command: str) -> dict[str, Any]:
    """Run a shell command in the present directory."""
    done = subprocess.run(command, shell=True, capture_output=True, text=True, timeout=60, check=False)
    return {"exit_code": done.returncode, "output": done.stdout + done.stderr}


@hooks.on.after_tool_execute(tools=["bash"])
def log_step(work: RunContext[Work], /, *, call: Any, tool_def: Any, args: dict[str, Any], result: Any) -> Any:
    """Log what the agent does as a step of the task; what it does with its memory is none."""
    deps = work.deps
    deps.worked = result["exit_code"] == 0
    deps.memory.log_step(deps.briefing.task.id, action="bash", input=args, output=result["output"], ok=deps.worked)
    return result


def run(memory: Afterwit, goal: str) -> str:
    """Work on a goal; returns the agent's last words."""
    work = Work(memory, memory.start_task(goal))
    answer = agent.run_sync(goal, deps=work, model=os.environ.get("MODEL", "openai-chat:gpt-5-mini")).output
    # Say how it went as far as you know: by a test, or by what the user says. Here it is the last command's result.
    end = memory.finish_task(work.briefing.task.id, outcome="success" if work.worked else "", summary=answer)
    print(f"Answer: {answer}\nMemory: {end.message}")
    return answer


if __name__ == "__main__":
    with Afterwit.open() as opened:
        run(opened, " ".join(sys.argv[1:]) or "Say which files are here.")
