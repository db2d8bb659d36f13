"""Where programs keep their configuration on this machine."""

import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

System = Literal["linux", "darwin", "win32"]


@dataclass(frozen=True)
class Machine:
    """A user's place on a system."""

    system: System
    home: Path
    environ: Mapping[str, str]
    #: the directory of the project at hand
    directory: Path

    @classmethod
    def here(cls) -> "Machine":
        """This one."""
        system: System = "win32" if sys.platform == "win32" else "darwin" if sys.platform == "darwin" else "linux"
        return cls(system, Path.home(), os.environ, Path.cwd())

    def place(self, form: str) -> Path | None:
        """A path from its form.

        Args:
            form: begins with "~" (the home directory), "{config}" (where the system keeps programs' settings),
                "{xdg}" (the same on every system, as some programs do), "{zed}" (where Zed keeps its own),
                "$NAME" (a variable), or is relative to the project.

        Returns:
            The path; None when the variable is not set.
        """
        first, _, rest = form.partition("/")
        match first:
            case "~":
                base = self.home
            case "{config}":
                base = self._config()
            case "{xdg}":
                base = self._xdg()
            case "{zed}":
                base = self._zed()
            case _ if first.startswith("$"):
                if not (value := self.environ.get(first[1:])):
                    return None
                base = Path(value).expanduser()
            case _:
                return self.directory / form
        return base / rest if rest else base

    def _config(self) -> Path:
        match self.system:
            case "win32":
                return Path(self.environ.get("APPDATA") or self.home / "AppData" / "Roaming")
            case "darwin":
                return self.home / "Library" / "Application Support"
            case _:
                return self._xdg()

    def _xdg(self) -> Path:
        return Path(self.environ.get("XDG_CONFIG_HOME") or self.home / ".config")

    def _zed(self) -> Path:
        match self.system:
            case "win32":
                return self._config() / "Zed"
            case "darwin":
                return self.home / ".config" / "zed"
            case _:
                return self._xdg() / "zed"

    def choose(self, forms: Sequence[str]) -> Path:
        """Which of several places a program uses: a variable decides, else what exists, else the first."""
        places = [(form, place) for form in forms if (place := self.place(form)) is not None]
        for form, place in places:
            if form.startswith("$"):
                return place
        return next((place for _, place in places if place.exists()), places[0][1])

    def has(self, program: str) -> bool:
        """Whether a program is on the path."""
        return shutil.which(program, path=self.environ.get("PATH", "")) is not None

    def command_line(self, words: Sequence[str], variables: Mapping[str, str]) -> str:
        """Words as one line for the shell that clients run hooks with.

        On Windows that is Git Bash, PowerShell or cmd, which have no form for variables in common: they are left out.
        """
        if self.system == "win32":
            # Bash eats backslashes outside of quotes.
            return " ".join(f'"{word}"' if "\\" in word else subprocess.list2cmdline([word]) for word in words)
        return " ".join([*(f"{name}={shlex.quote(value)}" for name, value in variables.items()), shlex.join(words)])
