"""Queries and keys of a Hugging Face model, where the softmax sees them.

    from transformers import AutoModelForCausalLM, AutoTokenizer
    from dewpoint import capture

    model = AutoModelForCausalLM.from_pretrained("Qwen/Qwen3-0.6B")
    ids = AutoTokenizer.from_pretrained("Qwen/Qwen3-0.6B")(text, return_tensors="pt").input_ids
    capture.to_dump(model, ids, "dump")           # then: dewpoint heads dump
    capture.to_dump(model, ids, "dump", chunk=1024)  # a long text, piece by piece
    capture.heads(model, ids)                     # straight into dewpoint.heads, nothing on disk

    with capture.Capture(model, "dump"):          # or around a call of your own
        model(ids)

The model keeps its own attention (`sdpa` or `eager`): a function with the interface of Transformers
stands before it, looks at what passes and hands it on, so the output has the same bits. Every layer
is on disk, or measured, before the next one runs.

What is kept are queries [H, n, d] after rotation and normalisation, keys [Hk, n, d] before they are
shared out to the query heads, perhaps values, learned sinks, and as metadata the scale, window and
softcap that the layer uses. A dump says with these alone which keys a query sees, so every mask is
compared with them: padding, packed texts, images seen at once and added biases are refused.

PyTorch and Transformers are imported when something is captured, not before.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import functools
import hashlib
import json
import math
import os
import secrets
import shutil
import struct
import sys
import threading
import warnings
import weakref
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Callable, Iterable, Sequence

if TYPE_CHECKING:
    import torch
    from transformers import PreTrainedModel

__all__ = ["Capture", "Facts", "Layer", "heads", "to_dump"]

#: Attention of Transformers that can run behind a capture.
IMPLEMENTATIONS = ("sdpa", "eager")
#: How numbers can be stored: our name, that of PyTorch.
DTYPES = {"f16": "float16", "bf16": "bfloat16", "f32": "float32", "f64": "float64"}

_captures: "weakref.WeakKeyDictionary[torch.nn.Module, Capture]" = weakref.WeakKeyDictionary()
_captures_lock = threading.Lock()


@dataclass(frozen=True)
class Facts:
    """What a layer does with its queries and keys."""

    scale: float  # of <q, k>
    window: int = 0  # keys that a query sees at most, itself included; 0: no limit
    softcap: float = 0.0  # scores are c tanh(s/c); 0: they are not
    m_applied: float = 1.0  # multiplier of the logits that queries and keys already contain
    rope: str = "post"  # or none
    model: str = ""
    text_sha256: str = ""

    def metadata(self) -> dict[str, str]:
        """As a dump has them."""
        found = {"format": "dewpoint-qk", "version": "1", "layout": "HND", "causal": "true",
                 "rope": self.rope, "scale": repr(self.scale), "m_applied": repr(self.m_applied),
                 "window": str(self.window)}
        if self.softcap:
            found["softcap"] = repr(self.softcap)
        if self.model:
            found["model"] = self.model
        if self.text_sha256:
            found["text_sha256"] = self.text_sha256
        return found


@dataclass
class Layer:
    """One layer in memory."""

    number: int
    facts: Facts
    q: torch.Tensor  # [H, n, d]
    k: torch.Tensor  # [Hk, n, d]
    v: torch.Tensor | None = None  # [Hk, n, dv]
    sink: torch.Tensor | None = None  # [H], a logit beside the scores


class Capture:
    """Keeps queries and keys of every causal attention layer that runs inside the `with` block.

        with capture.Capture(model, "dump", length=2048) as dump:
            model(ids[:, :1024], past_key_values=cache)
            model(ids[:, 1024:], past_key_values=cache)
        dump.folders                                  # [PosixPath('dump')]

    model    a model of Transformers whose attention is sdpa or eager; it is left as it was found
    output   a folder that does not exist yet, or a function that is called with every Layer
    length   tokens of the whole text, where it comes in several calls with a cache that starts empty;
             otherwise the first call is the whole
    layers   numbers of the layers to keep; all of them where nobody says
    batch    which text of a batch; needed where there are several
    dtype    f16, bf16, f32 or f64; as the model has it where nobody says
    values   keep the values too
    text     the text that the tokens stand for; its SHA-256 is kept

    A folder appears under its name when the block ends well, and not at all otherwise. Layers that
    differ in window, scale, softcap or multiplier are not one dump: then the folder holds one folder for
    each kind, and `folders` lists them.
    """

    def __init__(self, model: PreTrainedModel, output: str | os.PathLike[str] | Callable[[Layer], Any],
                 *, length: int | None = None, layers: Iterable[int] | None = None,
                 batch: int | None = None, dtype: str | None = None, values: bool = False,
                 text: str | None = None) -> None:
        _require_libraries()
        if not hasattr(model, "set_attn_implementation"):
            raise TypeError(f"model: found {type(model).__name__}, allowed: a model of Transformers")
        _require(length is None or length > 0, "length", length, "a positive number of tokens")
        _require(dtype is None or dtype in DTYPES, "dtype", dtype, ", ".join(DTYPES))
        self._model = model
        self._length = length
        self._wanted = None if layers is None else sorted(set(layers))
        self._batch = batch
        self._dtype = dtype
        self._values = values
        self._text_sha256 = hashlib.sha256(text.encode()).hexdigest() if text is not None else ""
        self._store: _Memory | _Folder = _Memory(output) if callable(output) else _Folder(Path(output))
        self._switch = _AttentionSwitch(model)
        self._rotation = _Rotation(model)
        self._seen: dict[int, _LayerInProgress] = {}
        self._masks = _MaskCheck()

    @property
    def layers(self) -> list[int]:
        """Numbers of the layers that were seen, increasing."""
        return sorted(self._seen)

    @property
    def folders(self) -> list[Path]:
        """The dumps that were written, each for one call of `dewpoint heads`."""
        return self._store.folders

    def __enter__(self) -> Capture:
        with _captures_lock:
            if any(module in _captures for module in self._model.modules()):
                raise ValueError("model: it is being captured already")
            self._store.open()
            try:
                self._switch.turn_on()
            except BaseException:
                self._store.discard()
                raise
            for module in self._model.modules():
                _captures[module] = self
        return self

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        with _captures_lock:
            for module in self._model.modules():
                _captures.pop(module, None)
            self._switch.turn_off()
        try:
            if kind is None:
                self._require_everything()
                self._store.commit()
        finally:
            self._store.discard()

    def _require_everything(self) -> None:
        absent = sorted(set(self._wanted or []) - set(self._seen))
        _require(not absent, "layers", absent, "numbers of layers with causal attention")
        if not self._seen:
            raise ValueError("model: no causal attention layer ran that goes through the AttentionInterface of "
                             "Transformers")
        for number, layer in sorted(self._seen.items()):
            if layer.tokens < layer.length:
                raise ValueError(f"length: found {layer.tokens} tokens in layer {number}, allowed: {layer.length}")

    def _see(self, call: _Call) -> None:
        number = getattr(call.module, "layer_idx", None)
        if number is None or not getattr(call.module, "is_causal", True):
            return  # of an encoder, or across to one
        if self._wanted is not None and number not in self._wanted:
            return
        row = self._row(call.query.shape[0])
        layer = self._layer(number, call)
        total = layer.tokens + call.tokens
        if total > layer.length:
            raise ValueError(f"length: found {total} tokens in layer {number}, allowed: {layer.length}; give the "
                             "length of the whole text where it comes in several calls")
        sight = _Sight(call.tokens, call.key.shape[2], total, layer.facts.window)
        sight.require_keys()
        self._masks.require_causal(call, row, sight)
        layer.add({name: part[row, :, -call.tokens:] for name, part in self._parts(call).items()}, call.tokens)

    def _row(self, texts: int) -> int:
        if self._batch is None:
            _require(texts == 1, "batch", f"{texts} texts", "one, or say which")
            return 0
        _require(0 <= self._batch < texts, "batch", self._batch, f"0 to {texts - 1}")
        return self._batch

    def _parts(self, call: _Call) -> dict[str, torch.Tensor]:
        parts = {"q": call.query, "k": call.key}
        return {**parts, "v": call.value} if self._values else parts

    def _layer(self, number: int, call: _Call) -> _LayerInProgress:
        if number not in self._seen:
            self._seen[number] = self._begin(number, call)
        layer = self._seen[number]
        if layer.module is not call.module:
            raise ValueError(f"model: found two causal attention modules that are layer {number}, allowed: one decoder")
        return layer

    def _begin(self, number: int, call: _Call) -> _LayerInProgress:
        facts = self._facts(call)
        length = self._length or call.tokens
        shapes: dict[str, tuple[int, ...]] = {name: (part.shape[1], length, part.shape[3])
                                              for name, part in self._parts(call).items()}
        sink = call.options.get("s_aux")
        if sink is not None:
            shapes["sink"] = tuple(sink.shape)
        target = self._store.layer(number, facts, shapes, self._dtype or _dtype_name(call.query))
        if sink is not None:
            target.write("sink", None, sink.detach())
        return _LayerInProgress(call.module, facts, length, target)

    def _facts(self, call: _Call) -> Facts:
        if call.options.get("position_bias") is not None:
            raise ValueError("position_bias: found a bias that is added to the scores, allowed: scores of queries and "
                             "keys alone")
        scaling, dimension = call.options.get("scaling"), call.query.shape[3]
        return Facts(scale=float(scaling) if scaling is not None else dimension ** -0.5,
                     window=int(call.options.get("sliding_window") or 0),
                     softcap=float(call.options.get("softcap") or 0.0),
                     m_applied=self._rotation.multiplier(call.module, dimension), rope=self._rotation.kind(),
                     model=_model_name(self._model), text_sha256=self._text_sha256)


def to_dump(model: PreTrainedModel, input_ids: torch.Tensor | Sequence[int],
            output: str | os.PathLike[str], *, chunk: int | None = None,
            layers: Iterable[int] | None = None, dtype: str | None = None, values: bool = False,
            text: str | None = None) -> list[Path]:
    """Runs a model on one text and writes a folder with one file per layer, for `dewpoint heads FOLDER`.

        capture.to_dump(model, ids, "dump")               # [PosixPath('dump')]
        capture.to_dump(model, ids, "dump", chunk=1024)   # long texts: activations of 1024 tokens at a time

    input_ids are token ids, [n] or [1, n]. The logits are not computed. With `chunk` the text goes through
    the model in pieces, with a cache of keys and values. The other arguments are those of Capture. Returns the
    folders that were written: more than one where layers differ in what a dump says once (see Capture).
    """
    ids = _one_text(model, input_ids)
    taken = Capture(model, output, length=ids.shape[1], layers=layers, dtype=dtype, values=values, text=text)
    with taken:
        _run(model, ids, chunk)
    return taken.folders


def heads(model: PreTrainedModel, input_ids: torch.Tensor | Sequence[int], *,
          chunk: int | None = None, layers: Iterable[int] | None = None,
          measure: Callable[..., Any] | None = None, **options: Any) -> dict[int, Any]:
    """Runs a model on one text and measures the heads of every layer as it passes.

        found = capture.heads(model, ids, layers=[0, 12])
        found[12]                                    # what dewpoint.heads says of layer 12

    `measure` is dewpoint.heads where nobody says. It is called with q [H, n, d] and k [Hk, n, d], tensors in main
    memory of the type that the model has, with `scale`, `causal` and `m_applied`, with `window`, `softcap` and `sink`
    where the layer has them, and with the options. Without `chunk` one layer is in memory at a time; with it the
    queries and keys of all layers are, until the last piece of the text.
    """
    found: dict[int, Any] = {}
    ask = measure or _our_heads()

    def visit(layer: Layer) -> None:
        found[layer.number] = ask(layer.q, layer.k, **{**_arguments(layer), **options})

    ids = _one_text(model, input_ids)
    with Capture(model, visit, length=ids.shape[1], layers=layers):
        _run(model, ids, chunk)
    return found


# --- the attention of a model --------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Call:
    """What an attention module is about to do."""

    module: torch.nn.Module
    query: torch.Tensor  # [B, H, n, d]
    key: torch.Tensor  # [B, Hk, n_k, d]
    value: torch.Tensor  # [B, Hk, n_k, dv]
    mask: torch.Tensor | None  # [B or 1, H or 1, n, n_k]: truth values, or numbers added to the scores
    options: dict[str, Any]
    implementation: str

    @property
    def tokens(self) -> int:
        return self.query.shape[2]


class _AttentionSwitch:
    """Puts a function that looks before the attention of a model, and takes it away again."""

    def __init__(self, model: PreTrainedModel) -> None:
        self._model = model
        self._part = _decoder_part(model.config)
        self._former = ""

    def turn_on(self) -> None:
        self._former = self._current()
        _require(self._former in IMPLEMENTATIONS, "model", f"attention '{self._former}'",
                 " or ".join(IMPLEMENTATIONS) + ", as in model.set_attn_implementation('sdpa')")
        name = _register(self._former)
        self._model.set_attn_implementation({self._part: name})
        if self._current() != name:
            raise TypeError(f"model: found {type(self._model).__name__}, which does not go through the "
                            "AttentionInterface of Transformers")

    def turn_off(self) -> None:
        self._model.set_attn_implementation({self._part: self._former})

    def _current(self) -> str:
        config = self._model.config
        return (getattr(config, self._part) if self._part else config)._attn_implementation


def _decoder_part(config: Any) -> str:
    """The name under which the configuration of the text decoder is found; empty: it is the whole."""
    text = config.get_text_config()
    return next((name for name in config.sub_configs if getattr(config, name, None) is text), "")


def _register(implementation: str) -> str:
    """Makes the function known to Transformers, with the masks of the attention behind it: without those it would
    see no mask at all."""
    from transformers import AttentionInterface, AttentionMaskInterface

    name = f"dewpoint_capture_{implementation}"
    AttentionInterface.register(name, functools.partial(_look_and_attend, implementation))
    AttentionMaskInterface.register(name, AttentionMaskInterface()[implementation])
    return name


def _look_and_attend(implementation: str, module: torch.nn.Module, query: torch.Tensor, key: torch.Tensor,
                     value: torch.Tensor, attention_mask: torch.Tensor | None, **options: Any) -> Any:
    taken = _captures.get(module)
    if taken is not None:
        taken._see(_Call(module, query.detach(), key.detach(), value.detach(), attention_mask, options, implementation))
    attend = _attention_behind(implementation, module)
    return attend(module, query, key, value, attention_mask, **options)


def _attention_behind(implementation: str, module: torch.nn.Module) -> Callable[..., Any]:
    """What the model would have called: eager attention is a function beside its class, and a model may have its own
    sdpa."""
    eager = _beside(module, "eager_attention_forward")
    if implementation == "eager":
        if eager is None:
            raise ValueError(f"model: found no eager attention beside {type(module).__name__}, allowed: sdpa")
        return eager
    interface = _beside(module, "ALL_ATTENTION_FUNCTIONS")
    if interface is None:
        from transformers import AttentionInterface

        interface = AttentionInterface()
    return interface[implementation]


def _beside(module: torch.nn.Module, name: str) -> Any:
    """A name in the file that defines the module's class, or one that it inherits from."""
    for kind in type(module).__mro__:
        found = getattr(sys.modules.get(kind.__module__), name, None)
        if found is not None:
            return found
    return None


