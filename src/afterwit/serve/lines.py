"""Lines of a stream of bytes."""

import contextlib

import anyio
import anyio.abc


class Lines:
    """What comes from a stream, line by line, or what is left of it."""

    def __init__(self, stream: anyio.abc.ByteReceiveStream) -> None:
        self._stream = stream
        self._rest = bytearray()

    async def next(self, most: int) -> bytes:
        """The next line, without its end. Nothing is lost when the wait for it is cancelled.

        Raises:
            EndOfStream: there is none.
            ValueError: it is longer than `most` bytes.
        """
        start = 0
        while (end := self._rest.find(b"\n", start)) < 0:
            if len(self._rest) > most:
                raise ValueError(f"a line is longer than {most} bytes")
            start = len(self._rest)
            try:
                self._rest += await self._stream.receive()
            except anyio.EndOfStream:
                if not self._rest:
                    raise
                self._rest += b"\n"
        line = bytes(self._rest[:end])
        del self._rest[: end + 1]
        return line

    async def rest(self, most: int) -> bytes:
        """All that is left.

        Raises:
            ValueError: it is more than `most` bytes.
        """
        with contextlib.suppress(anyio.EndOfStream):
            while len(self._rest) <= most:
                self._rest += await self._stream.receive()
        if len(self._rest) > most:
            raise ValueError(f"more than {most} bytes")
        return bytes(self._rest)
