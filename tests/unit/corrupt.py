"""Build broken checkpoints from a seed: each case is a name and what fills a directory."""

from __future__ import annotations

import copy
import io
import json
import os
import pickle
import random
import struct
import zipfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import ml_dtypes
import numpy as np
from safetensors.numpy import save

Build = Callable[[Path], None]
Case = tuple[str, Build]

CONFIG: dict[str, object] = {
    "architectures": ["Eagle3Speculator"],
    "speculators_model_type": "eagle3",
    "model_type": "llama",
    "hidden_size": 8,
    "intermediate_size": 16,
    "num_hidden_layers": 1,
    "num_attention_heads": 2,
    "num_key_value_heads": 1,
    "head_dim": 4,
    "vocab_size": 32,
    "draft_vocab_size": 8,
    "target_hidden_size": 8,
    "max_position_embeddings": 64,
    "sliding_window": 16,
    "use_sliding_window": False,
    "layer_types": ["full_attention"],
    "tie_word_embeddings": False,
    "rope_theta": 10000.0,
    "rope_scaling": {"rope_type": "linear", "factor": 2.0},
    "norm_before_residual": True,
    "norm_output": False,
    "fc_norm": False,
    "eagle_aux_hidden_state_layer_ids": [2, 4, 5],
    "eagle_config": {"eagle_aux_hidden_state_layer_ids": [1, 3, 4], "use_aux_hidden_state": True},
    "transformer_layer_config": {"hidden_size": 8, "num_attention_heads": 2, "rms_norm_eps": 1e-5},
}

WRONG: tuple[object, ...] = (
    None,
    True,
    -1,
    0,
    10**400,
    1.5,
    float("nan"),
    float("inf"),
    "text",
    "\ud800\n\x00",
    [],
    [None],
    [[1]],
    {},
    {"a": {"b": 1}},
    [10**9] * 3,
)


def tensors() -> dict[str, np.ndarray]:
    """Return a small draft's tensors in the dtypes that drafts use."""
    rng = np.random.default_rng(0)
    return {
        "fc.weight": rng.normal(size=(8, 24)).astype(ml_dtypes.bfloat16),
        "layers.0.self_attn.q_proj.weight": rng.normal(size=(8, 16)).astype(np.float16),
        "norm.weight": rng.normal(size=8).astype(np.float32),
        "lm_head.weight": rng.normal(size=(8, 8)).astype(ml_dtypes.float8_e4m3fn),
        "d2t": np.array([1, 1, 4, 5, 9, 11, 20, 24]),
        "t2d": np.arange(32) % 4 == 1,
    }


def write(directory: Path, weights: bytes | None = None, config: bytes | None = None) -> None:
    """Write a checkpoint with the given bytes in place of the sound ones."""
    directory.mkdir(parents=True, exist_ok=True)
    (directory / "model.safetensors").write_bytes(save(tensors()) if weights is None else weights)
    (directory / "config.json").write_bytes(json_bytes(CONFIG) if config is None else config)


def json_bytes(value: object) -> bytes:
    """Return JSON, surrogates escaped."""
    return json.dumps(value).encode()


def framed(header: bytes, data: bytes = b"", length: int | None = None) -> bytes:
    """Return a safetensors file with any header, any data and any claimed header length."""
    return struct.pack("<Q", len(header) if length is None else length) + header + data


def flipped(data: bytes, rng: random.Random, first: int, last: int, count: int) -> bytes:
    """Return `data` with `count` random bits changed between two offsets."""
    changed = bytearray(data)
    for _ in range(count):
        changed[rng.randrange(first, last)] ^= 1 << rng.randrange(8)
    return bytes(changed)


def truncated_weights(rng: random.Random) -> Iterator[Case]:
    """Cut the weights at every length of the header and at random ones beyond."""
    sound = save(tensors())
    cuts = [*range(0, 200, 2), *(rng.randrange(len(sound)) for _ in range(200))]
    for cut in cuts:
        yield f"cut {cut}", partial(write, weights=sound[:cut])


def flipped_weights(rng: random.Random) -> Iterator[Case]:
    """Flip bits of length, header and data."""
    sound = save(tensors())
    (length,) = struct.unpack("<Q", sound[:8])
    regions = [(0, 8, 80), (8, 8 + length, 600), (8 + length, len(sound), 20)]
    for first, last, cases in regions:
        for number in range(cases):
            bad = flipped(sound, rng, first, last, 1 + number % 3)
            yield f"flip {first}-{last} #{number}", partial(write, weights=bad)


