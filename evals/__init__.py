"""Evaluation suites: does a search bring back what matters, and only that?

    python -m evals NAME [--data PATH] [--json FILE] [--limit N] [--arms ours,words,...]

`evals.product` is the only file that knows the product; suites turn data into conversations and
questions, `evals.measures` turns outcomes into figures with intervals.
"""
