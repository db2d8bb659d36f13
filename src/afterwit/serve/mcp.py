"""The MCP server, on the official SDK: `build_server` for any transport, `run_stdio` for a client that starts it.

Start-up order is what a client waits for: import the SDK, answer `initialize`, and only then load
the store and the embedder in the background. The verbs are synchronous and run in threads.
"""

import json
import logging
import os
import signal
import threading
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from functools import partial
from types import FrameType
from typing import TYPE_CHECKING, Any, cast

import anyio
import anyio.to_thread
import mcp_types as types
from mcp.server.caching import CacheHint
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.shared._stream_protocols import ReadStream, WriteStream
from mcp.shared.exceptions import MCPError
from mcp.shared.message import SessionMessage
from pydantic import ValidationError

from afterwit import __version__
from afterwit.config import Settings
from afterwit.serve.opening import Opening, log_to_stderr, open_for_agents
from afterwit.serve.tools import BY_NAME, INSTRUCTIONS, TOOLS, ToolSpec, unknown_tool

if TYPE_CHECKING:
    from afterwit.serve.calls import Called
    from afterwit.service import Afterwit

_log = logging.getLogger(__name__)

#: Calls carried out at once; the rest wait. Reading and writing the pipe does not count.
CALLS_AT_ONCE = 16

#: Name under which clients call their hooks as a tool. It is not listed: no model has any use for it.
HOOK_TOOL = "memory_hook"

#: How long a client may keep the list of tools, in milliseconds: it only changes with the version.
TOOLS_FRESH_MS = 3_600_000

#: Longest wait, in seconds, for calls that are under way when the client closes the pipe.
LAST_ANSWERS_S = 10.0


