"""What identifies an object in memory: its weights, class, library versions and preprocessing, or a version by name.

- a torch module: every parameter and buffer, and of each part its class and its plain settings
- a transform, tokenizer or processor of an installed package: its class and attributes, or what it would be saved as
- a user class that holds weights: its attributes, and its methods' code

User functions, and objects without weights, need `version=`: what they read cannot be seen.
"""

from __future__ import annotations

import enum
import functools
import hashlib
import json
import sys
import sysconfig
import traceback
import types
from collections.abc import Mapping
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from compute import versions
from compute.models.own.objects.placement import modules_of
from compute.models.own.own_model import ADAPTER
from compute.paths import ROOT
from compute.types import BadInput

if TYPE_CHECKING:
    import torch

    from compute.models.own.objects.wrapped import Wrapped

VERSION = 4  # part of every identity: raise it when a rule changes or an object's numbers would be different
_distributions = functools.cache(metadata.packages_distributions)  # by name of a module; reads all packages
PLAIN = (bool, int, float, complex, str, bytes, type(None), type(...), enum.Enum, np.generic)
# Attributes that describe a model or change as it runs, and change no number.
LABELS = (
    *("name_or_path", "_name_or_path", "base_model_name_or_path", "_commit_hash", "transformers_version"),
    *("architectures", "dtype", "torch_dtype", "processor_class", "pretrained_cfg", "default_cfg", "hf_device_map"),
    *("mteb_model_meta", "model_card_data", "warnings_issued", "all_tied_weights_keys", "cache"),
    *("_method_signature_cache", "_output_capturing_hooks_installed", "_similarity", "_similarity_pairwise"),
    *("_similarity_fn_name", "first_save"),
)
PACKAGES = ("site-packages", "dist-packages")
PROGRAM = (str(ROOT / "compute"), str(ROOT / "leaderboard"))


def identity(wrapped: Wrapped, *, kind: str, of: str, version: str) -> dict[str, Any]:
    """All that decides the numbers, wherever the object runs. With a `version`, that and the weights alone.

    Raises BadInput for an object that neither its content nor a version identifies.
    """
    read, modules = _Reading(of), modules_of(wrapped.code["model"])
    if version:
        content = [read.weights(module) for module in modules]
    else:
        if not modules or (_is_own(type(wrapped.code["model"])) and not any(map(_tensors, modules))):
            raise read.unknown("code without weights")
        content = {role: read.described(value, role) for role, value in wrapped.code.items() if value is not None}
    text = json.dumps([content, dict(wrapped.settings), version], sort_keys=True, default=str)
    packages = versions.installed(sorted({*wrapped.packages, *read.packages}))
    return {
        "adapter": ADAPTER,
        "version": VERSION,
        "object": kind,
        "digest": hashlib.sha256(text.encode()).hexdigest()[:32],
        "named_version": version,
        "packages": versions.minor({name: number for name, number in packages.items() if number != versions.MISSING}),
    }


def own_line(error: BaseException) -> str:
    """The last line of user code that an error passed through, as `model.py, line 12, in embed`; else empty."""
    where = ""
    for frame, line in traceback.walk_tb(error.__traceback__):
        code = frame.f_code
        if not code.co_filename.startswith("<") and _is_own_file(code.co_filename):
            where = f"{Path(code.co_filename).name}, line {line}, in {code.co_name}"
    return where


