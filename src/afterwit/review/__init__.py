"""Hindsight: what a finished task teaches, what its end says of the memories it used, what has aged.

Pure: records in, values out. `service` wires it to the store.
"""

from afterwit.review.proof import Credit, Lift, Verdict, credits, is_withheld, lift, verdict
from afterwit.review.signatures import Signature, is_failure, signature

__all__ = [
    "Credit",
    "Lift",
    "Signature",
    "Verdict",
    "credits",
    "is_failure",
    "is_withheld",
    "lift",
    "signature",
    "verdict",
]
