"""Content as Gemini CLI and its descendants keep it: a list of parts with text, calls and responses."""

from collections.abc import Iterator, Mapping
from typing import Any

from afterwit.transcripts.events import Returned
from afterwit.transcripts.values import exit_code, kept, mapping, objects, printed, string

#: States of a call that has not come back.
_RUNNING = frozenset(("validating", "scheduled", "executing", "awaiting_approval"))


def texts(content: object) -> list[str]:
    """The texts of the parts, without the thoughts of the model."""
    if isinstance(content, str):
        return [content]
    one = mapping(content)
    parts = [one] if one else objects(content)
    return [text for part in parts if not part.get("thought") and (text := string(part.get("text")))]


def responses(content: object) -> Iterator[Mapping[str, Any]]:
    """What the parts hold of tools' responses: each with `id`, `name`, `response`."""
    for part in objects(content):
        if response := mapping(part.get("functionResponse")):
            yield response


def returned(call: str, response: Mapping[str, Any], status: object) -> Returned:
    """A tool's response, with the state that the client gives the call ("success", "error", "cancelled")."""
    body = mapping(response.get("response"))
    output = printed(body)
    if status == "cancelled":
        return Returned(call, output, None, "refused")
    if status == "error" or (body.get("error") and not body.get("output")):
        return Returned(call, output, False)
    # A shell tool succeeds in running a command that fails.
    code = exit_code(output) if "shell" in string(response.get("name")) else None
    return Returned(call, output, code in (0, None))


def is_running(status: object) -> bool:
    """Whether a call in this state may still bring a result."""
    return string(status) in _RUNNING


def joined(parts: list[str]) -> str:
    """Texts as one that can be kept."""
    return kept("\n".join(parts)).strip()
