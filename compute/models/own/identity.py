"""What identifies an object in memory: its weights, classes, settings and preprocessing, or a version that is named.

- a torch module: every parameter and buffer, and of each part its class and its plain settings
- a transform, tokenizer or processor of an installed package: its class and attributes, or what it would be saved as
- an object of a class of one's own that holds weights: its attributes, and its methods' code

Packages count by their versions. Functions of one's own, and all else, need `version=`: what they read cannot be seen.
"""

from __future__ import annotations

import enum
import functools
import hashlib
import json
import os
import re
import sys
import sysconfig
import traceback
import types
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from compute import versions
from compute.models.own.own_model import ADAPTER
from compute.paths import ROOT
from compute.types import BadInput

if TYPE_CHECKING:
    import torch

    from compute.models.own.objects.held import Held

VERSION = 3  # part of every identity: raise it when a rule changes or an object's numbers would be different
PIECE = 32 << 20  # bytes that are copied from another device at once
THREADS = min(8, os.cpu_count() or 1)
PLAIN = (bool, int, float, complex, str, bytes, type(None), type(...))
# Attributes that describe a model or change as it runs, and change no number.
LABELS = (
    *("name_or_path", "_name_or_path", "base_model_name_or_path", "_commit_hash", "transformers_version"),
    *("architectures", "dtype", "torch_dtype", "processor_class", "pretrained_cfg", "default_cfg", "hf_device_map"),
    *("mteb_model_meta", "model_card_data", "warnings_issued", "all_tied_weights_keys", "cache"),
)
PACKAGES = ("site-packages", "dist-packages")
PROGRAM = (str(ROOT / "compute"), str(ROOT / "leaderboard"))


def identity(held: Held, *, of: str, version: str) -> dict[str, Any]:
    """All that decides the numbers, wherever the object runs. With a `version`, that and the weights alone.

    Raises BadInput for an object that neither its content nor a version identifies.
    """
    read = _Reading(of=of, version=version)
    content = {role: read.described(value, role) for role, value in held.code.items() if value is not None}
    if not version and _is_own(type(held.code["model"])) and not read.weights:
        raise read.unknown("a class of your own without weights")
    found = versions.installed(tuple(dict.fromkeys((*held.packages, *sorted(read.packages)))))
    return {
        "adapter": ADAPTER,
        "version": VERSION,
        "object": held.kind,
        "digest": _digest([content, dict(held.settings), version]),
        "named_version": version,
        "packages": versions.minor({name: number for name, number in found.items() if number != versions.MISSING}),
    }


def own_line(error: BaseException) -> str:
    """The last line of one's own code that an error passed through, as `model.py, line 12, in embed`; else empty."""
    where = ""
    for frame, line in traceback.walk_tb(error.__traceback__):
        code = frame.f_code
        if not code.co_filename.startswith("<") and _is_own_file(code.co_filename):
            where = f"{Path(code.co_filename).name}, line {line}, in {code.co_name}"
    return where


