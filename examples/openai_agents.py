"""OpenAI's Agents SDK with a memory: tools to search and write it, and hooks that log what the agent does.

To run it for real (OPENAI_BASE_URL and OPENAI_DEFAULT_MODEL choose another server and model):

    pip install 'afterwit[examples]'
    OPENAI_API_KEY=... python examples/openai_agents.py "Print the report of 2025 with shop.py"

The agent runs shell commands in the present directory: begin in one that holds nothing of worth.
"""

import asyncio
import json
import subprocess
import sys
from dataclasses import dataclass
from typing import Any

from agents import Agent, RunContextWrapper, RunHooks, Runner, Tool, function_tool
from agents.tool_context import ToolContext

from afterwit import Afterwit, Briefing


@dataclass
class Work:
    """What tools and hooks share."""

    memory: Afterwit
    briefing: Briefing
    worked: bool = False


@function_tool
def memory_search(work: RunContextWrapper[Work], question: str) -> str:
    """Search what is known from earlier work: facts, wishes of the user, lessons."""
    answer = work.context.memory.search(question)
    return "\n".join(hit.memory.summary for hit in answer.hits) or answer.message


@function_tool
def memory_write(work: RunContextWrapper[Work], statement: str) -> str:
    """Remember one sentence that will still be true and useful in later tasks."""
    return work.context.memory.write(statement, task_id=work.context.briefing.task.id).message


@function_tool
def bash(command: str) -> str:
    """Run a shell command in the present directory."""
    done = subprocess.run(command, shell=True, capture_output=True, text=True, timeout=60, check=False)
    return f"exit code {done.returncode}\n{done.stdout}{done.stderr}"


class LogSteps(RunHooks[Work]):
    """Logs what the agent does as steps of the task; what it does with its memory is none."""

    async def on_tool_end(self, context: RunContextWrapper[Work], agent: Any, tool: Tool, result: object) -> None:
        if isinstance(context, ToolContext) and tool.name == "bash":
            work, given = context.context, json.loads(context.tool_arguments)
            work.worked = str(result).startswith("exit code 0\n")
            work.memory.log_step(work.briefing.task.id, action="bash", input=given, output=str(result), ok=work.worked)


def instructions(work: RunContextWrapper[Work], _agent: Agent[Work]) -> str:
    """What the agent is told, with what earlier work knows about its goal."""
    briefing = work.context.briefing
    known = [hit.memory.summary for hit in (*briefing.rules, *briefing.cases, *briefing.intents)]
    return "Reach the user's goal. Notes from earlier work:\n" + ("\n".join(known) or briefing.message)


async def run(memory: Afterwit, goal: str) -> str:
    """Work on a goal; returns the agent's last words."""
    work = Work(memory, memory.start_task(goal))
    agent = Agent[Work](name="worker", instructions=instructions, tools=[bash, memory_search, memory_write])
    done = await Runner.run(agent, goal, context=work, hooks=LogSteps())
    answer = str(done.final_output)
    # Say how it went as far as you know: by a test, or by what the user says. Here it is the last command's result.
    end = memory.finish_task(work.briefing.task.id, outcome="success" if work.worked else "", summary=answer)
    print(f"Answer: {answer}\nMemory: {end.message}")
    return answer


if __name__ == "__main__":
    with Afterwit.open() as opened:
        asyncio.run(run(opened, " ".join(sys.argv[1:]) or "Say which files are here."))
