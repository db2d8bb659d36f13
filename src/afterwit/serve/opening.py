"""The service behind a server's doors: opened when somebody needs it, and looked after while it is open.

Nothing here imports the service or the MCP SDK before they are needed, for clients wait for a server's start.
"""

import logging
import sys
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

from afterwit.config import Settings
from afterwit.errors import AfterwitError
from afterwit.serve.background import Background

if TYPE_CHECKING:
    from afterwit.service import Afterwit

_log = logging.getLogger(__name__)


class Opening:
    """A service that is opened on first use, or ahead of it in the background.

    A server answers its client before it has loaded what the service needs; a store that cannot be
    opened fails the calls, with the reason, and is tried again by the next one.
    """

    def __init__(self, open_service: "Callable[[], Afterwit]", *, upkeep: bool = False) -> None:
        """Nothing is opened yet.

        Args:
            open_service: opens it.
            upkeep: look after the memory in the background while it is open.
        """
        self._open = open_service
        self._upkeep = upkeep
        self._background: Background | None = None
        self._lock = threading.Lock()
        self._service: Afterwit | None = None

    def get(self) -> "Afterwit":
        """The open service.

        Raises:
            AfterwitError: it cannot be opened.
        """
        with self._lock:
            if self._service is None:
                self._service = self._open()
                self._service.warm()
                if self._upkeep:
                    self._background = Background(self._service)
                    self._background.start()
            return self._service

    def start(self) -> None:
        """Open in the background; an error is logged and met again by the first call."""
        threading.Thread(target=self._try, name="afterwit-open", daemon=True).start()

    def _try(self) -> None:
        try:
            self.get()
        except AfterwitError as error:
            _log.error("%s", error)

    def close(self) -> None:
        """Close what was opened."""
        with self._lock:
            if self._background is not None:
                self._background.close()
                self._background = None
            if self._service is not None:
                self._service.close()
                self._service = None


def open_for_agents(settings: Settings) -> "Afterwit":
    """The service as agents use it: they write with an agent's trust, in one session per process.

    Raises:
        ConfigError: a setting is wrong.
        StorageError: the store cannot be opened.
    """
    from afterwit.records import Trust  # noqa: PLC0415
    from afterwit.service import Afterwit, Writer  # noqa: PLC0415

    return Afterwit.open(settings=settings, writer=Writer(name="agent", trust=Trust.AGENT))


def log_to_stderr(settings: Settings) -> None:
    """Send the logs of this process to standard error, at the level of the settings."""
    logging.basicConfig(
        stream=sys.stderr, level=settings.log_level, format="%(asctime)s %(levelname)s %(name)s: %(message)s"
    )
