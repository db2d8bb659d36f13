"""An agent's loop without a framework, with a memory: what one run finds out, the next one knows.

To run it for real (OPENAI_BASE_URL and OPENAI_MODEL choose another server and model):

    pip install 'afterwit[examples]'
    OPENAI_API_KEY=... python examples/plain_loop.py "Print the report of 2025 with shop.py"

The model runs shell commands in the present directory: begin in one that holds nothing of worth.
"""

import json
import os
import subprocess
import sys

from openai import OpenAI

from afterwit import Afterwit

BASH = {
    "type": "function",
    "function": {
        "name": "bash",
        "description": "Run a shell command in the present directory.",
        "parameters": {"type": "object", "properties": {"command": {"type": "string"}}, "required": ["command"]},
    },
}
MOST_TURNS = 20


def run(memory: Afterwit, goal: str) -> str:
    """Work on a goal until the model stops calling tools; returns what it says in the end."""
    client, model = OpenAI(), os.environ.get("OPENAI_MODEL", "gpt-5-mini")

    # What earlier work knows about such a goal: rules and wishes, lessons and facts, and what was left to do.
    briefing = memory.start_task(goal)
    known = [hit.memory.summary for hit in (*briefing.rules, *briefing.cases, *briefing.intents)]
    notes = "\n".join(f"- {note}" for note in known) or briefing.message
    messages = [
        {"role": "system", "content": f"Reach the user's goal with bash. Notes from earlier work:\n{notes}"},
        {"role": "user", "content": goal},
    ]
    answer, worked = "", False
    for _ in range(MOST_TURNS):
        said = client.chat.completions.create(model=model, messages=messages, tools=[BASH]).choices[0].message
        messages.append(said.model_dump(exclude_none=True))
        answer = said.content or ""
        if not said.tool_calls:
            break
        for call in said.tool_calls:
            assert call.type == "function"
            command = json.loads(call.function.arguments)["command"]
            done = subprocess.run(command, shell=True, capture_output=True, text=True, timeout=60, check=False)
            worked, output = done.returncode == 0, done.stdout + done.stderr
            # Every step is logged with how it went: lessons are drawn from what failed and what then worked.
            memory.log_step(briefing.task.id, action="bash", input=command, output=output, ok=worked)
            messages.append({"role": "tool", "tool_call_id": call.id, "content": f"{done.returncode}: {output}"})

    # Say how it went as far as you know: by a test, or by what the user says. Here it is the last command's result.
    end = memory.finish_task(briefing.task.id, outcome="success" if worked else "", summary=answer)
    print(f"Known before: {notes}\nAnswer: {answer}\nMemory: {end.message}")
    return answer


if __name__ == "__main__":
    with Afterwit.open() as opened:
        run(opened, " ".join(sys.argv[1:]) or "Say which files are here.")
