"""Afterwit: long-term memory for LLM agents that turns what has happened into what to do next time.

Example:
    >>> from afterwit import Afterwit
    >>> memory = Afterwit.open()
    >>> memory.write("The user prefers concise answers.", kind="preference")
    >>> memory.search("How long should my answer be?").hits

Names are loaded when they are first used, so that importing the package costs next to nothing.
"""

from afterwit.version import VERSION

TYPE_CHECKING = False  # that of `typing`, which takes longer than all else that a hook does
if TYPE_CHECKING:
    from typing import Any

    from afterwit.config import Settings, load_settings
    from afterwit.digest import Digest
    from afterwit.errors import (
        AfterwitError,
        ConfigError,
        Conflict,
        Forbidden,
        InvalidInput,
        NotFound,
        ProviderError,
        StorageError,
        TooManyRequests,
        Unauthenticated,
    )
    from afterwit.recall import Hit, SearchAnswer
    from afterwit.records import (
        Alias,
        Basis,
        Event,
        Kind,
        Link,
        LinkType,
        Memory,
        Outcome,
        Receipt,
        Source,
        Standing,
        Status,
        Step,
        Task,
        TaskStatus,
        Trust,
        Use,
    )
    from afterwit.review import Lift
    from afterwit.review.health import Health
    from afterwit.service import (
        Afterwit,
        Briefing,
        CleaningPlan,
        Consolidation,
        Credited,
        Entity,
        ImportReport,
        Intent,
        Keep,
        KnowledgeReport,
        ReviewReport,
        RollbackPlan,
        SearchOptions,
        StepFields,
        StepReceipt,
        Story,
        TaskOptions,
        TaskReceipt,
        Turn,
        UpdateFields,
        Version,
        WriteFields,
        Writer,
    )

__version__ = VERSION

_MODULES: dict[str, tuple[str, ...]] = {
    "afterwit.config": ("Settings", "load_settings"),
    "afterwit.digest": ("Digest",),
    "afterwit.errors": (
        "AfterwitError",
        "ConfigError",
        "Conflict",
        "Forbidden",
        "InvalidInput",
        "NotFound",
        "ProviderError",
        "StorageError",
        "TooManyRequests",
        "Unauthenticated",
    ),
    "afterwit.recall": ("Hit", "SearchAnswer"),
    "afterwit.records": (
        "Alias",
        "Basis",
        "Event",
        "Kind",
        "Link",
        "LinkType",
        "Memory",
        "Outcome",
        "Receipt",
        "Source",
        "Standing",
        "Status",
        "Step",
        "Task",
        "TaskStatus",
        "Trust",
        "Use",
    ),
    "afterwit.review": ("Lift",),
    "afterwit.review.health": ("Health",),
    "afterwit.service": (
        "Afterwit",
        "Briefing",
        "CleaningPlan",
        "Consolidation",
        "Credited",
        "Entity",
        "ImportReport",
        "Intent",
        "Keep",
        "KnowledgeReport",
        "ReviewReport",
        "RollbackPlan",
        "SearchOptions",
        "StepFields",
        "StepReceipt",
        "Story",
        "TaskOptions",
        "TaskReceipt",
        "Turn",
        "UpdateFields",
        "Version",
        "WriteFields",
        "Writer",
    ),
}
_HOME = {name: module for module, names in _MODULES.items() for name in names}

__all__ = [
    "Afterwit",
    "AfterwitError",
    "Alias",
    "Basis",
    "Briefing",
    "CleaningPlan",
    "ConfigError",
    "Conflict",
    "Consolidation",
    "Credited",
    "Digest",
    "Entity",
    "Event",
    "Forbidden",
    "Health",
    "Hit",
    "ImportReport",
    "Intent",
    "InvalidInput",
    "Keep",
    "Kind",
    "KnowledgeReport",
    "Lift",
    "Link",
    "LinkType",
    "Memory",
    "NotFound",
    "Outcome",
    "ProviderError",
    "Receipt",
    "ReviewReport",
    "RollbackPlan",
    "SearchAnswer",
    "SearchOptions",
    "Settings",
    "Source",
    "Standing",
    "Status",
    "Step",
    "StepFields",
    "StepReceipt",
    "StorageError",
    "Story",
    "Task",
    "TaskOptions",
    "TaskReceipt",
    "TaskStatus",
    "TooManyRequests",
    "Trust",
    "Turn",
    "Unauthenticated",
    "UpdateFields",
    "Use",
    "Version",
    "WriteFields",
    "Writer",
    "__version__",
    "load_settings",
]


def __getattr__(name: str) -> "Any":
    """Load a public name from where it lives."""
    from importlib import import_module  # noqa: PLC0415  see above

    module = _HOME.get(name)
    if module is None:
        raise AttributeError(f"module 'afterwit' has no attribute {name!r}")
    value = getattr(import_module(module), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
