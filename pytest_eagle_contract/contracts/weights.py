"""Contracts on the tensors of a draft: which there are, in what shapes and layers."""

from __future__ import annotations

from pytest_eagle_contract.checkpoint.model import TensorInfo
from pytest_eagle_contract.checkpoint.names import expected_shapes, latent_shapes, optional_shapes
from pytest_eagle_contract.checkpoint.switches import controlling_switch
from pytest_eagle_contract.contracts.case import Case, across, sourced
from pytest_eagle_contract.contracts.catalogue import contract
from pytest_eagle_contract.contracts.map_facts import sample
from pytest_eagle_contract.contracts.needs import RUN
from pytest_eagle_contract.contracts.outcome import (
    Outcome,
    blocked,
    failed,
    passed,
    refused,
    unverified,
    verdict,
)
from pytest_eagle_contract.contracts.remedies import rename_fix
from pytest_eagle_contract.engines.resolution import Resolution
from pytest_eagle_contract.pair import Draft, is_eagle3

ELSEWHERE = ("lm_head.weight", "fc.weight", "d2t", "t2d")
"""Tensors whose first dimension another contract judges."""

QUANTISED = unverified("the names and shapes of quantised weights are not known", RUN)
"""What can be said of a draft with packed weights: engines each have loaders of their own."""

OWNED = ("embed_tokens.weight", "lm_head.weight")
"""Tensors that an engine may take from the target; contracts of their own judge them."""


@contract("checkpoint.tensors")
def tensors(eagle_case: Case) -> Outcome:
    """The checkpoint holds every tensor of its draft.

    Why: most engines leave a missing tensor as it was allocated and say nothing.
    Incident: sglang#27908, where a draft without lm_head started and accepted nothing; measured on
    vLLM 0.32, one without fc.weight loads and falls from 3.97 to 1.35.
    Fix: export the whole state dict; only the embedding may be left out.
    Since: 0.1.0
    """
    draft = eagle_case.draft
    if not is_eagle3(draft):
        return blocked("checkpoint.architecture", "this is no EAGLE-3 draft")
    if draft.quantised:
        return QUANTISED
    aux = eagle_case.intent.switches["use_aux_hidden_state"].value
    expected = expected_shapes(draft.geometry, max(draft.layers, 1), 1 if aux else None)
    if draft.latent_attention:
        expected = {n: s for n, s in expected.items() if "self_attn" not in n}
        expected |= latent_shapes(draft.config, draft.geometry)
    missing = [n for n in expected if n not in draft.tensors and n != "lm_head.weight"]
    return verdict(
        [f"{name} is missing" for name in missing],
        f"{len(expected)} tensors of {max(draft.layers, 1)} layers",
        f"all {len(expected)} tensors are there",
    )


@contract("checkpoint.tensors", subject="engine")
def engine_tensors(eagle_case: Case) -> Outcome:
    """The engine finds a place for every tensor that matters, under the stored name.

    Why: SGLang drops a name it does not know without a word; vLLM stops at the first one.
    Incident: speculators#65 and NVIDIA-NeMo/RL#3960, where midlayer and layers.0 name one layer.
    Fix: rename the tensors to what this engine knows: midlayer.* or layers.0.*, without a prefix.
    Since: 0.1.0
    """
    if eagle_case.draft.quantised:
        return QUANTISED
    return across(eagle_case, lambda reading: _placed(eagle_case, reading))


