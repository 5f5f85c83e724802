"""What identifies an object in memory: a digest of all that decides its numbers, and of nothing else.

- a torch module: every parameter and buffer (name, shape, dtype, bytes), how its submodules are joined, their classes,
  attributes and hooks on the way forward, and methods that were replaced on an instance; never the name of a variable,
  a file or a checkpoint
- a Python function: its compiled code, defaults, and what it reads from outside: closure, globals, and of helper
  modules of one's own, imported anywhere, what is used of them (code_reads.py)
- any other object: its class and attributes; those of packages by what they would be copied by, tokenizers and
  processors by what they would be saved as

Code of installed packages goes by their versions, which the caller stores; code of one's own goes by its compiled form,
so that comments and blank lines change nothing (ownership.py tells them apart). A value that no rule covers (a network
client, a generator) raises BadInput: the caller then names a `version` instead, and only code and modules count. Files
and services that code reads as it runs are not seen.
"""

from __future__ import annotations

import abc
import copyreg
import enum
import functools
import hashlib
import importlib
import importlib.machinery
import importlib.util
import logging
import os
import struct
import sys
import threading
import types
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import numpy as np

from compute.models.own.identity import code_reads, ownership
from compute.types import BadInput, shortened

if TYPE_CHECKING:
    import torch

VERSION = 2  # part of every identity: raise it when a rule changes
PIECE = 32 << 20  # bytes that are copied from another device at once
THREADS = min(8, os.cpu_count() or 1)
PLAIN = (bool, int, float, complex, str, bytes, type(None), type(...), type(NotImplemented))
BUILT_IN = (list, tuple, set, frozenset, dict, types.MappingProxyType)
# Attributes that name or describe a model, its checkpoint or how it is loaded and spread, and change no number.
LABELS = (
    *("mteb_model_meta", "model_card_data", "_model_config", "name_or_path", "_name_or_path", "_commit_hash"),
    *("base_model_name_or_path", "transformers_version", "pretrained_cfg", "default_cfg", "hf_device_map"),
    *("_tp_plan", "_pp_plan", "_ep_plan", "_fsdp_plan", "_no_split_modules", "_skip_keys_device_placement"),
    *("_keep_in_fp32_modules", "_keep_in_fp32_modules_strict", "_keys_to_ignore_on_save", "all_tied_weights_keys"),
    *("_keys_to_ignore_on_load_missing", "_keys_to_ignore_on_load_unexpected", "_is_hf_initialized"),
    "warnings_issued",
)
# The same of configurations, whose parameters have their own precision; and what packages' objects remember.
CONFIGURED = (*LABELS, "architectures", "dtype", "torch_dtype")
REMEMBERED = (*LABELS, "cache")
# State that changes no number and differs from process to process.
PASSING = (logging.Logger, type(threading.Lock()), type(threading.RLock()), threading.Event)
HEAP = 1 << 9  # the flag of classes that a class statement makes
# Of a class's members, those that Python or a library makes of the others.
DERIVED = ("__dict__", "__weakref__", "__annotate__", "__annotate_func__", "__dataclass_fields__", "_abc_impl")
# Hooks of a torch module, and of all of them, on the way forward.
HOOKS = ("_forward_pre_hooks", "_forward_hooks")
EVERYWHERE = ("_global_forward_pre_hooks", "_global_forward_hooks")


