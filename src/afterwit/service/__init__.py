"""class Afterwit: the verbs. The only place that writes, and that wires steps, storage and models."""

from afterwit.service.afterwit import Afterwit, ImportReport, Story, Version
from afterwit.service.briefing import Briefing
from afterwit.service.conversation import Turn
from afterwit.service.keeping import Keep
from afterwit.service.knowledge import KnowledgeReport
from afterwit.service.naming import Entity
from afterwit.service.options import MAX_K, MAX_RAW_BYTES, MAX_TEXT_BYTES, SearchOptions, UpdateFields, WriteFields
from afterwit.service.places import project_scope, session_name
from afterwit.service.retracting import RollbackPlan
from afterwit.service.reviewing import Consolidation, ReviewReport
from afterwit.service.stepping import StepFields, TaskOptions
from afterwit.service.tasks import Credited, StepReceipt, TaskReceipt
from afterwit.service.tending import CleaningPlan, Intent
from afterwit.service.writing import Writer

__all__ = [
    "MAX_K",
    "MAX_RAW_BYTES",
    "MAX_TEXT_BYTES",
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
    "project_scope",
    "session_name",
]
