"""Every shipped contract keeps its form, and its id is one of the published list."""

from __future__ import annotations

from collections import Counter

import pytest

from pytest_eagle_contract.contracts.catalogue import (
    FAMILIES,
    ID,
    Contract,
    contract,
    contracts_in,
)
from pytest_eagle_contract.contracts.outcome import Outcome, passed
from pytest_eagle_contract.contracts.shipped import MODULES, shipped

PUBLISHED = {
    "mapping": """present length dtype range bijective offsets mask order prefix coverage rows
        token-map side-files engine""",
    "layers": "declared range order count fc-width engine dump capture",
    "checkpoint": """tensors shapes dtypes finite switches architecture depth embedding lm-head tie
        rope context target tokenizer quantization engine""",
    "forward": "loads switches parity steps",
    "acceptance": "accuracy predicted wiring live threshold baseline metrics launch",
}
"""The ids that users and CI rely on; an id is never reused."""

NEED_MORE_THAN_FILES = {"mapping.rows", "layers.dump", "layers.capture"}
ALL = shipped()
TEXT = """A promise over
    two lines.

    Why: because.
    Incident: once.
    Fix: like this.
    Since: 0.1.0
    """


def published() -> set[str]:
    return {f"{family}.{name}" for family, names in PUBLISHED.items() for name in names.split()}


def test_families_are_those_published() -> None:
    assert tuple(PUBLISHED) == FAMILIES


@pytest.mark.parametrize("given", ALL, ids=lambda c: f"{c.id}-{c.subject}")
def test_contract_keeps_its_form(given: Contract) -> None:
    assert ID.match(given.id)
    assert given.id in published()
    assert given.subject in ("files", "engine", "function")
    for text in (given.promise, given.why, given.incident, given.fix):
        assert text.strip()
        assert "\n" not in text
        assert text == " ".join(text.split())
    assert given.promise.endswith(".")
    assert all(part.isdigit() for part in given.since.split("."))


def test_one_id_and_subject_is_one_promise() -> None:
    counts = Counter((c.id, c.subject) for c in ALL)
    assert set(counts.values()) == {1}


def test_promises_differ() -> None:
    assert len({c.promise for c in ALL}) == len(ALL)


def test_every_static_id_is_shipped() -> None:
    static = {i for i in published() if i.partition(".")[0] not in ("forward", "acceptance")}
    assert static - NEED_MORE_THAN_FILES <= {c.id for c in ALL}


def test_shipped_lists_every_module_family_by_family() -> None:
    assert sorted(c.id for c in ALL) == sorted(c.id for m in MODULES for c in contracts_in(m))
    families = [FAMILIES.index(c.family) for c in ALL]
    assert families == sorted(families)


def test_made_from_a_docstring() -> None:
    def check() -> Outcome:
        return passed("seen")

    check.__doc__ = TEXT
    made = contract("layers.mine", subject="engine", needs=("target",))(check)
    assert (made.id, made.subject, made.family) == ("layers.mine", "engine", "layers")
    assert made.promise == "A promise over two lines."
    assert (made.why, made.incident, made.fix) == ("because.", "once.", "like this.")
    assert (made.since, made.needs, made.check) == ("0.1.0", ("target",), check)


@pytest.mark.parametrize("id", ["mapping", "mapping.", "Mapping.x", "other.x", "mapping.x y", ""])
def test_other_ids_are_refused(id: str) -> None:
    with pytest.raises(ValueError, match="is not a contract id"):
        contract(id)


@pytest.mark.parametrize("section", ["Why", "Incident", "Fix", "Since"])
def test_missing_section_is_refused(section: str) -> None:
    def check() -> Outcome:
        return passed("seen")

    check.__doc__ = "".join(
        line + "\n" for line in TEXT.splitlines() if not line.strip().startswith(section)
    )
    with pytest.raises(ValueError, match=f"lacks {section}"):
        contract("mapping.mine")(check)


def test_missing_promise_is_refused() -> None:
    def check() -> Outcome:
        return passed("seen")

    check.__doc__ = "Why: a.\nIncident: b.\nFix: c.\nSince: 0.1.0\n"
    with pytest.raises(ValueError, match="lacks a promise"):
        contract("mapping.mine")(check)
