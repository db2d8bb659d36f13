"""`python -m evals NAME`: run suites and print one table each."""

import argparse
import sys
from pathlib import Path

from evals.product import ARMS, AfterwitError, check_embedder
from evals.report import RESULTS, as_json, table
from evals.running import DataMissing, DataUnusable, Run
from evals.suites import SUITES


def main(arguments: list[str] | None = None) -> int:
    """Run the named suites.

    Returns:
        0; 2 when something could not be run: an unknown arm or embedder, no data or data that cannot be read.
        `all` passes over what has no data.
    """
    options = _parser().parse_args(arguments)
    arms = tuple(arm.strip() for arm in options.arms.split(",") if arm.strip())
    unknown = [arm for arm in arms if arm not in ARMS]
    if unknown:
        print(f"Unknown arm {unknown[0]!r}; there are: {', '.join(ARMS)}.", file=sys.stderr)
        return 2
    try:
        check_embedder(options.embedder)
    except AfterwitError as error:
        print(error, file=sys.stderr)
        return 2
    names = list(SUITES) if options.name == "all" else [options.name]
    ran, failed = 0, 0
    for name in names:
        try:
            report = SUITES[name](Run(options.data, options.limit, arms, options.embedder, options.first))
        except DataMissing as error:
            print(f"{name}: {error}", file=sys.stderr)
            continue
        except (DataUnusable, AfterwitError) as error:
            print(f"{name}: {error}", file=sys.stderr)
            failed += 1
            continue
        ran += 1
        print(table(report, detail=options.detail), flush=True)
        if options.failures:
            print("\n".join(report.failures), flush=True)
        path = options.json or (RESULTS / f"{name}.json" if options.keep else None)
        if path is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(as_json(report), encoding="utf-8")
    return 0 if ran and not failed else 2


def _count(text: str) -> int:
    """A number of cases, for the parser."""
    if not text.isascii() or not text.isdigit():
        raise argparse.ArgumentTypeError(f"must be a whole number, 0 or more, not {text!r}")
    return int(text)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m evals", description=__doc__)
    parser.add_argument("name", choices=[*SUITES, "all"], metavar="NAME", help=", ".join([*SUITES, "all"]))
    parser.add_argument("--data", type=Path, help="folder with one sub-folder per data set; else AFTERWIT_DATA")
    parser.add_argument("--json", type=Path, help="write the figures to this file")
    parser.add_argument("--keep", action="store_true", help="write the figures to evals/results/NAME.json")
    parser.add_argument(
        "--failures", action="store_true", help="list the cases that went wrong, where a suite has them"
    )
    parser.add_argument("--detail", action="store_true", help="show every group for every arm")
    parser.add_argument(
        "--limit", type=_count, default=0, help="at most so many conversations, worlds or personas; 0 = all"
    )
    parser.add_argument("--first", type=_count, default=0, help="the first seed, for suites that draw their cases")
    parser.add_argument("--arms", default=",".join(ARMS), help=f"which of {', '.join(ARMS)}")
    parser.add_argument("--embedder", default="use", help='as in the setting of that name; "none" = words only')
    return parser


if __name__ == "__main__":
    sys.exit(main())
