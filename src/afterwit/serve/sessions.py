"""MCP sessions over streams of bytes that somebody else accepts: what of the daemon needs the MCP SDK.

Importing the SDK takes longer than a client that starts a session cares to wait for a hook, which needs none of it.
"""

import logging
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any

import anyio
import anyio.abc
import mcp_types as types
from mcp.shared.message import SessionMessage

from afterwit.serve.mcp import LAST_ANSWERS_S, answering_all, build_server

if TYPE_CHECKING:
    from afterwit.service import Afterwit

_log = logging.getLogger(__name__)


async def serve_session(
    get_service: "Callable[[], Afterwit]",
    next_line: Callable[[], Awaitable[bytes]],
    stream: anyio.abc.ByteSendStream,
    *,
    on_first_answer: Callable[[], None],
) -> None:
    """Serve one client until its lines end, and let it have the answers to all that it has asked.

    Args:
        get_service: gives the open service, perhaps after a wait; called in a thread for each call.
        next_line: what the client says next; `EndOfStream` when there is no more.
        stream: to the client.
        on_first_answer: called once the client has its first answer.
    """
    server = build_server(get_service)
    async with (
        _messages(next_line, stream) as (incoming, outgoing),
        answering_all(incoming, outgoing, on_first_answer=on_first_answer) as (reads, writes),
    ):
        await server.run(reads, writes, server.create_initialization_options())


async def _line_or_end(next_line: Callable[[], Awaitable[bytes]]) -> bytes | None:
    try:
        return await next_line()
    except ValueError as error:
        _log.error("A client's session ends: %s.", error)
    except (anyio.EndOfStream, anyio.BrokenResourceError, anyio.ClosedResourceError):
        pass
    return None


@asynccontextmanager
async def _messages(
    next_line: Callable[[], Awaitable[bytes]], stream: anyio.abc.ByteSendStream
) -> AsyncGenerator[tuple[Any, Any]]:
    """The SDK's streams of messages over lines of JSON."""
    to_sdk, reads = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    writes, from_sdk = anyio.create_memory_object_stream[SessionMessage](0)

    async def relay_in() -> None:
        async with to_sdk:
            while True:
                line = await _line_or_end(next_line)
                if line is None:
                    return
                if not line.strip():
                    continue
                try:
                    message = types.jsonrpc_message_adapter.validate_json(line.decode(errors="replace"), by_name=False)
                except ValueError as error:
                    await to_sdk.send(error)
                else:
                    await to_sdk.send(SessionMessage(message))

    async def relay_out() -> None:
        async with from_sdk:
            async for item in from_sdk:
                told = item.message.model_dump_json(by_alias=True, exclude_unset=True)
                with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):  # it left without reading
                    await stream.send(told.encode() + b"\n")

    sent = anyio.Event()

    async def send_all() -> None:
        try:
            await relay_out()
        finally:
            sent.set()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(relay_in)
        tasks.start_soon(send_all)
        yield reads, writes
        with anyio.move_on_after(LAST_ANSWERS_S):
            await sent.wait()
        tasks.cancel_scope.cancel()
