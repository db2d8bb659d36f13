"""A language model by script, for agents' clients: an HTTP server that speaks as hosted models do, streaming or not.

It answers Anthropic's messages, OpenAI's responses and chat completions, and Gemini's generateContent. Turns are
handed out in order, only to requests that offer tools: clients also ask for titles, routes and the like, which get a
few words. Every request is kept, and written to a file of JSON lines.
"""

import gzip
import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

Values = dict[str, Any]

#: What is said when the script has come to its end, and to requests without tools.
DONE = "Done."


@dataclass(frozen=True)
class Say:
    """The model says something, and is done."""

    text: str


@dataclass(frozen=True)
class Call:
    """The model calls a tool."""

    #: the name that a client offers, or its end: "memory_search" is also "mcp__afterwit__memory_search"
    tool: str
    arguments: Values = field(default_factory=dict[str, Any])


Turn = Say | Call


@dataclass(frozen=True)
class _Tool:
    """A tool that a request offers, with the group that OpenAI's responses may put it in."""

    name: str
    group: str = ""


@dataclass(frozen=True)
class Exchange:
    """One request and what was answered."""

    path: str
    body: Values
    #: names of the tools on offer
    tools: tuple[str, ...]
    #: the turn of the script; None = the request was not for it
    turn: Turn | None


class MockLLM(ThreadingHTTPServer):
    """Answers as scripted, in turn; keeps what it was sent.

    Args:
        log: file that every request is appended to.
    """

    daemon_threads = True

    def __init__(self, log: Path) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.exchanges: list[Exchange] = []
        self.script: list[Turn] = []
        self._log = log
        self._turns = threading.Lock()

    @property
    def url(self) -> str:
        """Where it is, without a path."""
        return f"http://127.0.0.1:{self.server_port}"

    @property
    def asked(self) -> list[Exchange]:
        """The requests that got a turn of a script."""
        return [exchange for exchange in self.exchanges if exchange.turn is not None]

    def begin(self, *script: Turn) -> None:
        """Start anew with a script."""
        with self._turns:
            self.script, self.exchanges = list(script), []

    def answer(self, path: str, body: Values) -> tuple[str, bytes]:
        """Content type and body of an answer.

        Raises:
            KeyError: nothing here is asked for that way.
        """
        speak = _form(path)
        tools = [*_offered(body)]
        with self._turns:
            turn = self.script[0] if tools and self.script else Say(DONE) if tools else None
            called = _find(turn, tools)
            # What is not offered yet may be later: clients add the tools of their servers as these answer.
            if self.script and tools:
                del self.script[0]
            exchange = Exchange(path, body, tuple(tool.name for tool in tools), turn)
            self.exchanges.append(exchange)
            with self._log.open("a", encoding="utf-8") as file:
                file.write(json.dumps({"path": path, "turn": repr(turn), "body": body}, ensure_ascii=False) + "\n")
        events, whole = speak(turn or Say(DONE), called, str(body.get("model", "mock")), len(self.exchanges))
        if body.get("stream") or ":streamGenerateContent" in path:
            return "text/event-stream", "".join(events).encode()
        return "application/json", json.dumps(whole).encode()


@contextmanager
def serving(log: Path) -> Iterator[MockLLM]:
    """A model that answers until the block ends."""
    server = MockLLM(log)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


# --- what is offered ------------------------------------------------------------------------------


def _offered(body: Values) -> Iterator[_Tool]:
    """The tools of a request, in whichever form."""
    for tool in body.get("tools") or []:
        if "functionDeclarations" in tool:
            yield from (_Tool(each["name"]) for each in tool["functionDeclarations"])
        elif tool.get("type") == "namespace":
            yield from (_Tool(each["name"], tool["name"]) for each in tool["tools"])
        elif "function" in tool:
            yield _Tool(tool["function"]["name"])
        elif "name" in tool:
            yield _Tool(tool["name"])


def _find(turn: Turn | None, tools: list[_Tool]) -> _Tool:
    """The tool that a turn calls; one that is not offered is called all the same, and the client says so."""
    wanted = turn.tool if isinstance(turn, Call) else ""
    exact = (tool for tool in tools if tool.name == wanted)
    alike = (tool for tool in tools if tool.name.endswith(wanted))
    return next(exact, None) or next(alike, None) or _Tool(wanted)


# --- the forms of the hosted models ---------------------------------------------------------------

#: turn, tool that it calls, model, number of the request -> the events of a stream, and the answer as a whole
_Form = Callable[[Turn, _Tool, str, int], tuple[list[str], Values]]


def _event(name: str, values: Values) -> str:
    return f"event: {name}\ndata: {json.dumps({'type': name} | values)}\n\n"