# --- which keys a query sees ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Sight:
    """The queries of the last tokens, the keys of some before them, in causal order and perhaps a window."""

    tokens: int
    keys: int
    total: int  # tokens so far
    window: int

    def require_keys(self) -> None:
        """Keys are those of all tokens so far, but for some at the beginning that no window reaches any more."""
        dropped = self.total - self.keys
        first_seen = max(0, self.total - self.tokens - self.window + 1) if self.window else 0
        _require(0 <= dropped <= first_seen, "past_key_values", f"{self.keys} keys for {self.total} tokens",
                 "a cache that grows, empty when the capture begins")

    def mask(self, device: torch.device) -> torch.Tensor:
        """Which query sees which key."""
        import torch

        query = torch.arange(self.total - self.tokens, self.total, device=device)[:, None]
        key = torch.arange(self.total - self.keys, self.total, device=device)[None, :]
        seen = key <= query
        return seen & (key > query - self.window) if self.window else seen

    def __str__(self) -> str:
        return "causal order" + (f" with a window of {self.window}" if self.window else "")


class _MaskCheck:
    """Is a mask what causal order and a window say? The layers of a model share few masks."""

    def __init__(self) -> None:
        self._passed: Callable[[], torch.Tensor | None] = lambda: None
        self._passed_as: tuple[int, _Sight] | None = None

    def require_causal(self, call: _Call, row: int, sight: _Sight) -> None:
        if call.mask is None:
            self._require_implied(call, sight)
            return
        if self._passed() is call.mask and self._passed_as == (row, sight):
            return
        self._compare(call.mask[row if call.mask.shape[0] > 1 else 0], sight)
        self._passed, self._passed_as = weakref.ref(call.mask), (row, sight)

    @staticmethod
    def _require_implied(call: _Call, sight: _Sight) -> None:
        """Without a mask one query sees all keys; of several, sdpa shows each the keys up to its own."""
        implied = call.implementation == "sdpa" and call.options.get("is_causal") is not False
        causal = sight.tokens == 1 or (implied and sight.tokens == sight.keys)
        _require(causal and (not sight.window or sight.keys <= sight.window), "attention_mask",
                 f"none for {sight.tokens} queries of {sight.keys} keys", f"one of {sight}")

    @staticmethod
    def _compare(mask: torch.Tensor, sight: _Sight) -> None:
        import torch

        expected = sight.mask(mask.device)
        found = mask if mask.dtype == torch.bool else mask == 0
        if found.shape[1:] != expected.shape or not bool((found == expected).all()):
            raise ValueError(f"attention_mask: found one that differs from {sight}, allowed: one text without padding, "
                             "every query sees the keys before it")