class _Reading:
    """Objects of one model as content that JSON holds; `packages` are the distributions of what was read."""

    def __init__(self, of: str) -> None:
        self.of = of
        self.packages: set[str] = set()
        self._open: list[int] = []  # ids of what is being read: an object may hold itself

    def unknown(self, what: str) -> BadInput:
        """The error for an object that needs a version."""
        return BadInput(
            f"{self.of} cannot be identified: it is or holds {what}. Name what the results belong to, "
            'version="...", and change it whenever the model changes'
        )

    def weights(self, module: torch.nn.Module) -> dict[str, str]:
        """The digest of every parameter and buffer. Raises BadInput for one without values."""
        tensors = _tensors(module)
        if lost := next((name for name, tensor in tensors.items() if tensor.is_meta), ""):
            raise BadInput(f"{self.of}: {lost} has no values (device meta). Load the checkpoint's weights first")
        return {name: tensor_digest(tensor) for name, tensor in tensors.items()}

    def described(self, value: Any, role: str) -> Any:
        """The value's content. Raises BadInput for what has none that can be compared."""
        if isinstance(value, PLAIN):
            return repr(value)
        if id(value) in self._open:
            return "again"
        self._open.append(id(value))
        try:
            return self._content(value, role)
        finally:
            self._open.pop()

    def _content(self, value: Any, role: str) -> Any:
        import torch

        if isinstance(value, torch.dtype | torch.device):
            return repr(value)
        if isinstance(value, torch.nn.Module):
            return self._module(value, role)
        if isinstance(value, torch.Tensor):
            return tensor_digest(value)
        if isinstance(value, np.ndarray) and not value.dtype.hasobject:
            return [str(value.dtype), value.shape, hashlib.sha256(value.tobytes()).hexdigest()]
        if isinstance(value, list | tuple):
            return [self.described(part, role) for part in value]
        if isinstance(value, set | frozenset):
            return sorted(str(self.described(part, role)) for part in value)
        if isinstance(value, Mapping):
            return {str(name): self.described(part, role) for name, part in value.items() if name not in LABELS}
        if isinstance(value, types.CodeType):
            return [value.co_code.hex(), value.co_names, self.described(value.co_consts, role)]
        if isinstance(value, functools.partial):
            return self.described([value.func, value.args, value.keywords], role)
        if isinstance(value, types.MethodType):
            return [value.__name__, self.described(value.__self__, role)]
        if isinstance(value, type):
            return self._class(value)
        if isinstance(value, types.FunctionType | types.BuiltinFunctionType):
            if _is_own(value):
                raise self.unknown(f"your own function ({role})")
            return self._class(value)
        if type(value).__name__ == "Pattern":  # of re or regex
            return value.pattern
        content = _saved(value)
        if content is None and not hasattr(value, "__dict__"):
            raise self.unknown(f"a {type(value).__name__} ({role})")
        if content is None:  # attributes of packages' objects that begin with _ are caches and bookkeeping
            own = _is_own(type(value))
            content = {name: part for name, part in vars(value).items() if own or not name.startswith("_")}
        return [self._class(type(value)), self.described(content, role)]

    def _class(self, kind: Any) -> Any:
        """What a package defines by its name; a user class by its methods' code and what it inherits from."""
        if not _is_own(kind):
            module = kind.__module__ or "builtins"
            self.packages.update(_distributions().get(module.partition(".")[0], ()))
            return f"{module}.{kind.__qualname__}"
        members: dict[str, Any] = {}
        for name, member in vars(kind).items():
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

        weights, usual = self.weights(module), vars(torch.nn.Module())
        configurations: dict[int, Any] = {}  # shared by many parts
        parts = []
        for name, part in module.named_modules():
            if isinstance(part, torch.jit.ScriptModule):
                raise self.unknown(f"a module compiled by torch.jit ({role})")
            if any(map(_is_own_code, (*part._forward_hooks.values(), *part._forward_pre_hooks.values()))):
                raise self.unknown(f"a hook ({role})")
            whole = _is_own(type(part)) or not weights  # such as a transform
            settings: dict[str, Any] = {}
            for key, value in list(vars(part).items()):
                if hasattr(value, "to_dict") and hasattr(value, "model_type"):
                    configurations[id(value)] = _saved(value)
                elif key not in usual and (whole or _is_plain(value) or _is_own_code(value)):
                    settings[key] = value
            parts.append([name, self._class(type(part)), self.described(settings, f"{role}.{name}")])
        return [weights, parts, self.described(list(configurations.values()), role)]


def _tensors(module: torch.nn.Module) -> dict[str, torch.Tensor]:
    return {**dict(module.named_parameters()), **dict(module.named_buffers())}


def tensor_digest(tensor: torch.Tensor) -> str:
    """SHA-256 of its type, shape and content."""
    import torch

    content = tensor.detach().contiguous().reshape(-1).view(torch.uint8) if tensor.numel() else torch.empty(0)
    digest = hashlib.sha256(f"{tensor.dtype} {tuple(tensor.shape)} ".encode())
    digest.update(content.cpu().numpy().data)
    return digest.hexdigest()


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
    return isinstance(value, PLAIN)


def _is_own(thing: Any) -> bool:
    """Whether a class or function is of a script, a notebook or a file next to it."""
    module = sys.modules.get(thing.__module__)
    file = getattr(module, "__file__", None)
    return thing.__module__ == "__main__" or module is None or (file is not None and _is_own_file(file))


def _is_own_code(value: Any) -> bool:
    code = getattr(value, "__func__", value)
    return _is_own(code if isinstance(code, types.FunctionType) else type(value))


@functools.cache
def _is_own_file(file: str) -> bool:
    path = Path(file)
    library = any(path.is_relative_to(folder) for folder in (*PROGRAM, sysconfig.get_path("stdlib")))
    return not library and not any(part in PACKAGES for part in path.parts)