def _placed(case: Case, reading: Resolution) -> Outcome:
    stored = {info.name: short for short, info in case.draft.tensors.items()}
    deep = [n for n in reading.tensors.unknown if _too_deep(stored[n], case.draft)]
    unknown = [n for n in reading.tensors.unknown if n not in deep and not _off(stored[n], reading)]
    dropped = reading.semantics.unknown_dropped
    if reading.semantics.unknown == "error" and any(not n.endswith(dropped) for n in unknown):
        outcome = refused(
            f"refuses to load: no place for {sample(unknown)}",
            "names that this engine knows",
            rename_fix(unknown, reading.semantics),
        )
        return sourced(outcome, reading, "unknown", "refused")
    lost = [name for name in unknown if stored[name] in _known(case.draft)]
    if lost:
        fix = rename_fix(lost, reading.semantics)
        outcome = failed(f"drops {sample(lost)} silently", "every weight is used", fix)
        return sourced(outcome, reading, "unknown", "refused")
    note = f"{sample(unknown)} are ignored" if unknown else ""
    if deep:
        refuses = reading.semantics.unknown == "error"
        does = "refuses" if refuses else "drops"
        return blocked("checkpoint.depth", f"{does} {sample(deep)}", loud=refuses)
    return _absent(case, reading) or passed(
        f"{len(reading.tensors.loaded)} tensors are loaded", note
    )


def _absent(case: Case, reading: Resolution) -> Outcome | None:
    """Say what the engine does without a tensor that the checkpoint's own contract misses."""
    missing = [n for n in reading.tensors.missing if n not in (*case.draft.tensors, *OWNED)]
    if not missing:
        return None
    refuses = reading.semantics.missing == "error"
    effect = "refuses to load without" if refuses else "leaves as allocated, silently,"
    # A draft of the final state alone has no fc; an engine that builds one ignores its switch.
    past_fc = case.intent.boundaries.value == () and missing == ["fc.weight"]
    if past_fc or any(controlling_switch(n) for n in missing):
        return blocked("checkpoint.switches", f"{effect} {sample(missing)}", loud=refuses)
    deeper = all(n.startswith("layers.") and not n.startswith("layers.0.") for n in missing)
    by = "checkpoint.depth" if deeper else "checkpoint.tensors"
    return blocked(by, f"{effect} {sample(missing)}", loud=refuses)


def _off(name: str, reading: Resolution) -> bool:
    """Tell whether a tensor is unused because its switch is off, which another contract judges."""
    switch = controlling_switch(name)
    used = reading.switches.get(switch) if switch else None
    return switch is not None and (used is None or not used.value)


def _too_deep(name: str, draft: Draft) -> bool:
    """Tell whether a tensor belongs to a layer that the config does not count."""
    counted = draft.geometry.layers
    parts = name.split(".")
    in_layer = parts[0] == "layers" and len(parts) > 1 and parts[1].isdigit()
    return in_layer and counted is not None and int(parts[1]) >= counted.value


def _known(draft: Draft) -> set[str]:
    layers = max(draft.layers, 1)
    known = {
        **expected_shapes(draft.geometry, layers, 1),
        **optional_shapes(draft.geometry, layers, 1),
    }
    return set(known)


@contract("checkpoint.shapes")
def shapes(eagle_case: Case) -> Outcome:
    """Every tensor has the shape that the config calls for.

    Why: engines build their modules from the config, and refuse the first tensor that differs.
    Incident: DeepSpec#44, where q_proj [4096, 5120] of a draft met the [4096, 2560] of an ordinary
    class.
    Fix: write the config's sizes from the module that was trained.
    Since: 0.1.0
    """
    draft = eagle_case.draft
    if not is_eagle3(draft):
        return blocked("checkpoint.architecture", "this is no EAGLE-3 draft")
    if draft.quantised:
        return QUANTISED
    return verdict(
        _misfits(eagle_case),
        "the shapes of the config",
        f"{len(draft.tensors)} shapes fit the config",
    )


def _misfits(case: Case) -> list[str]:
    """Say which tensors have another shape than the config calls for."""
    draft = case.draft
    layers = max(draft.layers, 1)
    states = draft.aux_states(case.target_width) or 0
    wanted = {
        **expected_shapes(draft.geometry, layers, states),
        **optional_shapes(draft.geometry, layers, states),
    }
    if draft.latent_attention:
        wanted |= latent_shapes(draft.config, draft.geometry)
    return [
        f"{info.name} is {list(info.shape)}, not {_shape(wanted[name])}"
        for name, info in draft.tensors.items()
        if name in wanted and name not in ELSEWHERE and not _fits(info, wanted[name])
    ]