# --- what queries and keys already contain -------------------------------------------------------------------


class _Rotation:
    """The multiplier of the logits that comes with the positions.

    YaRN and its kin multiply cosines and sines by a factor, queries and keys alike: the logits carry its square.
    """

    def __init__(self, model: PreTrainedModel) -> None:
        self._config = model.config.get_text_config()
        self._modules: list[Any] = [module for module in model.modules() if self._factors(module)]
        self._warned = False

    def kind(self) -> str:
        named = any(name.startswith(("rope", "rotary")) for name in vars(self._config))
        return "post" if self._modules or named else "none"

    def multiplier(self, attention: torch.nn.Module, dimension: int) -> float:
        """Of the logits of one layer; 1, with a warning, where it is no single number."""
        if self._depends_on_position(attention):
            return self._unknown("the multiplier of queries depends on their position")
        factors = {name: factor for module in self._modules for name, factor in self._factors(module).items()}
        own = f"{getattr(attention, 'layer_type', '')}_attention_scaling"
        values = {factors[own]} if own in factors else set(factors.values())
        if values <= {1.0}:
            return 1.0
        if len(values) > 1:
            return self._unknown("several rotations have different multipliers")
        if any(2 * module.inv_freq.numel() != dimension for module in self._modules if hasattr(module, "inv_freq")):
            return self._unknown("a part of the coordinates is rotated and multiplied")
        return values.pop() ** 2

    @staticmethod
    def _factors(module: torch.nn.Module) -> dict[str, float]:
        return {name: float(value) for name, value in vars(module).items()
                if name.endswith("attention_scaling") and isinstance(value, (int, float))}

    def _depends_on_position(self, attention: torch.nn.Module) -> bool:
        """Llama 4 multiplies queries of layers without rotation, others say so beside the rotation."""
        llama_4 = getattr(attention, "attn_temperature_tuning", False) and not getattr(attention, "use_rope", True)
        return bool(llama_4) or "llama_4_scaling_beta" in (getattr(self._config, "rope_parameters", None) or {})

    def _unknown(self, reason: str) -> float:
        if not self._warned:
            warnings.warn(f"m_applied is left at 1: {reason}", stacklevel=2)
        self._warned = True
        return 1.0


