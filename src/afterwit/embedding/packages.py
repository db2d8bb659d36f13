"""Optional packages: whether they are installed, what to type when not, and digests of what they ship."""

import base64
import hashlib
import importlib.util
from collections.abc import Iterable
from functools import cache
from importlib import metadata
from pathlib import Path

from afterwit.errors import ConfigError, ProviderError, Sentence


def require(
    modules: Iterable[str], *, value: str, install: str, setting: str = "embedder", otherwise: str = "use"
) -> None:
    """Check that modules can be imported, without importing them.

    Args:
        modules: their top-level names.
        value: of the setting that needs them, for the message.
        install: what pip has to install.
        setting: its name.
        otherwise: a value of it that needs nothing; may be empty.

    Raises:
        ConfigError: one is missing; names the pip command.
    """
    for module in modules:
        if importlib.util.find_spec(module) is None:
            raise ConfigError(
                Sentence(
                    "The {setting} {value!r} needs the package {module}, which is not installed.",
                    setting=setting,
                    value=value,
                    module=module,
                ),
                next_step=Sentence(
                    "Run pip install '{install}', or set {setting} to {otherwise}."
                    if otherwise
                    else "Run pip install '{install}', or leave {setting} empty.",
                    install=install,
                    setting=setting,
                    otherwise=otherwise,
                ),
            )


def package_dir(module: str) -> Path:
    """Folder of an installed module, without importing it.

    Raises:
        ProviderError: it has none.
    """
    spec = importlib.util.find_spec(module)
    if spec is None or spec.origin is None:
        raise ProviderError(
            Sentence("The module {module} is not installed.", module=module),
            next_step="Install it, or set embedder to use.",
        )
    return Path(spec.origin).parent


def version(distribution: str) -> str:
    """Version of an installed distribution; "unknown" when its metadata is gone."""
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return "unknown"


def recorded_digest(distribution: str, file: Path) -> str:
    """First 8 hexadecimal digits of a file's SHA-256, as the installer recorded it if it did."""
    try:
        files = metadata.files(distribution) or []
    except metadata.PackageNotFoundError:
        files = []
    for one in files:
        if one.name == file.name and one.hash is not None and one.hash.mode == "sha256":
            return base64.urlsafe_b64decode(one.hash.value + "==").hex()[:8]
    return digest((file,))


def digest(files: Iterable[Path]) -> str:
    """First 8 hexadecimal digits of the SHA-256 of several files, in the order of their paths: 1 s for 0.5 to 1 GB.

    Raises:
        ProviderError: one cannot be read.
    """
    return _digest(tuple((path, path.stat().st_mtime_ns, path.stat().st_size) for path in sorted(files)))


@cache
def _digest(stamped: tuple[tuple[Path, int, int], ...]) -> str:
    total = hashlib.sha256()
    for path, _, _ in stamped:
        try:
            with path.open("rb") as file:
                total.update(
                    path.name.encode("utf-8", "surrogateescape") + hashlib.file_digest(file, "sha256").digest()
                )
        except OSError as error:
            raise ProviderError(
                Sentence("Cannot read {path}: {strerror}.", path=path, strerror=error.strerror),
                next_step="Check the file and its rights.",
            ) from error
    return total.hexdigest()[:8]
