"""The suites by name. Each takes a `Run` and gives back a `Report`."""

from collections.abc import Callable, Mapping

from evals.report import Report
from evals.running import Run
from evals.simulation import suite as simulation
from evals.suites import beam, dialogues, longmemeval, memconflict, memdaily, own, precision, trajectories

SUITES: Mapping[str, Callable[[Run], Report]] = {
    "precision": precision.evaluate,
    "identifiers": own.evaluate_identifiers,
    "crosslingual": own.evaluate_crosslingual,
    "locomo": dialogues.evaluate_locomo,
    "realtalk": dialogues.evaluate_realtalk,
    "memdaily": memdaily.evaluate,
    "memdaily-noise": memdaily.evaluate_noise,
    "memconflict": memconflict.evaluate,
    "beam": beam.evaluate,
    "longmemeval": longmemeval.evaluate,
    "trajectories": trajectories.evaluate,
    "simulation": simulation.evaluate,
}

__all__ = ["SUITES"]
