"""The identity of an object in memory: the digest of its weights, classes, settings and preprocessing, and package
versions; or a `version=` together with the weights. User functions, and objects without weights, need a version.
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
from collections import defaultdict
from collections.abc import Callable, Mapping
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from compute import versions
from compute.models.own.objects import Given, modules_of
from compute.models.own.own_model import ADAPTER
from compute.paths import ROOT
from compute.types import BadInput

if TYPE_CHECKING:
    import torch

VERSION = 4  # part of every identity: increase it when a rule changes or an object's numbers would change
PLAIN = (bool, int, float, complex, str, bytes, type(None), type(...), enum.Enum, np.generic)
# Attributes that describe a model or change while it runs, without affecting its numbers.
LABELS = (
    *("name_or_path", "_name_or_path", "base_model_name_or_path", "_commit_hash", "transformers_version"),
    *("architectures", "dtype", "torch_dtype", "processor_class", "pretrained_cfg", "default_cfg", "hf_device_map"),
    *("mteb_model_meta", "model_card_data", "warnings_issued", "all_tied_weights_keys", "cache"),
    *("_method_signature_cache", "_output_capturing_hooks_installed", "_similarity", "_similarity_pairwise"),
    *("_similarity_fn_name", "first_save"),
)
LIBRARIES = tuple(map(Path, (ROOT / "compute", ROOT / "leaderboard", sysconfig.get_path("stdlib"))))


class Unknown(Exception):
    """Something that only a version can identify, in words."""


def identity(
    given: Given, *, parts: Mapping[str, Any], settings: Mapping[str, Any], kind: str, packages: set[str], version: str
) -> dict[str, Any]:
    """Returns everything that determines the numbers, regardless of where the object runs. With a `version`, it is only
    the version and the weights.

    `parts`: preprocessing objects in addition to its arguments. Raises BadInput for an object that neither its content
    nor a version identifies.
    """
    model, modules, used = given.model, modules_of(given.model), set[str]()
    code = {"model": model, "preprocess": given.preprocess, "tokenizer": given.tokenizer, **parts}
    if lost := [name for module in modules for name, tensor in _tensors(module).items() if tensor.is_meta]:
        raise BadInput(f"{given.of}: {lost[0]} has no values (device meta). Load the checkpoint's weights first")
    try:
        if version:
            content: Any = [_weights(module) for module in modules]
        elif not modules or (_is_own(type(model)) and not any(map(_tensors, modules))):
            raise Unknown("code without weights")
        else:
            content = {role: _described(value, used) for role, value in code.items() if value is not None}
    except Unknown as error:
        raise BadInput(
            f"{given.of} cannot be identified: it is or holds {error}. Name what the results belong to, "
            'version="...", and change it whenever the model changes'
        ) from error
    text = json.dumps([content, dict(settings), version], sort_keys=True, default=str)
    named = packages | {package.name for module in used for package in _distributions()[module]}
    installed = versions.installed(sorted(named)).items()
    return {
        "adapter": ADAPTER,
        "version": VERSION,
        "object": kind,
        "digest": hashlib.sha256(text.encode()).hexdigest()[:32],
        "named_version": version,
        "packages": versions.minor({name: number for name, number in installed if number != versions.MISSING}),
    }


def own_line(error: BaseException) -> str:
    """Returns the last line of user code in an error's traceback, as `model.py, line 12, in embed`; otherwise empty."""
    where = ""
    for frame, line in traceback.walk_tb(error.__traceback__):
        code = frame.f_code
        if not code.co_filename.startswith("<") and _is_own_file(code.co_filename):
            where = f"{Path(code.co_filename).name}, line {line}, in {code.co_name}"
    return where


def tensor_digest(tensor: torch.Tensor) -> str:
    """Returns the SHA-256 of its type, shape and content."""
    import torch

    content = tensor.detach().contiguous().reshape(-1).view(torch.uint8) if tensor.numel() else torch.empty(0)
    digest = hashlib.sha256(f"{tensor.dtype} {tuple(tensor.shape)} ".encode())
    digest.update(content.cpu().numpy().data)
    return digest.hexdigest()


def _tensors(module: torch.nn.Module) -> dict[str, torch.Tensor]:
    return {**dict(module.named_parameters()), **dict(module.named_buffers())}


def _weights(module: torch.nn.Module) -> dict[str, str]:
    return {name: tensor_digest(tensor) for name, tensor in _tensors(module).items()}


