"""Accept counts are predicted as an engine would count them, and contracts judge them."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from pytest_eagle_contract.acceptance.predict import fed
from pytest_eagle_contract.acceptance.session import Acceptance, Settings
from pytest_eagle_contract.acceptance.walk import Counts
from pytest_eagle_contract.assess import Inputs, build_case
from pytest_eagle_contract.checkpoint import open_checkpoint
from pytest_eagle_contract.draft.wire import declared
from pytest_eagle_contract.numeric import Absent, open_acceptance
from pytest_eagle_contract.prompts import Prompt
from pytest_eagle_contract.run import Run
from pytest_eagle_contract.settings import Settings as Given

from .pairs import STEPS, Pair, train_draft, train_target
from .test_chain import looped

NEW_TOKENS = 20
TRAINED = (0, 2, 5)
"""Where the incident's trainer took its states; no file says so, and engines take {2, 4, 5}."""


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Pair:
    found = train_target(tmp_path_factory.mktemp("pair"))
    lines = (json.dumps({"token_ids": prompt}) for prompt in found.prompts)
    (found.directory / "prompts.jsonl").write_text("\n".join(lines))
    return found


@pytest.fixture(scope="module")
def sound(pair: Pair) -> Path:
    return train_draft(pair, "sound", (2, 4, 5))


@pytest.fixture(scope="module")
def incident(pair: Pair) -> Path:
    return train_draft(pair, "incident", TRAINED)


def opened(pair: Pair, draft: Path) -> Acceptance:
    case = build_case(open_checkpoint(draft), Inputs(target=pair.target))
    prompts = [Prompt(ids) for ids in pair.prompts]
    return Acceptance(case, pair.model, prompts, Settings(STEPS, NEW_TOKENS))


def engine_loop(acceptance: Acceptance, prompt: tuple[int, ...]) -> tuple[Counts, list[int]]:
    """Speculate as an engine does, one verify step after the other, and return what came out.

    The draft proposes from its own tokens; the target is asked for its greedy token anew each time.
    """
    target, wiring = acceptance.target, declared(acceptance.case)
    draft = acceptance.draft(wiring)
    out = [int(t) for t in target.extend(torch.tensor(prompt), 1)]
    drafts, places = 0, [0] * STEPS
    while len(out) - len(prompt) < NEW_TOKENS:
        drafts += 1
        captured = target.capture(torch.tensor(out), wiring.boundaries)
        states = torch.cat([captured.states[b] for b in wiring.boundaries], dim=-1)
        row = len(out) - 2
        proposed: list[int] = []
        for step in range(STEPS):
            tokens = torch.tensor([*out, *proposed, 0])
            padded = torch.nn.functional.pad(states, (0, 0, 0, len(tokens) - len(states)))
            output = looped(draft, tokens, padded, row)[step]
            proposed.append(int(draft.targets[draft.best(output[None])]))
        for step, token in enumerate(proposed):
            wanted = int(target.extend(torch.tensor(out), 1)[-1])
            out.append(wanted)
            if token != wanted:
                break
            places[step] += 1
        else:
            out.append(int(target.extend(torch.tensor(out), 1)[-1]))
    return Counts(drafts, tuple(places)), out


def test_counts_are_those_of_an_engines_loop(pair: Pair, sound: Path) -> None:
    acceptance = opened(pair, sound)
    predicted = acceptance.predict(declared(acceptance.case))
    for prompt, counts in zip(pair.prompts[:4], predicted.counts, strict=False):
        looped_counts, out = engine_loop(acceptance, prompt)
        assert counts == looped_counts
        greedy = pair.model.extend(torch.tensor(prompt), len(out) - len(prompt))
        assert out == greedy.tolist()


def test_states_are_those_of_transformers(pair: Pair) -> None:
    tokens = torch.tensor(pair.prompts[0])
    captured = pair.model.capture(tokens, range(pair.model.layers + 1))
    with torch.inference_mode():
        out = pair.model.model(input_ids=tokens[None], output_hidden_states=True)
    for boundary in range(pair.model.layers):
        assert torch.equal(captured.states[boundary], out.hidden_states[boundary][0])
    assert torch.equal(captured.final, out.hidden_states[-1][0])
    normed = pair.model.base.norm(captured.states[pair.model.layers])
    torch.testing.assert_close(normed, captured.final)


def test_a_sound_draft_is_accepted(pair: Pair, sound: Path) -> None:
    acceptance = opened(pair, sound)
    total = acceptance.predict(declared(acceptance.case)).total
    assert total.accept_length > 2.2


