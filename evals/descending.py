"""How the readers learn: lesson by lesson, down the slope of one loss."""

import random
from collections.abc import Callable
from typing import Any


def descend(
    torch: Any,
    lessons: "list[Callable[[], dict[str, Any]]]",
    scores: Any,
    hold: Any,
    edge: Any,
    groups: Any,
    epochs: int,
) -> None:
    """Train by Adam, at rates that fall to nothing.

    Args:
        torch: the package.
        lessons: each gives tensors, `wanted` among them, of shape (questions, memories): see `fit_reading.Lesson`.
        scores: of those tensors, the log-odds, shape (questions, memories), but for the edge.
        hold: what is lost by having moved.
        edge: the score from which something is an answer; a parameter.
        groups: parameters, and the rate at which they begin.
        epochs: passes over the lessons.
    """
    optimiser = torch.optim.Adam([{"params": parameters, "lr": rate} for parameters, rate in groups])
    order = list(lessons)
    for epoch in range(epochs):
        random.shuffle(order)
        for group, (_, rate) in zip(optimiser.param_groups, groups, strict=True):
            group["lr"] = rate * (1 - epoch / epochs)
        for lesson in (draw() for draw in order):
            total = loss(torch, scores(lesson), lesson["wanted"], edge) + hold()
            optimiser.zero_grad()
            total.backward()
            optimiser.step()


def loss(torch: Any, scores: Any, wanted: Any, edge: Any) -> Any:
    """Of each that must come back, against all that must not and the edge; where none must, the edge is what must."""
    everything = torch.cat([scores, edge.expand(len(scores), 1)], dim=1)
    nothing = torch.where((wanted == 1).any(dim=1), 0.0, 1.0)[:, None]
    sought = torch.cat([wanted, nothing], dim=1)
    against = torch.logsumexp(everything.masked_fill(sought != 0, -1e9), dim=1, keepdim=True)
    return torch.nn.functional.softplus(against - everything)[sought == 1].mean()
