"""Write predictions and wirings for people and for the JSON report."""

from __future__ import annotations

from math import isnan

from pytest_eagle_contract.acceptance.interval import accept_length
from pytest_eagle_contract.acceptance.predict import Prediction
from pytest_eagle_contract.acceptance.signature import conditional
from pytest_eagle_contract.boundaries import shown
from pytest_eagle_contract.draft.wiring import Wiring

SWITCHES = (
    "norm_before_residual",
    "norm_before_fc",
    "fc_norm",
    "norm_output",
    "later_norm",
    "embedding",
)


def told(prediction: Prediction) -> str:
    """Write a prediction: accept length with its interval, and acceptance by place."""
    total = prediction.total
    places = ", ".join(f"{n / total.drafts:.1%}" for n in total.per_position)
    return f"accept length {accept_length(prediction.counts)} ({places} by place)"


def numbers(prediction: Prediction) -> dict[str, object]:
    """Return a prediction for the JSON report: accept length, acceptance by place, interval."""
    total, length = prediction.total, accept_length(prediction.counts)
    return {
        "accept_length": round(length.value, 4),
        "per_position": [round(n / total.drafts, 4) for n in total.per_position],
        "conditional": [None if isnan(x) else round(x, 4) for x in conditional(total)],
        "first_token_accuracy": round(prediction.accuracy, 4),
        "ci95": [round(length.low, 4), round(length.high, 4)],
        "drafts": total.drafts,
        "accepted": total.accepted,
    }


def unlike(used: Wiring, trained: Wiring) -> str:
    """Say in what two wirings differ."""
    parts = [
        f"{name} {getattr(used, name)} for {getattr(trained, name)}"
        for name in SWITCHES
        if getattr(used, name) != getattr(trained, name)
    ]
    if used.boundaries != trained.boundaries:
        parts.insert(0, f"fed {shown(used.boundaries)} for {shown(trained.boundaries)}")
    if used.token_map != trained.token_map:
        parts.append("another map")
    if used.without:
        parts.append(f"without {', '.join(sorted(used.without))}")
    return "; ".join(parts)