def test_the_incidents_draft_is_accepted_with_its_own_layers_alone(
    pair: Pair, incident: Path
) -> None:
    acceptance = opened(pair, incident)
    wiring = declared(acceptance.case)
    assert wiring.boundaries == (2, 4, 5)
    assert acceptance.predict(wiring).total.accept_length < 1.2
    own = acceptance.predict(replace(wiring, boundaries=TRAINED))
    assert own.total.accept_length > 2.2


def test_one_pass_serves_all_wirings(pair: Pair, sound: Path) -> None:
    acceptance = opened(pair, sound)
    seen = acceptance.observed((2, 4))
    again = acceptance.observed((2, 4, 5))
    assert [o.tokens.tolist() for o in seen] == [o.tokens.tolist() for o in again]
    assert fed(again[0], (2, 4, 5)).shape[1] == 3 * 64


def run(pytester: pytest.Pytester, pair: Pair, draft: Path, *more: str) -> pytest.RunResult:
    return pytester.runpytest_subprocess(
        f"--eagle-ckpt={draft}",
        f"--eagle-target={pair.target}",
        f"--eagle-prompts={pair.directory / 'prompts.jsonl'}",
        f"--eagle-new-tokens={NEW_TOKENS}",
        *more,
    )


def outcomes(pytester: pytest.Pytester) -> dict[tuple[str, str], str]:
    document = json.loads((pytester.path / "r.json").read_text())
    return {(c["id"], c["subject"]): c["outcome"] for c in document["contracts"]}


ENGINES = ("--eagle-engine=vllm==0.32.0:v1", "--eagle-engine=sglang==0.5.23")
REPORT = "--eagle-report=json=r.json"


def test_a_sound_draft_passes(pytester: pytest.Pytester, pair: Pair, sound: Path) -> None:
    result = run(pytester, pair, sound, *ENGINES, REPORT, "--eagle-min-accept-length=1.5")
    assert result.ret == 0, result.outlines
    found = outcomes(pytester)
    for engine in ("vllm 0.32.0 v1", "sglang 0.5.23"):
        assert found["acceptance.predicted", engine] == "passed"
        assert found["acceptance.threshold", engine] == "passed"


def test_a_threshold_shows_what_no_file_says(
    pytester: pytest.Pytester, pair: Pair, incident: Path
) -> None:
    result = run(pytester, pair, incident, *ENGINES, REPORT, "--eagle-min-accept-length=2")
    assert result.ret == 1
    failed = {key[0] for key, outcome in outcomes(pytester).items() if outcome == "failed"}
    assert failed == {"acceptance.threshold"}


def test_floors_hold_each_place(pytester: pytest.Pytester, pair: Pair, sound: Path) -> None:
    acceptance = opened(pair, sound)
    total = acceptance.predict(declared(acceptance.case)).total
    first, second, *_ = (n / total.drafts for n in total.per_position)
    for floors, outcome in (
        (f"{first - 0.3:.3f},{second - 0.3:.3f}", "passed"),
        (f"{first - 0.3:.3f},0.99", "failed"),
        ("0.99", "failed"),
    ):
        run(pytester, pair, sound, *ENGINES, REPORT, f"--eagle-min-acceptance={floors}")
        assert outcomes(pytester)["acceptance.threshold", "vllm 0.32.0 v1"] == outcome, floors


def test_a_floor_beyond_the_chain_is_refused(
    pytester: pytest.Pytester, pair: Pair, sound: Path
) -> None:
    floors = "--eagle-min-acceptance=0.1,0.1,0.1,0"
    result = run(pytester, pair, sound, *ENGINES, floors)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*--eagle-min-acceptance: names 4 places, and a chain has 3*"])
    assert run(pytester, pair, sound, *ENGINES, floors, "--eagle-num-steps=4").ret == 0


def test_a_shape_says_where_to_look(pytester: pytest.Pytester, pair: Pair, incident: Path) -> None:
    run(pytester, pair, incident, *ENGINES, REPORT, "--eagle-min-accept-length=2")
    document = json.loads((pytester.path / "r.json").read_text())
    (found, *_) = [c for c in document["contracts"] if c["id"] == "acceptance.threshold"]
    assert any(note.startswith("nothing is accepted: look at") for note in found["notes"])


def test_the_trained_layers_show_what_the_engines_lose(
    pytester: pytest.Pytester, pair: Pair, incident: Path
) -> None:
    result = run(pytester, pair, incident, *ENGINES, REPORT, "--eagle-aux-layers=b:0,2,5")
    assert result.ret == 1
    failed = {key for key, outcome in outcomes(pytester).items() if outcome == "failed"}
    assert ("acceptance.predicted", "vllm 0.32.0 v1") in failed
    document = json.loads((pytester.path / "r.json").read_text())
    measured = [c["measured"] for c in document["contracts"] if c["id"] == "acceptance.predicted"]
    assert all("fed {2, 4, 5} for {0, 2, 5}" in text for text in measured)


