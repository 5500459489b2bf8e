"""Contracts on the tensors of a draft: which there are, their shapes, types and values."""

from __future__ import annotations

from pytest_eagle_contract.checkpoint.draft import Draft
from pytest_eagle_contract.checkpoint.model import TensorInfo
from pytest_eagle_contract.checkpoint.names import expected_shapes, optional_shapes
from pytest_eagle_contract.contracts.case import Case, across
from pytest_eagle_contract.contracts.catalogue import contract
from pytest_eagle_contract.contracts.map_facts import blocked, sample
from pytest_eagle_contract.contracts.outcome import Outcome, failed, passed, refused, verdict
from pytest_eagle_contract.contracts.scan import faults
from pytest_eagle_contract.engines.resolution import Resolution
from pytest_eagle_contract.engines.resolve import controlling_switch

FLOATS = frozenset({"BF16", "F16", "F32"})
QUANTISED = frozenset({"F8_E4M3", "F8_E5M2", "F8_E8M0", "F4", "I8", "U8", "I32", "U32"})
ELSEWHERE = ("lm_head.weight", "fc.weight", "d2t", "t2d")
"""Tensors whose first dimension another contract judges."""

OWNED = ("embed_tokens.weight", "lm_head.weight")
"""Tensors that an engine may take from the target; contracts of their own judge them."""


def is_eagle3(draft: Draft) -> bool:
    """Tell whether layer 0 takes an embedding and a hidden state side by side.

    That doubled input is what every EAGLE-3 draft has and no ordinary decoder does.
    """
    if draft.latent_attention:
        return True
    hidden, query = (
        draft.geometry.hidden_size,
        draft.tensors.get("layers.0.self_attn.q_proj.weight"),
    )
    if query is None or hidden is None or len(query.shape) != 2:
        return "layers.0.hidden_norm.weight" in draft.tensors or "fc.weight" in draft.tensors
    return query.shape[1] != hidden.value


@contract("checkpoint.tensors")
def tensors(eagle_case: Case) -> Outcome:
    """The checkpoint holds every tensor of its draft.

    Why: most engines leave a missing tensor as it was allocated and say nothing.
    Incident: measured on vLLM 0.32, a draft without fc.weight loads and falls from 3.97 to 1.35.
    Fix: export the whole state dict; only the embedding may be left out.
    Since: 0.1.0
    """
    draft = eagle_case.draft
    if not is_eagle3(draft):
        return blocked("checkpoint.architecture", "this is no EAGLE-3 draft")
    aux = eagle_case.intent.switches["use_aux_hidden_state"].value
    expected = expected_shapes(draft.geometry, max(draft.layers, 1), 1 if aux else None)
    if draft.latent_attention:
        expected = {n: s for n, s in expected.items() if "self_attn" not in n}
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
    Incident: RL#3960 and speculators#65, where midlayer and layers.0 named one layer.
    Fix: rename the tensors as this engine expects them.
    Since: 0.1.0
    """
    return across(eagle_case, lambda reading: _placed(eagle_case, reading))


def _placed(case: Case, reading: Resolution) -> Outcome:
    stored = {info.name: short for short, info in case.draft.tensors.items()}
    unknown = [
        name
        for name in reading.tensors.unknown
        if not _off(stored[name], reading) and not _too_deep(stored[name], case.draft)
    ]
    dropped = reading.semantics.unknown_dropped
    if reading.semantics.unknown == "error" and any(not n.endswith(dropped) for n in unknown):
        return refused(
            f"refuses to load: no place for {sample(unknown)}",
            "names that this engine knows",
            _rename_hint(unknown),
        )
    lost = [name for name in unknown if stored[name] in _known(case.draft)]
    if lost:
        return failed(f"drops {sample(lost)} silently", "every weight is used", _rename_hint(lost))
    note = f"{sample(unknown)} are ignored" if unknown else ""
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
    deeper = all(n.startswith("layers.") and not n.startswith("layers.0.") for n in missing)
    by = "checkpoint.depth" if deeper else "checkpoint.tensors"
    return blocked(by, f"{effect} {sample(missing)}")


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


def _rename_hint(names: list[str]) -> str:
    prefixed = [n for n in names if n.startswith(("model.", "draft_model.", "module."))]
    return f"remove the prefix {prefixed[0].split('.')[0]}. from the names" if prefixed else ""


@contract("checkpoint.shapes")
def shapes(eagle_case: Case) -> Outcome:
    """Every tensor has the shape that the config calls for.

    Why: engines build their modules from the config, and refuse the first tensor that differs.
    Incident: EAGLE#315, a head_dim that is not hidden_size / heads, and DeepSpec#44.
    Fix: write the config's sizes from the module that was trained.
    Since: 0.1.0
    """
    draft = eagle_case.draft
    if not is_eagle3(draft):
        return blocked("checkpoint.architecture", "this is no EAGLE-3 draft")
    layers = max(draft.layers, 1)
    states = draft.aux_states(eagle_case.target_width) or 0
    wanted = {
        **expected_shapes(draft.geometry, layers, states),
        **optional_shapes(draft.geometry, layers, states),
    }
    problems = [
        f"{info.name} is {list(info.shape)}, not {_shape(wanted[name])}"
        for name, info in draft.tensors.items()
        if name in wanted and _judged(name, draft) and not _fits(info, wanted[name])
    ]
    return verdict(
        problems, "the shapes of the config", f"{len(draft.tensors)} shapes fit the config"
    )


def _judged(name: str, draft: Draft) -> bool:
    """Leave out what other contracts judge, and latent attention, whose widths are its own."""
    latent = draft.latent_attention and ".self_attn." in name
    return name not in ELSEWHERE and not latent


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
    Incident: EAGLE#315, q_proj [4096, 5120] met a model of [2560, 5120].
    Fix: choose an engine that reads head_dim.
    Since: 0.1.0
    """
    sizes = eagle_case.draft.geometry

    def judge(reading: Resolution) -> Outcome:
        if reading.semantics.head_dim == "read" or None in (sizes.hidden_size, sizes.heads):
            return passed("reads head_dim")
        assert sizes.hidden_size is not None
        assert sizes.heads is not None
        built = sizes.hidden_size.value // max(sizes.heads.value, 1)
        if sizes.head_dim is not None and sizes.head_dim.value != built:
            return refused(f"builds heads of {built}", f"{sizes.head_dim.value}, as stored")
        return passed(f"builds heads of {built}")

    return across(eagle_case, judge)