def _anthropic(turn: Turn, tool: _Tool, model: str, number: int) -> tuple[list[str], Values]:
    """https://docs.claude.com/en/api/messages-streaming"""
    if isinstance(turn, Say):
        block: Values = {"type": "text", "text": turn.text}
        empty, delta = {"type": "text", "text": ""}, {"type": "text_delta", "text": turn.text}
    else:
        block = {"type": "tool_use", "id": f"toolu_{number:04}", "name": tool.name, "input": turn.arguments}
        empty = block | {"input": {}}
        delta = {"type": "input_json_delta", "partial_json": json.dumps(turn.arguments)}
    stop = {"stop_reason": "end_turn" if isinstance(turn, Say) else "tool_use", "stop_sequence": None}
    usage = {"input_tokens": 10, "output_tokens": 5}
    head = {"id": f"msg_{number:04}", "type": "message", "role": "assistant", "model": model, "usage": usage}
    started = head | {"content": [], "stop_reason": None, "stop_sequence": None}
    events = [
        _event("message_start", {"message": started}),
        _event("content_block_start", {"index": 0, "content_block": empty}),
        _event("content_block_delta", {"index": 0, "delta": delta}),
        _event("content_block_stop", {"index": 0}),
        _event("message_delta", {"delta": stop, "usage": {"output_tokens": 5}}),
        _event("message_stop", {}),
    ]
    return events, head | {"content": [block]} | stop


def _responses(turn: Turn, tool: _Tool, model: str, number: int) -> tuple[list[str], Values]:
    """https://platform.openai.com/docs/api-reference/responses-streaming"""
    if isinstance(turn, Say):
        content = [{"type": "output_text", "text": turn.text, "annotations": []}]
        item: Values = {"type": "message", "id": f"msg_{number}", "role": "assistant", "content": content}
    else:
        item = {"type": "function_call", "id": f"fc_{number}", "call_id": f"call_{number:04}", "name": tool.name}
        item |= {"arguments": json.dumps(turn.arguments)} | ({"namespace": tool.group} if tool.group else {})
    item["status"] = "completed"
    usage = {
        "input_tokens": 10,
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens": 5,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": 15,
    }
    head = {"id": f"resp_{number:04}", "object": "response", "created_at": 1, "model": model}
    whole = head | {"status": "completed", "output": [item], "usage": usage}
    events = [
        _event("response.created", {"response": head | {"status": "in_progress", "output": []}}),
        _event("response.output_item.added", {"output_index": 0, "item": item}),
        _event("response.output_item.done", {"output_index": 0, "item": item}),
        _event("response.completed", {"response": whole}),
    ]
    return events, whole


def _chat(turn: Turn, tool: _Tool, model: str, number: int) -> tuple[list[str], Values]:
    """https://platform.openai.com/docs/api-reference/chat-streaming"""
    if isinstance(turn, Say):
        message: Values = {"role": "assistant", "content": turn.text}
    else:
        function = {"name": tool.name, "arguments": json.dumps(turn.arguments)}
        call = {"index": 0, "id": f"call_{number:04}", "type": "function", "function": function}
        message = {"role": "assistant", "content": None, "tool_calls": [call]}
    why = "stop" if isinstance(turn, Say) else "tool_calls"
    usage = {"usage": {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}}
    head: Values = {"id": f"chat_{number:04}", "object": "chat.completion", "created": 1, "model": model}
    part = head | {"object": "chat.completion.chunk"}
    chunks = [
        part | {"choices": [{"index": 0, "delta": message, "finish_reason": None}]},
        part | {"choices": [{"index": 0, "delta": {}, "finish_reason": why}]} | usage,
    ]
    whole = head | {"choices": [{"index": 0, "message": message, "finish_reason": why}]} | usage
    return [*(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks), "data: [DONE]\n\n"], whole


def _gemini(turn: Turn, tool: _Tool, model: str, _number: int) -> tuple[list[str], Values]:
    """https://ai.google.dev/api/generate-content"""
    part: Values = (
        {"text": turn.text} if isinstance(turn, Say) else {"functionCall": {"name": tool.name, "args": turn.arguments}}
    )
    whole: Values = {
        "candidates": [{"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0}],
        "usageMetadata": {"promptTokenCount": 10, "candidatesTokenCount": 5, "totalTokenCount": 15},
        "modelVersion": model,
    }
    return [f"data: {json.dumps(whole)}\r\n\r\n"], whole


_FORMS: dict[str, _Form] = {
    "/messages": _anthropic,
    "/responses": _responses,
    "/chat/completions": _chat,
    ":generateContent": _gemini,
    ":streamGenerateContent": _gemini,
}


def _form(path: str) -> _Form:
    return next(form for end, form in _FORMS.items() if path.endswith(end))


class _Handler(BaseHTTPRequestHandler):
    server: MockLLM
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self._send("application/json", b'{"data": [], "models": []}')

    def do_HEAD(self) -> None:
        self._send("application/json", b"")

    def do_POST(self) -> None:
        given = self.rfile.read(int(self.headers.get("content-length") or 0))
        if self.headers.get("content-encoding") == "gzip":
            given = gzip.decompress(given)
        path = self.path.partition("?")[0]
        if not path.endswith(tuple(_FORMS)):
            self._send("application/json", b'{"input_tokens": 10, "totalTokens": 10}')
            return
        self._send(*self.server.answer(path, json.loads(given)))

    def _send(self, kind: str, body: bytes) -> None:
        self.send_response(200)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing on standard error."""