class Digester:
    """Digests of objects that belong to one model; `packages` are those whose code they run, by the names they are
    installed under."""

    def __init__(self, *, of: str, version: str = "") -> None:
        self._of, self._version = of, version
        self._done: dict[int, tuple[Any, bytes]] = {}  # by identity; the object is held so that it stays its own
        self._open: dict[int, int] = {}  # what is being digested, with how deep it lies
        self._parts: dict[int, str] = {}  # the submodules of the torch modules that are open, by their names
        self._modules: set[str] = set()
        self._replaced: dict[type, list[tuple[str, Any]]] = {}  # members of packages' classes that are one's own

    @property
    def packages(self) -> tuple[str, ...]:
        """The distributions that the digested objects are of."""
        return tuple(sorted({name for module in self._modules for name in ownership.distributions_of(module)}))

    def of(self, value: Any, *, role: str) -> str:
        """32 hex digits. `role` says in the error what the value is to the model. Raises BadInput."""
        return self._digest(value, role).hex()

    # ---- within

    def _digest(self, value: Any, path: str) -> bytes:
        if type(value) in PLAIN:
            return _hash(type(value).__name__, repr(value))
        if id(value) in self._parts:
            return _hash("part", self._parts[id(value)])
        if id(value) in self._done:
            return self._done[id(value)][1]
        if id(value) in self._open:
            return _hash("again", str(len(self._open) - self._open[id(value)]))
        self._open[id(value)] = len(self._open)
        try:
            digest = self._made(value, path)
        finally:
            del self._open[id(value)]
        self._done[id(value)] = (value, digest)
        return digest

    def _made(self, value: Any, path: str) -> bytes:
        torch = sys.modules.get("torch")
        if torch is not None:
            if isinstance(value, torch.nn.Module):
                return self._module(value, path)
            if isinstance(value, torch.Tensor):
                return self._tensor(value, path)
            if isinstance(value, torch.dtype | torch.device):
                return _hash("torch", str(value).partition(":")[0])
        if type(value) in (np.ndarray, np.memmap) or isinstance(value, np.generic):
            if value.dtype.hasobject:
                return self._sequence("array", [value.shape, *value.ravel().tolist()], path)
            data = np.ascontiguousarray(value)
            return _hash("array", data.dtype.str, repr(data.dtype.fields), repr(data.shape), _bytes(data))
        if isinstance(value, enum.Enum):
            return self._sequence("enum", (type(value), value.name, value.value), path)
        if isinstance(value, os.PathLike) and not ownership.is_own_class(type(value)):
            return _hash("path", os.fspath(value))
        if isinstance(value, type):
            return self._class(value, path)
        if _is_config(value):
            settings = (_configured(value.to_dict()), getattr(value, "_attn_implementation", None))
            return self._sequence("config", (type(value), *settings), path)
        if type(value) in BUILT_IN:
            return self._collection(value, path)
        if isinstance(value, types.ModuleType):
            return self._whole(value, path)
        if isinstance(value, functools.partial):
            return self._sequence("partial", (value.func, value.args, dict(value.keywords)), path)
        if isinstance(value, types.MethodType):
            return self._sequence("method", (value.__func__, value.__self__), path)
        if isinstance(value, types.FunctionType):
            return self._function(value, path)
        if isinstance(value, types.CodeType):
            return self._code(value, path)
        if isinstance(value, functools._lru_cache_wrapper):
            return self._sequence("cached", (value.__wrapped__,), path)
        if isinstance(value, types.BuiltinFunctionType | types.MethodWrapperType):
            return self._native(value, path)
        if isinstance(value, types.GenericAlias | types.UnionType) or type(value).__module__ == "typing":
            return _hash("annotation")  # of types: nothing that runs
        return self._object(value, path)

    def _sequence(self, kind: str, values: Any, path: str) -> bytes:
        return _hash(kind, *(self._digest(value, f"{path}[{at}]") for at, value in enumerate(values)))

    def _collection(self, value: Any, path: str) -> bytes:
        if isinstance(value, list | tuple):
            return self._sequence("sequence", value, path)
        if isinstance(value, set | frozenset):
            return _hash("set", *sorted(self._digest(item, path) for item in value))
        parts = [self._digest(key, path) + self._digest(item, f"{path}[{key!r}]") for key, item in value.items()]
        return _hash("mapping", *sorted(parts))

    # ---- code

    def _function(self, function: types.FunctionType, path: str) -> bytes:
        own = ownership.is_own_function(function)
        if not own:
            self._modules.add(function.__globals__["__name__"])
            if ownership.is_importable(function) and not ownership.wraps_own(function):
                return _hash("function", function.__module__, function.__qualname__)
        name = "" if own else f"{function.__globals__['__name__']}.{function.__code__.co_name}"
        parts: list[str | bytes] = [name, self._code(function.__code__, path) if own else b""]
        wrapped = getattr(function, "__wrapped__", None)
        if wrapped is not None:
            parts.append(self._digest(wrapped, path))
        if self._version:
            return _hash("function", *parts)
        if own and (hiding := code_reads.hiding(function.__code__)):
            raise self._unknown(f"{path} uses `{hiding}`, and what that reads or runs cannot be compared")
        parts.append(self._digest(function.__defaults__, f"{path}'s defaults"))
        parts.append(self._digest(function.__kwdefaults__, f"{path}'s defaults"))
        attributes = {name: value for name, value in vars(function).items() if name != "__wrapped__"}
        if own and attributes:
            parts.append(self._digest(attributes, f"{path}'s attributes"))
        chains = code_reads.reads(function.__code__)
        for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
            read = chains.get(name, {()})
            parts.append(
                _hash(name) + self._outside(cell.cell_contents, name, read, path) if _is_filled(cell) else b"-"
            )
        if own:
            for name, read in sorted(chains.items()):
                if name in function.__globals__ and name not in function.__code__.co_freevars:
                    parts.append(_hash(name) + self._outside(function.__globals__[name], name, read, path))
            parts += [self._imported(step, function, path) for step in code_reads.imports(function.__code__)]
        return _hash("function", *parts)

    def _outside(self, value: Any, name: str, chains: set[tuple[str, ...]], path: str) -> bytes:
        """A value that a function reads from outside; of a module only what is read of it."""
        path = f"`{name}`, which {path} uses"
        if not isinstance(value, types.ModuleType):
            return self._digest(value, path)
        return _hash("module", *(self._reached(value, chain, path) for chain in sorted(chains)))

    def _reached(self, module: types.ModuleType, chain: tuple[str, ...], path: str) -> bytes:
        """What the attributes lead to from a module. Of a package's it is the name, unless it was replaced."""
        value: Any = module
        for name in chain:
            own = ownership.is_own_module(value)
            if not own:
                self._modules.add(value.__name__)
            if name not in vars(value) and not (own and hasattr(value, name)):
                return _hash("absent", "" if own else value.__name__, name)
            found = getattr(value, name)
            if not isinstance(found, types.ModuleType):
                if own or ownership.wraps_own(found):
                    return _hash("of", name) + self._digest(found, f"`{name}` of {path}")
                return _hash("of", value.__name__, name)
            value = found
        return self._digest(value, path)

    def _whole(self, module: types.ModuleType, path: str) -> bytes:
        """A module that is used as a value: all that is defined in it, or a package's name."""
        if not ownership.is_own_module(module):
            self._modules.add(module.__name__)
            return _hash("module", module.__name__)
        if file := _compiled(module):
            return _hash("compiled", file)
        named = {name: value for name, value in vars(module).items() if not _is_dunder(name)}
        parts = (_hash(name) + self._digest(value, f"`{name}` of {path}") for name, value in sorted(named.items()))
        return _hash("module", *parts)

    def _imported(self, step: code_reads.Import, function: types.FunctionType, path: str) -> bytes:
        """An import inside a function of one's own: what it takes of a module of one's own, else the module's name."""
        name = step.module
        if step.level:
            names = function.__globals__
            package = names.get("__package__") or names["__name__"].rpartition(".")[0]
            name = importlib.util.resolve_name("." * step.level + name, package)
        if not ownership.is_own_name(name):
            self._modules.add(name)
            return _hash("import", name, *step.taken)
        path = f"the module {name}, which {path} imports"
        try:
            module = importlib.import_module(name)
            for taken in step.taken:
                if not hasattr(module, taken):
                    importlib.import_module(f"{name}.{taken}")
        except ImportError:
            return _hash("absent", *step.taken)
        except Exception as error:
            raise self._unknown(f"{path}, raised {type(error).__name__} and cannot be read") from error
        chains: list[tuple[str, ...]] = [(taken,) for taken in step.taken] or [()]
        return _hash("import", *(self._reached(module, chain, path) for chain in chains))

    def _code(self, code: types.CodeType, path: str) -> bytes:
        constants = [self._digest(value, path) for value in code.co_consts if value != code.co_name]
        names = (code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars)
        return _hash("code", code.co_code, repr(names), repr((code.co_argcount, code.co_flags)), *constants)

    def _native(self, function: Any, path: str) -> bytes:
        """A function in another language: its name, or its file where that is one's own; a method with its object."""
        receiver = function.__self__
        name = getattr(function, "__module__", None) or ""
        if not (receiver is None or isinstance(receiver, types.ModuleType | type)):
            return _hash("native", function.__name__) + self._digest(receiver, f"what {path} is a method of")
        if isinstance(receiver, type) and ownership.is_own_class(receiver):
            return _hash("native", function.__name__) + self._digest(receiver, path)
        if name and ownership.is_own_name(name):
            if not (file := _compiled(sys.modules.get(name))):
                raise self._unidentified(function, path)
            return _hash("native", file, function.__qualname__)
        self._modules.add(name)
        return _hash("native", name, function.__qualname__)

    def _class(self, kind: type, path: str) -> bytes:
        """Names of a package's classes; of one's own all that they define, and of those they inherit from."""
        parts = [] if type(kind) in (type, abc.ABCMeta, enum.EnumMeta) else [self._digest(type(kind), path)]
        for part in kind.__mro__[:-1]:
            own = ownership.is_own_class(part)
            if not own:
                self._modules.add(part.__module__)
            elif file := _compiled(sys.modules.get(part.__module__)):
                parts.append(_hash("compiled", file))
            parts.append(_hash("class", "" if own else part.__module__, part.__qualname__))
            for name, member in sorted(vars(part).items()) if own else self._replaced_in(part):
                if name in DERIVED or isinstance(member, types.MemberDescriptorType | types.GetSetDescriptorType):
                    continue
                code = _code_of(member)
                if own and code is None and not _is_dunder(name) and not (self._version and not _is_plain(member)):
                    parts.append(_hash(name) + self._digest(member, f"{kind.__qualname__}.{name}"))
                elif code is not None:
                    kinds = type(member).__name__
                    parts.append(_hash(name, kinds) + self._digest(code, f"{kind.__qualname__}.{name}"))
        return _hash("class", *parts)

    def _replaced_in(self, part: type) -> list[tuple[str, Any]]:
        """The members of a package's class that one's own code replaced, looked up once: a model has many parts of a
        class."""
        if part not in self._replaced:
            self._replaced[part] = [
                (name, member)
                for name, member in sorted(vars(part).items())
                if any(map(ownership.wraps_own, _code_of(member) or ()))
            ]
        return self._replaced[part]

    # ---- objects

    def _object(self, value: Any, path: str) -> bytes:
        if isinstance(value, PASSING):
            return _hash("passing")
        kind = self._class(type(value), path)
        if self._version:
            return _hash("object", kind)
        own = ownership.is_own_class(type(value))
        replaced = {
            name: attribute
            for name, attribute in (_attributes(value) or {}).items()
            if any(map(ownership.wraps_own, _code_of(attribute) or ()))
        }
        if not own and (saved := _saved(value)) is not None:
            return _hash("object", kind, self._digest(saved, path), self._digest(replaced, path))
        if own and _is_python(type(value)):
            return _hash("object", kind, self._named(_attributes(value) or {}, path, labels=LABELS))
        return _hash("object", kind, self._copied(value, path))

    def _named(self, attributes: Mapping[str, Any], path: str, *, labels: tuple[str, ...]) -> bytes:
        """Attributes by their names, without those that are labels."""
        parts = [
            _hash(name) + self._digest(attribute, f"{path}.{name}")
            for name, attribute in sorted(attributes.items())
            if name not in labels
        ]
        return _hash("attributes", *parts)

    def _copied(self, value: Any, path: str) -> bytes:
        """What Python would copy the object by: the function that makes it, its arguments and its state."""
        if type(value) is object or isinstance(value, Iterator):
            raise self._unidentified(value, path)
        try:
            special = copyreg.dispatch_table.get(type(value))  # of compiled patterns, for one
            copied = special(value) if special else value.__reduce_ex__(4)
        except Exception as error:
            raise self._unidentified(value, path) from error
        if isinstance(copied, str):
            name = getattr(value, "__module__", None) or type(value).__module__
            found: Any = sys.modules.get(name)
            for part in copied.split("."):
                found = getattr(found, part, None)
            if found is not value or ownership.is_own_name(name):
                raise self._unidentified(value, path)
            self._modules.add(name)
            return _hash("global", name, copied)
        make, arguments, state, items, pairs = (*copied, None, None, None)[:5]
        split = isinstance(state, tuple) and type(value).__reduce_ex__ is object.__reduce_ex__
        states: tuple[Any, ...] = state if split else (state,)
        parts = [self._digest(make, path), self._digest(arguments, path)]
        for part in states:
            if type(part) is dict and all(isinstance(name, str) for name in part):
                attributes: dict[str, Any] = part
                if type(value).__module__ == "accelerate.hooks":  # where its parts lie, but for hooks that it holds
                    attributes = {name: part[name] for name in ("hooks", "no_grad") if name in part}
                parts.append(self._named(attributes, path, labels=REMEMBERED))
            else:
                parts.append(self._digest(part, path))
        parts.append(self._digest(list(items or ()), path))
        parts.append(self._digest([list(pair) for pair in pairs or ()], path))
        return _hash("copied", *parts)

    # ---- torch

    def _module(self, module: torch.nn.Module, path: str) -> bytes:
        import torch

        usual = set(vars(torch.nn.Module()))
        named = dict(module.named_modules())
        names = {id(part): name for name, part in named.items()}
        outside, self._parts = self._parts, {**{key: f".{name}" for key, name in names.items()}, **self._parts}
        try:
            parts: list[bytes] = [self._hooks(torch.nn.modules.module, EVERYWHERE, path)]
            for name, part in named.items():
                parts.append(_hash(name) + self._class(type(part), path) + self._wiring(part, names))
                at = f"{path}.{name}" if name else path
                parts.append(self._hooks(part, HOOKS, at))
                attributes = {key: value for key, value in vars(part).items() if key not in usual}
                if isinstance(part, torch.jit.ScriptModule):
                    if not self._version:
                        raise self._unknown(
                            f"{at} was compiled by torch.jit, which stores its code under names that the process makes "
                            "up, so that it cannot be compared between two sessions; the module that it was compiled "
                            "from can be"
                        )
                    continue
                for attribute, value in sorted(attributes.items()):
                    if attribute in LABELS or (self._version and _code_of(value) is None and not _is_plain(value)):
                        continue
                    parts.append(_hash(attribute) + self._digest(value, f"{at}.{attribute}"))
        finally:
            self._parts = outside
        return _hash("torch", *parts, parameters(module, of=self._of))

    def _hooks(self, owner: Any, names: tuple[str, ...], path: str) -> bytes:
        """What runs before and after a forward, in order."""
        parts = []
        for name in names:
            keyworded = getattr(owner, f"{name}_with_kwargs", {})
            for key, hook in getattr(owner, name).items():
                parts.append(_hash(name, repr(key in keyworded)) + self._digest(hook, f"a hook of {path}"))
        return _hash("hooks", *parts)

    def _wiring(self, part: torch.nn.Module, names: Mapping[int, str]) -> bytes:
        """Its submodules in order, shared ones by the name that they first have."""
        children = ((name, "-" if child is None else f".{names[id(child)]}") for name, child in part._modules.items())
        return _hash("children", *(text for pair in children for text in pair))

    def _tensor(self, tensor: torch.Tensor, path: str) -> bytes:
        """A tensor that is neither parameter nor buffer."""
        if tensor.device.type == "meta":
            raise BadInput(f"{self._of}: {path} has no values (device meta). Load the checkpoint's weights first")
        try:
            return _tensor(tensor)
        except (RuntimeError, TypeError, NotImplementedError) as error:  # sparse, nested, quantised
            raise self._unidentified(tensor, path) from error

    def _unidentified(self, value: Any, path: str) -> BadInput:
        kind = f"{type(value).__module__}.{type(value).__qualname__}".removeprefix("builtins.")
        return self._unknown(f"{path} is of the class {kind}, whose content cannot be compared between two sessions")

    def _unknown(self, what: str) -> BadInput:
        return BadInput(
            f'{self._of}: {what}. Name what the results belong to: version="...", and change it whenever the model '
            "changes"
        )