def absurd_headers(rng: random.Random) -> Iterator[Case]:
    """Claim impossible header lengths, or hold something else than a header."""
    sound = save(tensors())
    lengths = [0, 1, 7, len(sound) - 9, len(sound) - 8, len(sound) - 7, 10**8 + 1, 2**31, 2**32]
    lengths += [2**62, 2**63 - 1, 2**63, 2**64 - 1, *(rng.getrandbits(64) for _ in range(40))]
    for length in lengths:
        bad = struct.pack("<Q", length) + sound[8:]
        yield f"length {length}", partial(write, weights=bad)
    texts = [b"", b"[]", b"null", b"1", b'""', b"{", b"{}", b"\xff\xfe", b" " * 4096, b"[" * 9999]
    texts += [b'{"a":' * 5000, b'{"__metadata__": 1}', b'{"__metadata__": {"a": 1}}']
    texts += [json_bytes({"a": 10**400}), b'{"a": NaN}', b'{"a": {}, "a": {}}']
    entry = b'{"dtype":"F32","shape":[0],"data_offsets":[0,0]}'
    texts += [b'{"a":%b,"a":%b}' % (entry, entry), b'{"\\ud800":%b}' % entry, b'{"":%b}' % entry]
    texts += [b'{"a\\n\\u0000b":%b}' % entry]
    for number, text in enumerate(texts):
        yield f"header {number}", partial(write, weights=framed(text))
    pointer = b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 4\n"
    yield "lfs pointer", partial(write, weights=pointer)


def wrong_entries(rng: random.Random) -> Iterator[Case]:
    """Give one tensor of the header a wrong dtype, shape or offset."""
    sound = save(tensors())
    (length,) = struct.unpack("<Q", sound[:8])
    header, data = json.loads(sound[8 : 8 + length]), sound[8 + length :]
    numbers = [-1, 0, 1, 7, 10**9, 2**31, 2**53, 2**63 - 1, 2**63, 2**64 - 1, 10**30, 1.0, None]
    values: dict[str, list[object]] = {
        "dtype": [*WRONG, "F4", "F6_E2M3", "F64", "BOOL", "bf16", "F8_E8M0"],
        "shape": [*WRONG, *([a, b] for a in numbers for b in (0, 1, 2**40)), [1] * 5000],
        "data_offsets": [*WRONG, *([a, b] for a in numbers for b in numbers)],
    }
    for field, choices in values.items():
        for value in choices:
            bad = copy.deepcopy(header)
            bad[rng.choice(sorted(bad))][field] = value
            text = json_bytes(bad)
            yield f"{field} {value!r:.40}", partial(write, weights=framed(text, data))
    for value in WRONG:
        text = json_bytes(header | {"norm.weight": value})
        yield f"entry {value!r:.40}", partial(write, weights=framed(text, data))


def wrong_config_values(_rng: random.Random) -> Iterator[Case]:
    """Put a value of the wrong type at every place of the config."""
    for place in places(CONFIG):
        for number, value in enumerate(WRONG):
            bad = copy.deepcopy(CONFIG)
            node: dict[str, object] = bad
            *parents, last = place.split(".")
            for parent in parents:
                inner = node[parent]
                assert isinstance(inner, dict)
                node = inner
            node[last] = value
            text = json_bytes(bad)
            yield f"{place} #{number}", partial(write, config=text)


def places(node: dict[str, object], prefix: str = "") -> Iterator[str]:
    """Yield the dotted place of every key."""
    for key, value in node.items():
        yield prefix + key
        if isinstance(value, dict):
            yield from places(value, f"{prefix}{key}.")


def wrong_config_text(rng: random.Random) -> Iterator[Case]:
    """Damage the config's bytes."""
    sound = json_bytes(CONFIG)
    bad = [sound[: rng.randrange(len(sound))] for _ in range(100)]
    bad += [flipped(sound, rng, 0, len(sound), 1 + n % 4) for n in range(200)]
    bad += [b"", b"\x00", b"[]", b"null", b"3", b'"x"', b"NaN", b"\xef\xbb\xbf" + sound]
    bad += [json.dumps(CONFIG).encode("utf-16"), b'{"a": ' + b"9" * 10_001 + b"}", b"[" * 200_000]
    bad += [b'{"a":' * 100_000, b'{"vocab_size": 1e999}', b'{"vocab_size": -0}', b"\xff" * 64]
    bad += [b'{"a": "\\ud800"}', b'{"hidden_size": ' + b"[" * 900 + b"]" * 900 + b"}"]
    for number, text in enumerate(bad):
        yield f"config {number}", partial(write, config=text)