@contract("checkpoint.dtypes")
def dtypes(eagle_case: Case) -> Outcome:
    """Weights are floats of one type.

    Why: mixed types meet in one matrix product, and integers were cast by mistake.
    Incident: sglang#3824, where a float16 draft met a bfloat16 target.
    Fix: cast the weights, and only them, to the target's type before the export.
    Since: 0.1.0
    """
    weights = [i for n, i in eagle_case.draft.tensors.items() if n not in ("d2t", "t2d")]
    wrong = [i for i in weights if i.dtype not in FLOATS | QUANTISED]
    problems = [f"{i.name} is {i.dtype}" for i in wrong]
    found = sorted({i.dtype for i in weights if i.dtype in FLOATS})
    note = f"several float types are mixed: {', '.join(found)}" if len(found) > 1 else ""
    theirs = eagle_case.target.config.text("dtype", "torch_dtype") if eagle_case.target else None
    mine = eagle_case.draft.config.text("dtype", "torch_dtype")
    if not note and mine and theirs and mine.value != theirs.value:
        note = f"the draft's dtype is {mine.value}, the target's {theirs.value}"
    if problems:
        return failed("; ".join(problems), "BF16, F16 or F32")
    return passed(", ".join(found) or "quantised weights", note)


@contract("checkpoint.quantization")
def quantization(eagle_case: Case) -> Outcome:
    """Quantised weights and a quantization_config come together.

    Why: engines choose the loader from the config; a draft often inherits the target's by mistake.
    Incident: vllm#25883 and sglang#28196, where a plain draft met its target's quantisation.
    Fix: write the config of what is stored, or store plain weights.
    Since: 0.1.0
    """
    draft = eagle_case.draft
    stated = draft.config.table(
        "quantization_config", "transformer_layer_config.quantization_config"
    )
    packed = [
        i for n, i in draft.tensors.items() if n not in ("d2t", "t2d") and i.dtype in QUANTISED
    ]
    if packed and stated is None:
        return failed(
            f"{packed[0].name} is {packed[0].dtype} and no quantization_config is written",
            "both or neither",
        )
    if stated is not None and not packed:
        return failed(
            f"{stated.where} is written and all weights are plain floats", "both or neither"
        )
    return passed("quantised and declared" if packed else "plain weights, nothing declared")


@contract("checkpoint.finite")
def finite(eagle_case: Case) -> Outcome:
    """Weights are finite numbers and no tensor is all zero.

    Why: NaN spreads to every draft token; a tensor of zeros was allocated and never trained.
    Incident: speculators fills NaN heads on load, because partly trained heads were saved.
    Fix: export the last finite step; --eagle-full-scan reads every weight.
    Since: 0.1.0
    """
    problems, read = faults(eagle_case.draft, eagle_case.full_scan)
    return verdict(problems, "finite numbers, not all zero", f"{read:,} values read")


@contract("checkpoint.depth")
def depth(eagle_case: Case) -> Outcome:
    """The config counts as many draft layers as are stored.

    Why: an engine builds the layers of the config and leaves those without tensors uninitialised.
    Incident: SpecForge#129, where a draft config kept its target's 48 layers.
    Fix: write num_hidden_layers of the draft.
    Since: 0.1.0
    """
    draft = eagle_case.draft
    stated = draft.geometry.layers
    if stated is None:
        return failed("num_hidden_layers is not written", f"{draft.layers}")
    if not is_eagle3(draft):
        return blocked("checkpoint.architecture", "this is no EAGLE-3 draft")
    if stated.value != draft.layers:
        return failed(f"{stated.where} is {stated.value}", f"{draft.layers}, as stored")
    return passed(f"{draft.layers} layers")


@contract("checkpoint.depth", subject="engine")
def engine_depth(eagle_case: Case) -> Outcome:
    """The engine runs as many draft layers as the checkpoint has, in the way they were trained.

    Why: some engines refuse more than one; others feed later layers from another norm.
    Incident: vllm#33330, a two-layer draft whose second token collapsed.
    Fix: train one layer, or choose an engine that runs the draft's depth.
    Since: 0.1.0
    """
    layers = eagle_case.draft.layers

    def judge(reading: Resolution) -> Outcome:
        most = reading.semantics.max_layers
        if most and layers > most:
            return refused(f"takes at most {most} draft layers", f"{layers}, as stored")
        fed = reading.semantics.later_layer_norm
        if layers > 1 and fed and f"layers.1.{fed}.weight" not in eagle_case.draft.tensors:
            return failed(
                f"feeds layers after the first through {fed}, which they do not hold",
                "the norm that was trained",
            )
        return passed(f"{layers} layers")

    return across(eagle_case, judge)