def parameters(module: torch.nn.Module, *, of: str = "The model") -> bytes:
    """16 bytes over names, shapes, dtypes and contents of all parameters and buffers; other devices' in pieces.

    Raises BadInput for weights that are not loaded (on the device `meta`).
    """
    tensors = [*module.named_parameters(), *module.named_buffers()]
    for name, tensor in tensors:
        if tensor.device.type == "meta":
            raise BadInput(f"{of}: {name} has no values (device meta). Load the checkpoint's weights first")
    with ThreadPoolExecutor(THREADS) as pool:
        return _hash(*sorted(pool.map(lambda named: _hash(named[0], _tensor(named[1])), tensors)))


def _tensor(tensor: torch.Tensor) -> bytes:
    """Of its bytes in C order, at most PIECE of them at once copied from another device."""
    import torch

    digest = hashlib.sha256()
    flat = tensor.detach().resolve_conj().contiguous().reshape(-1)
    flat = flat.view(torch.uint8) if flat.numel() else flat.to(torch.uint8)
    for start in range(0, len(flat), PIECE):
        digest.update(flat[start : start + PIECE].cpu().numpy().data)
    return _hash("tensor", str(tensor.dtype), repr(tuple(tensor.shape)), digest.digest())


def _bytes(data: np.ndarray) -> memoryview | bytes:
    return data.reshape(-1).view(np.uint8).data if data.size and data.dtype.kind not in "OMm" else data.tobytes()


