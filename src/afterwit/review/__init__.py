"""Hindsight: what a finished task teaches, what its end says of the memories it used, what has aged.

Pure: records in, values out. `service` wires it to the store.
"""

from afterwit.review.proof import Credit, Lift, Verdict, credits, is_withheld, lift, verdict

__all__ = ["Credit", "Lift", "Verdict", "credits", "is_withheld", "lift", "verdict"]