# --- where layers go -----------------------------------------------------------------------------------------


@dataclass
class _LayerInProgress:
    module: torch.nn.Module
    facts: Facts
    length: int  # tokens of the whole text
    target: _LayerInMemory | _LayerFile
    tokens: int = 0  # so far

    def add(self, parts: dict[str, torch.Tensor], tokens: int) -> None:
        for name, part in parts.items():
            self.target.write(name, self.tokens, part)
        self.tokens += tokens
        if self.tokens == self.length:
            self.target.finish()


class _Memory:
    """Layers are handed to a function and forgotten."""

    def __init__(self, visit: Callable[[Layer], Any]) -> None:
        self._visit = visit
        self.folders: list[Path] = []

    def layer(self, number: int, facts: Facts, shapes: dict[str, tuple[int, ...]], dtype: str) -> _LayerInMemory:
        return _LayerInMemory(number, facts, shapes, dtype, self._visit)

    def open(self) -> None:
        """Nothing to prepare."""

    def commit(self) -> None:
        """Nothing to keep."""

    def discard(self) -> None:
        """Nothing to take away."""


class _LayerInMemory:
    def __init__(self, number: int, facts: Facts, shapes: dict[str, tuple[int, ...]], dtype: str,
                 visit: Callable[[Layer], Any]) -> None:
        import torch

        self._number, self._facts, self._visit = number, facts, visit
        self._tensors = {name: torch.empty(shape, dtype=getattr(torch, DTYPES[dtype]))
                         for name, shape in shapes.items()}

    def write(self, name: str, first: int | None, part: torch.Tensor) -> None:
        whole = self._tensors[name]
        (whole if first is None else whole[:, first:first + part.shape[1]]).copy_(part)

    def finish(self) -> None:
        self._visit(Layer(self._number, self._facts, **self._tensors))
        self._tensors = {}