def _hash(*parts: str | bytes | memoryview) -> bytes:
    """16 bytes of SHA-256, which processors have instructions for. Each part stands with its length: no two lists of
    parts read the same."""
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode("utf-8", "surrogatepass") if isinstance(part, str) else part
        digest.update(struct.pack("<Q", len(data)))
        digest.update(data)
    return digest.digest()[:16]


def _is_plain(value: Any) -> bool:
    if isinstance(value, list | tuple):
        return all(isinstance(item, PLAIN) for item in value)
    return isinstance(value, PLAIN)


def _is_config(value: Any) -> bool:
    """Whether it is a transformers configuration: it names checkpoints, and modules hold what counts of it."""
    return hasattr(value, "to_diff_dict")


def _is_filled(cell: types.CellType) -> bool:
    try:
        return cell.cell_contents is not cell
    except ValueError:
        return False


def _saved(value: Any) -> Any:
    """What a library's tokenizer or processor would be saved as; None for other objects."""
    backend = getattr(value, "backend_tokenizer", None)
    if backend is not None and hasattr(backend, "to_str"):  # transformers: truncation and padding change with its use
        limits = [getattr(value, name, None) for name in ("model_max_length", "padding_side", "pad_token_id")]
        return [_tokenizer_text(backend), *map(repr, limits)]
    if hasattr(value, "to_str") and hasattr(value, "get_vocab"):
        return _tokenizer_text(value)
    if hasattr(value, "serialized_model_proto"):
        return value.serialized_model_proto()
    if hasattr(value, "get_vocab") and hasattr(value, "init_kwargs"):
        return [value.get_vocab(), repr(getattr(value, "model_max_length", None))]
    if hasattr(value, "image_processor") and hasattr(value, "tokenizer"):
        return [value.image_processor, value.tokenizer]
    if hasattr(value, "to_dict") and hasattr(value, "preprocess"):
        named = ("_name_or_path", "name_or_path", "processor_class", "transformers_version")
        return {name: str(item) for name, item in value.to_dict().items() if name not in named}
    return None


