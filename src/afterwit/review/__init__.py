"""Hindsight: what a finished task teaches, what its end says of the memories it used, what has aged.

Pure: records in, values out. `service` wires it to the store.
"""

from afterwit.review.episodes import remembered
from afterwit.review.lessons import Finding, Review, review_steps
from afterwit.review.proof import Credit, Lift, Verdict, credits, is_withheld, lift, verdict
from afterwit.review.signatures import Signature, is_failure, signature
from afterwit.review.trajectory import Episode, Point, compress

__all__ = [
    "Credit",
    "Episode",
    "Finding",
    "Lift",
    "Point",
    "Review",
    "Signature",
    "Verdict",
    "compress",
    "credits",
    "is_failure",
    "is_withheld",
    "lift",
    "remembered",
    "review_steps",
    "signature",
    "verdict",
]