class _Reading:
    """Objects of one model as content that JSON holds; `packages` are the distributions of what was read."""

    def __init__(self, *, of: str, version: str) -> None:
        self.of, self.version = of, version
        self.packages: set[str] = set()
        self.weights = 0  # tensors
        self._open: list[Any] = []  # what is being read, from the outside in

    def described(self, value: Any, role: str) -> Any:
        """The value's content. Raises BadInput for what has none that can be compared."""
        torch = sys.modules.get("torch")
        if isinstance(value, PLAIN):
            return value if isinstance(value, bool | int | float | str | None) else repr(value)
        if isinstance(value, enum.Enum):
            return [type(value).__name__, value.name]
        if torch is not None and isinstance(value, torch.dtype | torch.device):
            return str(value).partition(":")[0]
        if any(value is outer for outer in self._open):
            return "again"
        self._open.append(value)
        try:
            return self._content(value, role, torch)
        finally:
            self._open.pop()

    def unknown(self, what: str) -> BadInput:
        """The error for an object that needs a version."""
        return BadInput(
            f"{self.of} cannot be identified: it is or holds {what}. Name what the results belong to, "
            'version="...", and change it whenever the model changes'
        )

    def _content(self, value: Any, role: str, torch: Any) -> Any:
        if torch is not None and isinstance(value, torch.nn.Module):
            return self._module(value, role)
        if torch is not None and isinstance(value, torch.Tensor):
            return tensor_digest(value).hex()
        if isinstance(value, np.ndarray | np.generic) and not value.dtype.hasobject:
            array = np.ascontiguousarray(value)
            return [array.dtype.str, list(array.shape), hashlib.sha256(array.tobytes()).hexdigest()]
        if isinstance(value, list | tuple):
            return [self.described(part, role) for part in value]
        if isinstance(value, set | frozenset):
            return sorted(repr(self.described(part, role)) for part in value)
        if isinstance(value, Mapping):
            kept = {repr(name): part for name, part in value.items() if name not in LABELS}
            return {name: self.described(part, f"{role}[{name}]") for name, part in kept.items()}
        if isinstance(value, types.CodeType):
            return [value.co_code.hex(), list(value.co_names), self.described(value.co_consts, role)]
        if isinstance(value, functools.partial):
            return [self.described(part, role) for part in (value.func, value.args, value.keywords)]
        if isinstance(value, re.Pattern) or type(value).__module__ in ("regex", "_regex"):
            return value.pattern
        if isinstance(value, type):
            return self._class(value)
        if isinstance(value, types.FunctionType | types.BuiltinFunctionType | types.MethodType):
            return self._function(value, role)
        kind = self._class(type(value))
        if self.version:
            attributes = vars(value).values() if hasattr(value, "__dict__") else ()
            modules = [part for part in attributes if torch is not None and isinstance(part, torch.nn.Module)]
            return [kind, [self._module(part, role) for part in modules]]
        if (saved := _saved(value)) is not None:
            return [kind, self.described(saved, role)]
        if not hasattr(value, "__dict__"):
            raise self.unknown(f"a {type(value).__name__} ({role})")
        return [kind, self._attributes(value, role)]

    def _attributes(self, value: Any, role: str) -> Any:
        private = _is_own(type(value))  # attributes of packages' objects that begin with _ are caches and bookkeeping
        named = {name: part for name, part in vars(value).items() if private or not name.startswith("_")}
        return self.described(named, role)

    def _function(self, function: Any, role: str) -> Any:
        if isinstance(function, types.MethodType):
            code, owner = function.__func__, function.__self__
            of_class = getattr(type(owner), function.__name__, None) is code  # which is read with its class
            return [function.__name__ if of_class else self.described(code, role), self.described(owner, role)]
        if isinstance(function, types.FunctionType) and _is_own(function):
            if self.version:
                return "function"
            raise self.unknown(f"a function of your own ({role})")
        self._count(function.__module__ or "builtins")
        return [function.__module__, function.__qualname__]

    def _class(self, kind: type) -> Any:
        """A package's class by its name; one of one's own by its methods' code and the classes it inherits from."""
        if not _is_own(kind):
            self._count(kind.__module__)
            return f"{kind.__module__}.{kind.__qualname__}"
        members: dict[str, Any] = {}
        for name, member in vars(kind).items() if not self.version else ():
            function = getattr(member, "__func__", getattr(member, "fget", member))
            if isinstance(function, types.FunctionType):
                members[name] = function.__code__
            elif _is_plain(member) and not name.startswith("__"):
                members[name] = member
        bases = [self._class(base) for base in kind.__bases__ if base is not object]
        return [kind.__qualname__, self.described(members, kind.__qualname__), bases]

    def _module(self, module: torch.nn.Module, role: str) -> Any:
        """Weights; and of each part its class, its settings and, outside of packages, all its attributes."""
        import torch

        tensors = {**dict(module.named_parameters()), **dict(module.named_buffers())}
        self.weights += len(tensors)
        if lost := next((name for name, tensor in tensors.items() if tensor.device.type == "meta"), ""):
            raise BadInput(f"{self.of}: {lost} has no values (device meta). Load the checkpoint's weights first")
        with ThreadPoolExecutor(THREADS) as pool:
            digests = pool.map(tensor_digest, tensors.values())
            weights = {name: digest.hex() for name, digest in zip(tensors, digests, strict=True)}
        usual = vars(torch.nn.Module())
        configurations: dict[int, Any] = {}
        parts = []
        for name, part in module.named_modules():
            attributes = {key: value for key, value in vars(part).items() if key not in usual and key not in LABELS}
            hooks = [*part._forward_hooks.values(), *part._forward_pre_hooks.values()]
            if not self.version and any(map(_is_own_code, hooks)):
                raise self.unknown(f"a hook ({role})")
            if not self.version and isinstance(part, torch.jit.ScriptModule):
                raise self.unknown(f"a module compiled by torch.jit ({role})")
            whole = _is_own(type(part)) or not tensors  # such as a transform
            settings: dict[str, Any] = {}
            for key, value in attributes.items():
                if hasattr(value, "to_dict") and hasattr(value, "model_type"):  # a configuration, shared by many parts
                    configurations.setdefault(id(value), value)
                elif whole or _is_plain(value) or _is_own_code(value):
                    settings[key] = value
            described = {} if self.version else self.described(settings, f"{role}.{name}")
            parts.append([name, self._class(type(part)), described])
        shared = [self.described(_saved(value), role) for value in configurations.values()] if not self.version else []
        return [weights, parts, shared]

    def _count(self, module: str) -> None:
        self.packages.update(_distributions().get(module.partition(".")[0], ()))