def _tokenizer_text(tokenizer: Any) -> str:
    import json

    content = json.loads(tokenizer.to_str())
    return json.dumps({name: part for name, part in content.items() if name not in ("truncation", "padding")})


def _attributes(value: Any) -> dict[str, Any] | None:
    """The attributes of an object, those in slots too; None where it has none that Python can list."""
    slots = [name for kind in type(value).__mro__ for name in _slots(kind)]
    if not hasattr(value, "__dict__") and not slots:
        return None
    stored = {name: getattr(value, name) for name in slots if hasattr(value, name) and not name.startswith("__")}
    return {**stored, **getattr(value, "__dict__", {})}


def _slots(kind: type) -> tuple[str, ...]:
    slots = vars(kind).get("__slots__", ())
    return (slots,) if isinstance(slots, str) else tuple(slots)


def _configured(value: Any) -> Any:
    """A configuration's dict without names and versions, however deep."""
    if isinstance(value, dict):
        return {name: _configured(item) for name, item in value.items() if name not in CONFIGURED}
    return value


def _code_of(member: Any) -> tuple[Any, ...] | None:
    """The functions behind a member of a class or object; None for a value."""
    if isinstance(member, types.FunctionType):
        return (member,)
    if isinstance(member, staticmethod | classmethod | types.MethodType):
        return (member.__func__,)
    if isinstance(member, property):
        return (member.fget, member.fset, member.fdel)
    if isinstance(member, functools.partial | functools.partialmethod):
        return (member.func, member.args, dict(member.keywords))
    if isinstance(member, functools.cached_property):
        return (member.func,)
    if isinstance(member, functools._lru_cache_wrapper):
        return (member.__wrapped__,)
    return None


def _is_dunder(name: str) -> bool:
    return name.startswith("__") and name.endswith("__")


def _is_python(kind: type) -> bool:
    """Whether all of an object's state is attributes: no class that it inherits from holds any in another language."""
    parts = kind.__mro__[:-1]
    slots = sum(isinstance(member, types.MemberDescriptorType) for part in parts for member in vars(part).values())
    held = slots + (kind.__dictoffset__ > 0) + (kind.__weakrefoffset__ > 0)
    return kind.__basicsize__ <= object.__basicsize__ + held * struct.calcsize("P") and all(
        part.__flags__ & HEAP for part in parts
    )


def _compiled(module: types.ModuleType | None) -> bytes:
    """The digest of the file of a module in another language; empty for any other module."""
    file = getattr(module, "__file__", None) or ""
    if not file.endswith(tuple(importlib.machinery.EXTENSION_SUFFIXES)):
        return b""
    with open(file, "rb") as stream:
        return hashlib.file_digest(stream, "sha256").digest()


def described(function: Callable[..., Any]) -> str:
    """A function or object by its class and name, for messages and settings."""
    name = getattr(function, "__qualname__", None) or type(function).__qualname__
    return shortened(name)
