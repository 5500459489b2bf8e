"""The public fixtures. Each is lazy, and a repo may override any of them in its conftest."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from pytest_eagle_contract.acceptance.session import Acceptance
    from pytest_eagle_contract.checkpoint import Checkpoint, Config
    from pytest_eagle_contract.contracts.case import Case
    from pytest_eagle_contract.engines.model import Engine
    from pytest_eagle_contract.engines.resolution import Resolution
    from pytest_eagle_contract.intent import Intent
    from pytest_eagle_contract.token_map import TokenMap

DEFAULT_EXAMPLES = 200


@pytest.fixture(scope="session")
def eagle_checkpoint(request: pytest.FixtureRequest) -> Checkpoint:
    """Open the draft of `--eagle-ckpt`.

    Override it to judge what your exporter wrote: return an opened checkpoint or a directory.
    """
    from pytest_eagle_contract.stash import RUN

    run = request.config.stash.get(RUN, None)
    if run is None or not run.cases:
        raise pytest.UsageError(
            "no draft: give --eagle-ckpt or override the fixture eagle_checkpoint"
        )
    return run.cases[getattr(request, "param", next(iter(run.cases)))].draft.checkpoint


@pytest.fixture(scope="session")
def eagle_session_case(
    request: pytest.FixtureRequest, eagle_checkpoint: Checkpoint | Path | str
) -> Case:
    """Read draft, target and intent once for the session."""
    from pytest_eagle_contract.assess import Inputs, build_case
    from pytest_eagle_contract.checkpoint import Checkpoint, open_checkpoint
    from pytest_eagle_contract.stash import RUN

    opened = (
        eagle_checkpoint
        if isinstance(eagle_checkpoint, Checkpoint)
        else open_checkpoint(eagle_checkpoint)
    )
    run = request.config.stash.get(RUN, None)
    return build_case(opened, Inputs()) if run is None else run.case_of(opened)


@pytest.fixture
def eagle_case(request: pytest.FixtureRequest) -> Case:
    """Return what the static contracts look at, for the subject of the running contract."""
    from pytest_eagle_contract.items import case_of
    from pytest_eagle_contract.stash import RUN

    run = request.config.stash.get(RUN, None)
    # The parameter of a user's test, or the draft of a shipped contract.
    path = getattr(request, "param", getattr(request.node, "path_given", None))
    if run is not None and path is not None and len(run.cases) > 1:
        return case_of(request.node, run.cases[path])
    return case_of(request.node, request.getfixturevalue("eagle_session_case"))


@pytest.fixture(scope="session")
def eagle_draft_config(eagle_session_case: Case) -> Config:
    """Return the draft's config; each value knows where it was found."""
    return eagle_session_case.draft.checkpoint.config


@pytest.fixture(scope="session")
def eagle_target_config(eagle_session_case: Case) -> Config:
    """Return the config of `--eagle-target`."""
    if eagle_session_case.target is None:
        pytest.skip("no target: give --eagle-target")
    return eagle_session_case.target.config


@pytest.fixture(scope="session")
def eagle_intent(eagle_session_case: Case) -> Intent:
    """Return what the trainer meant, every field with its evidence."""
    return eagle_session_case.intent


@pytest.fixture(scope="session")
def eagle_token_map(eagle_session_case: Case) -> TokenMap:
    """Return the draft's map, absolute target ids int64 [D]."""
    found = eagle_session_case.intent.token_map
    if found.value is None:
        pytest.skip(f"no token map: {found.reason}")
    return found.value


@pytest.fixture(scope="session")
def eagle_engines(request: pytest.FixtureRequest) -> tuple[Engine, ...]:
    """Return the engines of `--eagle-engine`, every known one where none was named."""
    from pytest_eagle_contract.engines.registry import default_engines
    from pytest_eagle_contract.stash import RUN

    run = request.config.stash.get(RUN, None)
    return run.engines if run is not None and run.engines else default_engines()


@pytest.fixture(scope="session")
def eagle_resolve(eagle_session_case: Case) -> Callable[[Any], tuple[Resolution, ...]]:
    """Return a function from an engine to what it would use of the draft."""
    from pytest_eagle_contract.engines.resolve import resolve

    return lambda engine: resolve(eagle_session_case.draft, eagle_session_case.target, engine)


@pytest.fixture
def eagle_acceptance(request: pytest.FixtureRequest, eagle_case: Case) -> Acceptance:
    """Return the draft beside its target, to predict accept counts under any wiring."""
    from pytest_eagle_contract.numeric import Absent, open_acceptance
    from pytest_eagle_contract.stash import RUN

    run = request.config.stash.get(RUN, None)
    if run is None:
        pytest.skip("no target and no prompts: give --eagle-target and --eagle-prompts")
    found = open_acceptance(run, eagle_case)
    if isinstance(found, Absent):
        pytest.skip(f"{found.says} (needs {found.need.how})")
    return found


@pytest.fixture
def eagle_judge(request: pytest.FixtureRequest, eagle_case: Case) -> Any:
    """Return who judges the numbers of the running contract's engine."""
    from pytest_eagle_contract.numeric import judge_of
    from pytest_eagle_contract.stash import RUN

    return judge_of(request.config.stash[RUN], eagle_case, request.node.engine)


@pytest.fixture(scope="session")
def eagle_map_draft_ids() -> Callable[..., Any]:
    """Return the mapping function under test; override it with your engine's own.

    It takes `d2t` as stored (int64 [D]), the target's vocabulary size and draft ids (int64 [N]),
    and returns N target ids. The default adds d2t to the draft ids, as the engines do.
    """
    from pytest_eagle_contract.contracts.mapping_function import map_draft_ids

    return map_draft_ids


@pytest.fixture(scope="session")
def eagle_max_examples(request: pytest.FixtureRequest) -> int:
    """Return `--eagle-max-examples`, how many examples a property-based contract tries."""
    from pytest_eagle_contract.stash import SETTINGS

    return int(request.config.stash[SETTINGS].get("max_examples", DEFAULT_EXAMPLES))