def build_server(get_service: "Callable[[], Afterwit]") -> Server[Any]:
    """The server with its tools; the same for every transport.

    Args:
        get_service: gives the open service, perhaps after a wait; called in a thread for each call.
    """
    limiter = anyio.CapacityLimiter(CALLS_AT_ONCE)
    listed = [_tool(spec) for spec in TOOLS]

    async def list_tools(
        _context: ServerRequestContext[Any], _params: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        return types.ListToolsResult(tools=listed)

    async def call_tool(
        _context: ServerRequestContext[Any], params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        if params.name == HOOK_TOOL:
            told = await anyio.to_thread.run_sync(partial(_hook, get_service, params.arguments or {}), limiter=limiter)
            # Clients read the text as they read a hook's standard output.
            return types.CallToolResult(content=[types.TextContent(type="text", text=told)])
        if params.name not in BY_NAME:
            raise MCPError(types.INVALID_PARAMS, str(unknown_tool(params.name)))
        # Not abandoned when the client cancels: a write that has begun ends as a whole.
        work = partial(_call, get_service, params.name, params.arguments)
        called = await anyio.to_thread.run_sync(work, limiter=limiter)
        return types.CallToolResult(
            content=[types.TextContent(type="text", text=called.text)],
            structured_content=called.values,
            is_error=called.is_error,
        )

    return Server(
        "afterwit",
        version=__version__,
        title="Afterwit memory",
        instructions=INSTRUCTIONS,
        cache_hints={"tools/list": CacheHint(ttl_ms=TOOLS_FRESH_MS, scope="public")},
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )


def _call(get_service: "Callable[[], Afterwit]", name: str, arguments: Mapping[str, Any] | None) -> "Called":
    """Carry out a call of a tool."""
    from afterwit.serve.calls import call  # noqa: PLC0415  brings the text layer along

    return call(get_service, name, arguments)


def _hook(get_service: "Callable[[], Afterwit]", arguments: Mapping[str, Any]) -> str:
    """Answer a hook that comes as a call of a tool."""
    from afterwit.serve.hooks import attempt  # noqa: PLC0415  brings the text layer along

    hooked = attempt(get_service, arguments, event=str(arguments.get("hook_event_name", "")))
    if hooked.later is not None:
        threading.Thread(target=hooked.later, name="afterwit-follow", daemon=True).start()
    return json.dumps(hooked.output, ensure_ascii=False)


def _tool(spec: ToolSpec) -> types.Tool:
    return types.Tool.model_validate(
        {
            "name": spec.name,
            "description": spec.description,
            "inputSchema": spec.schema,
            "annotations": {
                "readOnlyHint": spec.is_read_only,
                "destructiveHint": spec.is_destructive,
                "idempotentHint": spec.is_idempotent,
                "openWorldHint": False,
            },
        }
        | ({"_meta": spec.meta} if spec.meta else {})
    )


# --- stdio ---------------------------------------------------------------------------------------


def run_stdio(settings: Settings) -> None:
    """Serve one client over standard input and output until it closes them, or SIGINT or SIGTERM.

    Everything acknowledged is committed, so a signal ends the process at once. Standard output
    carries nothing but the protocol; logs go to standard error.
    """
    log_to_stderr(settings)
    for number in (signal.SIGINT, signal.SIGTERM):
        # The thread that waits for input cannot be interrupted, so an orderly return would hang.
        signal.signal(number, _leave)
    opening = Opening(partial(open_for_agents, settings))
    try:
        anyio.run(_serve_stdio, opening)
    except* (BrokenPipeError, anyio.BrokenResourceError, anyio.ClosedResourceError):
        # Nobody is left to answer, which is an end like any other.
        _log.info("The client closed the pipe.")
    finally:
        opening.close()


def _leave(_number: int, _frame: FrameType | None) -> None:
    os._exit(0)


async def _serve_stdio(opening: Opening) -> None:
    server = build_server(opening.get)
    async with stdio_server() as (incoming, outgoing):
        try:
            async with answering_all(incoming, outgoing, on_first_answer=opening.start) as (reads, writes):
                await server.run(reads, writes, server.create_initialization_options())
        except anyio.get_cancelled_exc_class():
            # The client stopped listening. It may still hold the input open, and the thread that waits for that
            # cannot be interrupted; what was acknowledged is committed.
            _log.info("The client closed the pipe.")
            opening.close()
            os._exit(0)


@asynccontextmanager
async def answering_all(
    incoming: ReadStream[SessionMessage | Exception],
    outgoing: WriteStream[SessionMessage],
    *,
    on_first_answer: Callable[[], None],
) -> AsyncGenerator[tuple[ReadStream[SessionMessage | Exception], WriteStream[SessionMessage]]]:
    """Streams between pipe and SDK that leave no request unanswered.

    The SDK drops calls under way when input ends, and says nothing to input that it cannot read;
    a script that pipes requests in, or a client with a broken message, would wait or guess.
    """
    to_sdk, reads = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    writes, from_sdk = anyio.create_memory_object_stream[SessionMessage](0)
    unanswered: set[types.RequestId] = set()
    answered = anyio.Event()

    async def relay_in() -> None:
        nonlocal answered
        async with to_sdk:
            async for item in incoming:
                if isinstance(item, Exception):
                    await outgoing.send(SessionMessage(_unreadable(item)))
                    continue
                _note_request(unanswered, item)
                await to_sdk.send(item)
            with anyio.move_on_after(LAST_ANSWERS_S):
                while unanswered:
                    answered = anyio.Event()
                    await answered.wait()

    async def relay_out() -> None:
        is_first = True
        async with from_sdk:
            async for item in from_sdk:
                await outgoing.send(item)
                if isinstance(item.message, (types.JSONRPCResponse, types.JSONRPCError)):
                    unanswered.discard(cast("types.RequestId", item.message.id))
                    answered.set()
                if is_first:
                    is_first = False
                    on_first_answer()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(relay_in)
        tasks.start_soon(relay_out)
        yield cast("ReadStream[SessionMessage | Exception]", reads), cast("WriteStream[SessionMessage]", writes)
        tasks.cancel_scope.cancel()
    await outgoing.aclose()


def _note_request(unanswered: set[types.RequestId], item: SessionMessage) -> None:
    """Keep account of requests that wait for an answer; a cancelled one waits no more."""
    message = item.message
    if isinstance(message, types.JSONRPCRequest):
        unanswered.add(message.id)
    elif isinstance(message, types.JSONRPCNotification) and message.method == "notifications/cancelled":
        unanswered.discard((message.params or {}).get("requestId", ""))


def _unreadable(error: Exception) -> types.JSONRPCError:
    """The answer to a line that is not a JSON-RPC message, with its id if one can be made out."""
    code, message, raw = types.PARSE_ERROR, "Not JSON-RPC 2.0. Send one JSON object per line.", None
    if isinstance(error, ValidationError):
        details = error.errors(include_url=False)
        if any(detail["type"] != "json_invalid" for detail in details):
            code = types.INVALID_REQUEST
        raw = next((_id_in(detail["input"]) for detail in details if _id_in(detail["input"]) is not None), None)
    return types.JSONRPCError(jsonrpc="2.0", id=raw, error=types.ErrorData(code=code, message=message))


def _id_in(value: Any) -> types.RequestId | None:
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return None
    found: Any = cast("dict[str, Any]", value).get("id") if isinstance(value, dict) else None
    return found if isinstance(found, (int, str)) and not isinstance(found, bool) else None