def _fits(info: TensorInfo, wanted: tuple[int | None, ...]) -> bool:
    return len(info.shape) == len(wanted) and all(
        w is None or s == w for s, w in zip(info.shape, wanted, strict=True)
    )


def _shape(wanted: tuple[int | None, ...]) -> str:
    return "[" + ", ".join("?" if w is None else str(w) for w in wanted) + "]"


@contract("checkpoint.shapes", subject="engine")
def engine_shapes(eagle_case: Case) -> Outcome:
    """The engine builds attention heads of the stored width.

    Why: a head width that is not hidden_size / heads is a shape error where head_dim is not read.
    Incident: EAGLE#315, where head_dim 128 was not read and q_proj [4096, 5120] met [2560, 5120].
    Fix: choose an engine that reads head_dim, or train with hidden_size / heads.
    Since: 0.1.0
    """
    draft, sizes = eagle_case.draft, eagle_case.draft.geometry
    misfits = [] if draft.quantised or not is_eagle3(draft) else _misfits(eagle_case)

    def judge(reading: Resolution) -> Outcome:
        if misfits:
            return blocked("checkpoint.shapes", f"refuses to load: {misfits[0]}", loud=True)
        if reading.semantics.head_dim == "read" or None in (sizes.hidden_size, sizes.heads):
            return passed("reads head_dim")
        assert sizes.hidden_size is not None
        assert sizes.heads is not None
        built = sizes.hidden_size.value // max(sizes.heads.value, 1)
        if sizes.head_dim is not None and sizes.head_dim.value != built:
            wanted = f"heads of {sizes.head_dim.value}, as stored"
            return refused(f"builds heads of {built}", wanted)
        return passed(f"builds heads of {built}")

    return across(eagle_case, judge, "head_dim")


@contract("checkpoint.depth")
def depth(eagle_case: Case) -> Outcome:
    """The config counts as many draft layers as are stored.

    Why: an engine builds the layers of the config and leaves those without tensors uninitialised,
    or refuses to start.
    Incident: SpecForge#129, where a draft with its target's num_hidden_layers, 48, was refused.
    Fix: write the number of the draft's own layers as num_hidden_layers.
    Since: 0.1.0
    """
    draft = eagle_case.draft
    stated = draft.geometry.layers
    if stated is None:
        return failed("num_hidden_layers is not written", f"{draft.layers}")
    if not is_eagle3(draft):
        return blocked("checkpoint.architecture", "this is no EAGLE-3 draft")
    if stated.value != draft.layers:
        fix = f'write "num_hidden_layers": {draft.layers}' if draft.layers else ""
        return failed(f"{stated.where} is {stated.value}", f"{draft.layers}, as stored", fix)
    return passed(f"{draft.layers} layers")


@contract("checkpoint.depth", subject="engine")
def engine_depth(eagle_case: Case) -> Outcome:
    """The engine runs as many draft layers as the checkpoint has, in the way they were trained.

    Why: some engines refuse more than one; others feed later layers from another norm.
    Incident: vllm#33330, a two-layer draft whose acceptance collapsed from the second token on; the
    cause is open.
    Fix: train one layer, or choose an engine that runs the draft's depth.
    Since: 0.1.0
    """
    layers = eagle_case.draft.layers

    def judge(reading: Resolution) -> Outcome:
        most = reading.semantics.max_layers
        if most and layers > most:
            outcome = refused(f"takes at most {most} draft layers", f"{layers}, as stored")
            return sourced(outcome, reading, "max_layers")
        fed = reading.semantics.later_layer_norm
        if layers > 1 and fed and f"layers.1.{fed}.weight" not in eagle_case.draft.tensors:
            own = "input_layernorm" if fed == "hidden_norm" else "hidden_norm"
            outcome = failed(
                f"norms the input of layers after the first with their {fed}: it is not stored, "
                "and stays as it was allocated",
                f"their {own}, as trained",
                f"store a copy of layers.N.{own}.weight as layers.N.{fed}.weight for N ≥ 1",
            )
            return sourced(outcome, reading, "later_layer_norm")
        return passed(f"{layers} layers")

    return across(eagle_case, judge)