def wrong_shards(rng: random.Random) -> Iterator[Case]:
    """Break an index, its shards or the agreement between the two."""
    first, second = "model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors"
    names = sorted(tensors())
    sound = {n: first if i < len(names) // 2 else second for i, n in enumerate(names)}

    def build(d: Path, index: bytes, drop: str = "", twice: bool = False) -> None:
        write(d)
        (d / "model.safetensors").unlink()
        for shard in {first, second} - {drop}:
            kept = {n: t for n, t in tensors().items() if twice or sound[n] == shard}
            (d / shard).write_bytes(save(kept))
        if index:
            (d / "model.safetensors.index.json").write_bytes(index)

    text = json_bytes({"metadata": {}, "weight_map": sound})
    yield "sound shards", partial(build, index=text)
    yield "no index", partial(build, index=b"")
    for drop in (first, second):
        yield f"no {drop}", partial(build, index=text, drop=drop)
        yield f"no index, no {drop}", partial(build, index=b"", drop=drop)
    yield "twice", partial(build, index=text, twice=True)
    outside = ["../x.safetensors", "/etc/passwd", "", ".", "..", "a\\b", "c\x00d", "x" * 5000]
    for value in (*WRONG, *outside, second, "config.json"):
        for key in (names[0], "absent.weight"):
            bad = json_bytes({"weight_map": sound | {key: value}})
            yield f"{key} -> {value!r:.40}", partial(build, index=bad)
        bad = json_bytes({"weight_map": value})
        yield f"map {value!r:.40}", partial(build, index=bad)
    for number in range(100):
        bad = flipped(text, rng, 0, len(text), 1 + number % 3)
        yield f"index flip {number}", partial(build, index=bad)


def wrong_kinds(_rng: random.Random) -> Iterator[Case]:
    """Put something that is no file where a file belongs."""
    sharded = "model.safetensors.index.json"
    for name in ("config.json", "model.safetensors", "pytorch_model.bin", sharded):
        for made, make in KINDS.items():

            def build(d: Path, name: str = name, make: Build = make) -> None:
                write(d)
                if name not in ("config.json", "model.safetensors"):
                    (d / "model.safetensors").unlink()
                (d / name).unlink(missing_ok=True)
                make(d / name)

            yield f"{made} as {name}", build
    yield "empty directory", lambda d: d.mkdir(parents=True)
    yield "nothing", lambda d: None
    yield "file", _text
    for made, make in KINDS.items():
        if made != "nothing":
            yield f"{made} as checkpoint", make


def _loop(path: Path) -> None:
    other = path.with_name(path.name + ".loop")
    path.symlink_to(other)
    other.symlink_to(path)


def _text(path: Path) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(b"x")


def _unreadable(path: Path) -> None:
    path.write_bytes(b"{}")
    path.chmod(0)


KINDS: dict[str, Build] = {
    "nothing": lambda p: None,
    "directory": lambda p: p.mkdir(),
    "fifo": os.mkfifo,
    "loop": _loop,
    "dangling": lambda p: p.symlink_to("nowhere"),
    "endless device": lambda p: p.symlink_to("/dev/zero"),
    "null device": lambda p: p.symlink_to("/dev/null"),
    "link through a file": lambda p: p.symlink_to("/dev/null/x"),
    "unreadable": _unreadable,
}
"""What can stand in a file's place; root reads the unreadable one, which then fails as `{}`."""


class Hostile:
    """Run a command when unpickled."""

    def __init__(self, command: str) -> None:
        self.command = command

    def __reduce__(self) -> tuple[Callable[[str], int], tuple[str]]:
        return os.system, (self.command,)


def wrong_pickles(rng: random.Random) -> Iterator[Case]:
    """Write torch files that carry code, unpack to far more than their size or are damaged."""
    code = pickle.dumps({"fc.weight": Hostile("touch pwned")}, protocol=2)
    framed_code = pickle.dumps({"fc.weight": Hostile("touch pwned")}, protocol=5)
    plain = pickle.dumps({"fc.weight": [1.0]}, protocol=2)
    bad = [b"", b"PK", b"PK\x03\x04" + b"\x00" * 60, code, plain, pickle.dumps([1]), b"\x80\x05."]
    bad += [framed_code, archive(code), archive(framed_code), archive(plain)]
    bad += [archive(plain, b"\x00" * 10**6, zipfile.ZIP_DEFLATED)]
    bad += [rng.randbytes(rng.randrange(1, 300)) for _ in range(30)]
    zipped = archive(code)
    bad += [flipped(zipped, rng, 0, len(zipped), 1 + n % 3) for n in range(60)]
    bad += [zipped[: rng.randrange(len(zipped))] for _ in range(30)]
    for number, data in enumerate(bad):

        def build(d: Path, data: bytes = data) -> None:
            write(d)
            (d / "model.safetensors").unlink()
            (d / "pytorch_model.bin").write_bytes(data)

        yield f"pickle {number}", build


def archive(pickled: bytes, storage: bytes = b"", method: int = zipfile.ZIP_STORED) -> bytes:
    """Return a torch zip archive with this pickle in it."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as file:
        file.writestr("model/data.pkl", pickled)
        file.writestr("model/byteorder", "little")
        file.writestr("model/version", "3\n")
        file.writestr("model/data/0", storage)
    return out.getvalue()


FAMILIES: dict[str, Callable[[random.Random], Iterator[Case]]] = {
    f.__name__: f
    for f in (
        truncated_weights,
        flipped_weights,
        absurd_headers,
        wrong_entries,
        wrong_config_values,
        wrong_config_text,
        wrong_shards,
        wrong_kinds,
        wrong_pickles,
    )
}