def tensor_digest(tensor: torch.Tensor) -> bytes:
    """32 bytes of SHA-256 of its type, shape and content, at most PIECE bytes at once copied from another device."""
    import torch

    digest = hashlib.sha256(f"{tensor.dtype} {tuple(tensor.shape)} ".encode())
    flat = tensor.detach().resolve_conj().contiguous().reshape(-1)
    flat = flat.view(torch.uint8) if flat.numel() else flat.to(torch.uint8)
    for start in range(0, len(flat), PIECE):
        digest.update(flat[start : start + PIECE].cpu().numpy().data)
    return digest.digest()


def _saved(value: Any) -> Any:
    """What a configuration, tokenizer or processor would be saved as; None for other objects."""
    if hasattr(value, "image_processor") and hasattr(value, "tokenizer"):
        return [value.image_processor, value.tokenizer]
    backend = getattr(value, "backend_tokenizer", value)
    if hasattr(backend, "to_str"):  # truncation and padding change as it is used
        content = json.loads(backend.to_str())
        limits = [getattr(value, name, None) for name in ("model_max_length", "padding_side", "pad_token_id")]
        return [{name: part for name, part in content.items() if name not in ("truncation", "padding")}, limits]
    if hasattr(value, "get_vocab"):
        return [value.get_vocab(), getattr(value, "model_max_length", None)]
    return json.loads(json.dumps(value.to_dict(), default=str)) if hasattr(value, "to_dict") else None


def _is_plain(value: Any) -> bool:
    if isinstance(value, list | tuple):
        return all(map(_is_plain, value))
    if isinstance(value, dict):
        return all(map(_is_plain, value.values()))
    return isinstance(value, (*PLAIN, enum.Enum))


def _is_own(thing: Any) -> bool:
    """Whether a class or function is of a script, a notebook or a file beside it."""
    module = sys.modules.get(thing.__module__)
    file = getattr(module, "__file__", None)
    return thing.__module__ == "__main__" or module is None or (file is not None and _is_own_file(file))


def _is_own_code(value: Any) -> bool:
    code = getattr(value, "__func__", value)
    return _is_own(code if isinstance(code, types.FunctionType) else type(value))


@functools.cache
def _is_own_file(file: str) -> bool:
    folders = (*PROGRAM, *(sysconfig.get_paths()[name] for name in ("stdlib", "platstdlib")))
    path = Path(file)
    return not any(part in PACKAGES for part in path.parts) and not any(path.is_relative_to(each) for each in folders)


def _digest(content: Any) -> str:
    text = json.dumps(content, sort_keys=True, default=str)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]


@functools.cache
def _distributions() -> Mapping[str, list[str]]:
    """Installed packages by the name that is imported."""
    return metadata.packages_distributions()
