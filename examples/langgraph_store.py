"""A LangGraph graph whose long-term store is Afterwit: what a user says in one run is known in the next.

To run it for real (OPENAI_BASE_URL and OPENAI_MODEL choose another server and model):

    pip install 'afterwit[examples]'
    export OPENAI_API_KEY=...
    python examples/langgraph_store.py ann "I eat no chili. What shall I cook?"
    python examples/langgraph_store.py ann "Suggest a dish of noodles."
"""

import json
import os
import sys
from dataclasses import dataclass
from typing import TypedDict
from uuid import uuid4

from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime
from openai import OpenAI

from afterwit import Afterwit
from afterwit.integrations.langgraph import AfterwitStore

REMEMBER = {
    "type": "function",
    "function": {
        "name": "remember",
        "description": "Remember one sentence about the user, such as what they like or must avoid.",
        "parameters": {"type": "object", "properties": {"memory": {"type": "string"}}, "required": ["memory"]},
    },
}


class Chat(TypedDict, total=False):
    """State of the graph."""

    question: str
    messages: list[dict[str, object]]
    answer: str


@dataclass
class User:
    """Whom the graph serves: everybody has a namespace of their own."""

    name: str


def recall(state: Chat, runtime: Runtime[User]) -> Chat:
    """Begin with what is known of this user, what is nearest to the question first."""
    assert runtime.store is not None
    found = runtime.store.search(("users", runtime.context.name), query=state["question"], limit=5)
    notes = "\n".join(item.value["memory"] for item in found) or "nothing"
    system = {"role": "system", "content": f"Answer briefly. Known of the user:\n{notes}"}
    return {"messages": [system, {"role": "user", "content": state["question"]}]}


def answer(state: Chat, runtime: Runtime[User]) -> Chat:
    """Ask the model, and put what it wants remembered into the store."""
    assert runtime.store is not None
    client, messages = OpenAI(), list(state["messages"])
    while True:
        model = os.environ.get("OPENAI_MODEL", "gpt-5-mini")
        said = client.chat.completions.create(model=model, messages=messages, tools=[REMEMBER]).choices[0].message
        messages.append(said.model_dump(exclude_none=True))
        if not said.tool_calls:
            return {"answer": said.content or "", "messages": messages}
        for call in said.tool_calls:
            assert call.type == "function"
            value = json.loads(call.function.arguments)
            runtime.store.put(("users", runtime.context.name), str(uuid4()), value)
            messages.append({"role": "tool", "tool_call_id": call.id, "content": "remembered"})


def run(memory: Afterwit, user: str, question: str) -> str:
    """Answer one question of a user."""
    builder = StateGraph(Chat, context_schema=User)
    builder.add_node(recall).add_node(answer)
    builder.add_edge(START, "recall").add_edge("recall", "answer").add_edge("answer", END)
    # Of a user even what is not about the question may matter. By default only what is relevant to it is found.
    graph = builder.compile(store=AfterwitStore(memory, only_relevant=False))
    return graph.invoke({"question": question}, context=User(user))["answer"]


if __name__ == "__main__":
    with Afterwit.open() as opened:
        print(run(opened, sys.argv[1], " ".join(sys.argv[2:])))