def _described(value: Any, used: set[str], inside: tuple[int, ...] = ()) -> Any:
    """Returns the value's content as JSON; modules of the classes it contains are added to `used`. `inside`: ids of the
    objects that contain it.
    """
    import torch

    if isinstance(value, (*PLAIN, torch.dtype, torch.device)):
        return repr(value)
    if id(value) in inside:
        return "again"
    described = functools.partial(_described, used=used, inside=(*inside, id(value)))
    if isinstance(value, torch.nn.Module):
        return _module(value, described, used)
    if isinstance(value, torch.Tensor):
        return tensor_digest(value)
    if isinstance(value, list | tuple):
        return list(map(described, value))
    if isinstance(value, set | frozenset):
        return sorted(str(described(part)) for part in value)
    if isinstance(value, Mapping):
        return {
            str(name): repr(part) if isinstance(part, PLAIN) else described(part)  # of a vocabulary's thousands
            for name, part in value.items()
            if name not in LABELS
        }
    if isinstance(value, types.CodeType):
        return [value.co_code.hex(), value.co_names, described(value.co_consts)]
    if isinstance(value, types.FunctionType | types.BuiltinFunctionType | type):
        if _is_own(value) and not isinstance(value, type):
            raise Unknown(f"your own function {value.__name__}")
        return _class(value, used)
    if isinstance(value, functools.partial):
        return described([value.func, value.args, value.keywords])
    if isinstance(value, types.MethodType):
        return [value.__name__, described(value.__self__)]
    if type(value).__name__ == "Pattern":  # of re or regex
        return value.pattern
    content = _saved(value)
    if content is None and not hasattr(value, "__dict__"):
        raise Unknown(f"a {type(value).__name__}")
    if content is None:  # attributes of packages' objects that begin with _ are caches and bookkeeping
        own = _is_own(type(value))
        content = {name: part for name, part in vars(value).items() if own or not name.startswith("_")}
    return [_class(type(value), used), described(content)]


@functools.cache
def _distributions() -> defaultdict[str, list[metadata.Distribution]]:
    """Returns installed distributions by the modules they provide, like `metadata.packages_distributions`, which takes
    ten times as long over the paths of all files.
    """
    found = defaultdict(list)
    for package in metadata.distributions():
        for module in (package.read_text("top_level.txt") or "").split() or {
            line.partition("/")[0].partition(".py,")[0]
            for line in (package.read_text("RECORD") or "").splitlines()
            if ".py," in line
        }:
            found[module].append(package)
    return found


def _class(kind: Any, used: set[str]) -> Any:
    """Describes a package's class by its name, and a user class by its methods' code and its bases."""
    if not _is_own(kind):
        module = kind.__module__ or "builtins"
        used.add(module.partition(".")[0])
        return f"{module}.{kind.__qualname__}"
    members: dict[str, Any] = {}
    for name, member in vars(kind).items():
        function = getattr(member, "__func__", getattr(member, "fget", member))
        if isinstance(function, types.FunctionType):
            members[name] = function.__code__
        elif _is_plain(member) and not name.startswith("__"):
            members[name] = member
    bases = [_class(base, used) for base in kind.__bases__ if base is not object]
    return [kind.__qualname__, _described(members, used), bases]


def _module(module: torch.nn.Module, described: Callable[[Any], Any], used: set[str]) -> Any:
    """Returns the weights, and the class and settings of each part; for classes outside packages, all attributes
    too.
    """
    import torch

    weights, usual = _weights(module), vars(torch.nn.Module())
    configurations: dict[int, Any] = {}  # shared by several parts
    parts = []
    for name, part in module.named_modules():
        if isinstance(part, torch.jit.ScriptModule):
            raise Unknown("a module compiled by torch.jit")
        if any(map(_is_own_code, (*part._forward_hooks.values(), *part._forward_pre_hooks.values()))):
            raise Unknown("a hook")
        whole = _is_own(type(part)) or not weights  # for example a transform
        settings: dict[str, Any] = {}
        for key, value in list(vars(part).items()):
            if hasattr(value, "to_dict") and hasattr(value, "model_type"):
                configurations[id(value)] = _saved(value)
            elif key not in usual and (whole or _is_plain(value) or _is_own_code(value)):
                settings[key] = value
        parts.append([name, _class(type(part), used), described(settings)])
    return [weights, parts, described(list(configurations.values()))]


def _saved(value: Any) -> Any:
    """Returns the form in which a configuration, tokenizer or processor would be saved; None for other objects."""
    if hasattr(value, "image_processor") and hasattr(value, "tokenizer"):
        return [value.image_processor, value.tokenizer]
    backend = getattr(value, "backend_tokenizer", value)
    if hasattr(backend, "to_str"):  # truncation and padding change during use
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
    """Returns whether a class or function is defined in a script, a notebook or a file next to it."""
    module = sys.modules.get(thing.__module__)
    file = getattr(module, "__file__", None)
    return thing.__module__ == "__main__" or module is None or (file is not None and _is_own_file(file))


def _is_own_code(value: Any) -> bool:
    code = getattr(value, "__func__", value)
    return _is_own(code if isinstance(code, types.FunctionType) else type(value))


@functools.cache
def _is_own_file(file: str) -> bool:
    path = Path(file)
    installed = {"site-packages", "dist-packages"} & set(path.parts)
    return not installed and not any(path.is_relative_to(folder) for folder in LIBRARIES)