class _Folder:
    """Layers are files in a folder beside the one that is wanted, which gets its name at the end."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.folders: list[Path] = []
        self._temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
        self._kinds: dict[int, Facts] = {}

    def open(self) -> None:
        if self.path.exists():
            raise FileExistsError(f"output: found {self.path}, allowed: a folder that does not exist yet")
        self._temporary.mkdir(parents=True)

    def layer(self, number: int, facts: Facts, shapes: dict[str, tuple[int, ...]], dtype: str) -> _LayerFile:
        self._kinds[number] = facts
        return _LayerFile(self._file(number), f"layers.{number}.", shapes, dtype, facts.metadata())

    def commit(self) -> None:
        names = _names_of_kinds(list(self._kinds.values()))
        for number, facts in self._kinds.items() if len(names) > 1 else ():
            kind = self._temporary / names[facts]
            kind.mkdir(exist_ok=True)
            self._file(number).rename(kind / self._file(number).name)
        self._temporary.rename(self.path)
        self.folders = [self.path / name for name in sorted(names.values())] if len(names) > 1 else [self.path]

    def discard(self) -> None:
        shutil.rmtree(self._temporary, ignore_errors=True)

    def _file(self, number: int) -> Path:
        return self._temporary / f"layer_{number:03}.safetensors"


class _LayerFile:
    """A safetensors file of known size, whose numbers come piece by piece."""

    def __init__(self, path: Path, prefix: str, shapes: dict[str, tuple[int, ...]], dtype: str,
                 metadata: dict[str, str]) -> None:
        self._path, self._shapes, self._dtype = path, shapes, dtype
        self._bytes = int("".join(filter(str.isdigit, dtype))) // 8
        self._offsets: dict[str, int] = {}
        header: dict[str, Any] = {"__metadata__": metadata}
        end = 0
        for name, shape in shapes.items():
            begin, end = end, end + math.prod(shape) * self._bytes
            self._offsets[name] = begin
            header[prefix + name] = {"dtype": dtype.upper(), "shape": list(shape), "data_offsets": [begin, end]}
        text = json.dumps(header).encode()
        text += b" " * (-len(text) % 8)
        self._begin = 8 + len(text)
        with open(path, "xb") as file:
            file.write(struct.pack("<Q", len(text)) + text)
            file.truncate(self._begin + end)

    def write(self, name: str, first: int | None, part: torch.Tensor) -> None:
        """Tokens `first` and on of every head; None: the whole of a tensor that has no tokens."""
        import torch

        part = part.to(device="cpu", dtype=getattr(torch, DTYPES[self._dtype])).contiguous()
        place = self._begin + self._offsets[name]
        with open(self._path, "r+b") as file:
            if first is None or part.shape == self._shapes[name]:
                file.seek(place)
                file.write(_bytes_of(part))
                return
            _, length, dimension = self._shapes[name]
            for head, rows in enumerate(part):
                file.seek(place + (head * length + first) * dimension * self._bytes)
                file.write(_bytes_of(rows))

    def finish(self) -> None:
        """Everything is written already."""


def _bytes_of(tensor: torch.Tensor) -> memoryview:
    import torch

    return tensor.view(torch.uint8).numpy().data.cast("B")


def _names_of_kinds(kinds: list[Facts]) -> dict[Facts, str]:
    """A name for each kind of layer, from the facts in which they differ: window-4096."""
    different = [name for name in ("window", "scale", "softcap", "m_applied")
                 if len({getattr(facts, name) for facts in kinds}) > 1]
    return {facts: "_".join(f"{name}-{getattr(facts, name):g}" for name in different) for facts in kinds}


# --- running a model -----------------------------------------------------------------------------------------


def _one_text(model: PreTrainedModel, input_ids: torch.Tensor | Sequence[int]) -> torch.Tensor:
    """[1, n], where the model is."""
    _require_libraries()
    import torch

    ids = torch.as_tensor(input_ids, device=model.device)
    if ids.dtype.is_floating_point or ids.dtype.is_complex or ids.dtype == torch.bool:
        raise TypeError(f"input_ids: found {ids.dtype}, allowed: whole numbers")
    ids = ids[None] if ids.dim() == 1 else ids
    _require(ids.dim() == 2 and ids.shape[0] == 1 and ids.shape[1] > 0, "input_ids", f"shape {list(ids.shape)}",
             "one text, [n] or [1, n]")
    return ids


def _run(model: PreTrainedModel, ids: torch.Tensor, chunk: int | None) -> None:
    """The layers without the logits, in one piece or several."""
    import torch
    from transformers import DynamicCache

    _require(chunk is None or chunk > 0, "chunk", chunk, "a positive number of tokens")
    cache = None if chunk is None else DynamicCache(config=model.config)
    training = model.training
    model.eval()
    try:
        with torch.no_grad():
            for piece in ids.split(chunk or ids.shape[1], dim=1):
                model.base_model(piece, past_key_values=cache, use_cache=cache is not None)
    finally:
        model.train(training)


# --- small things --------------------------------------------------------------------------------------------


def _our_heads() -> Callable[..., Any]:
    import dewpoint

    return dewpoint.heads


def _arguments(layer: Layer) -> dict[str, Any]:
    """What dewpoint.heads is told of a layer beside queries and keys."""
    found: dict[str, Any] = {"scale": layer.facts.scale, "causal": True, "m_applied": layer.facts.m_applied}
    if layer.facts.window:
        found["window"] = layer.facts.window
    if layer.facts.softcap:
        found["softcap"] = layer.facts.softcap
    if layer.sink is not None:
        found["sink"] = layer.sink
    return found


def _dtype_name(tensor: torch.Tensor) -> str:
    found = str(tensor.dtype).replace("torch.", "")
    ours = {name: short for short, name in DTYPES.items()}
    _require(found in ours, "dtype", f"queries of {found}", "one of " + ", ".join(DTYPES))
    return ours[found]


def _model_name(model: PreTrainedModel) -> str:
    """As on the hub, or the name of its folder, or its family."""
    name = getattr(model.config, "name_or_path", "") or model.config.model_type
    return Path(name).name if os.path.exists(name) else name


def _require(condition: bool, name: str, found: Any, allowed: str) -> None:
    if not condition:
        raise ValueError(f"{name}: found {found}, allowed: {allowed}")


def _require_libraries() -> None:
    try:
        import torch  # noqa: F401
        from transformers import AttentionInterface, AttentionMaskInterface  # noqa: F401
    except ImportError as error:
        raise ImportError("dewpoint.capture needs PyTorch and Transformers 4.57 or newer: pip install torch "
                          f"'transformers>=4.57' ({error})") from error