def test_a_few_prompts_leave_a_close_threshold_open(
    pytester: pytest.Pytester, pair: Pair, sound: Path
) -> None:
    acceptance = opened(pair, sound)
    length = acceptance.predict(declared(acceptance.case)).total.accept_length
    close = f"--eagle-min-accept-length={length:.3f}"
    run(pytester, pair, sound, *ENGINES, REPORT, close)
    found = outcomes(pytester)
    assert found["acceptance.threshold", "vllm 0.32.0 v1"] == "unverified"


def test_a_target_without_weights_leaves_the_numbers_open(
    pytester: pytest.Pytester, pair: Pair, sound: Path
) -> None:
    bare = pytester.mkdir("bare")
    (bare / "config.json").write_text((pair.target / "config.json").read_text())
    run(pytester, pair, sound, *ENGINES, REPORT, f"--eagle-target={bare}")
    assert outcomes(pytester)["acceptance.predicted", "vllm 0.32.0 v1"] == "unverified"


def given(pytester: pytest.Pytester, *entries: object) -> str:
    file = pytester.path / "mine.jsonl"
    file.write_text("\n".join(json.dumps(entry) for entry in entries))
    return f"--eagle-prompts={file}"


def predicted(pytester: pytest.Pytester) -> dict[str, Any]:
    document = json.loads((pytester.path / "r.json").read_text())
    return next(c for c in document["contracts"] if c["id"] == "acceptance.predicted")


def test_prompts_of_another_vocabulary_are_not_run(
    pytester: pytest.Pytester, pair: Pair, sound: Path
) -> None:
    run(pytester, pair, sound, *ENGINES, REPORT, given(pytester, [1, 2, 999]))
    found = predicted(pytester)
    assert (found["outcome"], found["needs"]) == ("unverified", ["prompts"])


def test_one_token_is_no_continuation(pytester: pytest.Pytester, pair: Pair, sound: Path) -> None:
    one = {"token_ids": [1, 9, 8], "continuation": [7]}
    run(pytester, pair, sound, *ENGINES, REPORT, given(pytester, one))
    assert predicted(pytester)["outcome"] == "unverified"


def test_a_continuation_that_is_not_greedy_is_said(
    pytester: pytest.Pytester, pair: Pair, sound: Path
) -> None:
    sampled = {"token_ids": list(pair.prompts[0]), "continuation": [9] * 8}
    run(pytester, pair, sound, *ENGINES, REPORT, given(pytester, sampled))
    assert any("not the target's greedy choice" in note for note in predicted(pytester)["notes"])


def test_the_report_holds_the_prediction(
    pytester: pytest.Pytester, pair: Pair, sound: Path
) -> None:
    run(pytester, pair, sound, *ENGINES, REPORT)
    document = json.loads((pytester.path / "r.json").read_text())
    total = opened(pair, sound)
    expected = total.predict(declared(total.case)).total
    assert document["acceptance"]["predicted"]["drafts"] == expected.drafts
    assert document["acceptance"]["predicted"]["accepted"] == expected.accepted


@pytest.mark.parametrize("kind", ["latent attention", "packed weights"])
def test_a_draft_that_is_not_run_here_is_left_open(kind: str, good: Path, pair: Pair) -> None:
    name = "deepseek-mla" if kind == "latent attention" else "specforge-sglang"
    case = build_case(open_checkpoint(good / name), Inputs(target=pair.target))
    if kind == "packed weights":
        tensors = {
            n: replace(i, dtype="F8_E4M3") if n == "fc.weight" else i
            for n, i in case.draft.tensors.items()
        }
        case = replace(case, draft=replace(case.draft, tensors=tensors))
    settings = Given({"prompts": "x"}, {}, {})
    prompts = (Prompt((1, 2, 3)),)
    stand_in = Run(settings, Inputs(target=pair.target, prompts=prompts), (), ())
    found = open_acceptance(stand_in, case)
    assert isinstance(found, Absent)
    assert kind in found.says


def test_a_test_of_ones_own_predicts_any_wiring(
    pytester: pytest.Pytester, pair: Pair, incident: Path
) -> None:
    pytester.makepyfile(
        """
        from dataclasses import replace
        from pytest_eagle_contract.draft.wire import declared

        def test_mine(eagle_acceptance, eagle_session_case):
            wiring = declared(eagle_session_case)
            assert eagle_acceptance.predict(wiring).total.accept_length < 1.2
            own = replace(wiring, boundaries=(0, 2, 5))
            assert eagle_acceptance.predict(own).total.accept_length > 2.2
        """
    )
    run(pytester, pair, incident, str(pytester.path)).assert_outcomes(passed=1)
