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
import importlib
import importlib.machinery
import importlib.util
import logging
import os
import sys
import threading
import types
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from compute.models.own.identity import code_reads, ownership
from compute.models.own.identity.hashing import array_bytes, hashed, parameters, tensor_digest
from compute.models.own.identity.state import (
    LABELS,
    PLAIN,
    REMEMBERED,
    attributes_of,
    code_of,
    compiled_file,
    configured,
    is_config,
    is_plain,
    is_python,
    saved_form,
)
from compute.types import BadInput

if TYPE_CHECKING:
    import torch

VERSION = 2  # part of every identity: raise it when a rule changes
BUILT_IN = (list, tuple, set, frozenset, dict, types.MappingProxyType)
# State that changes no number and differs from process to process.
PASSING = (logging.Logger, type(threading.Lock()), type(threading.RLock()), threading.Event)
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
            return hashed(type(value).__name__, repr(value))
        if id(value) in self._parts:
            return hashed("part", self._parts[id(value)])
        if id(value) in self._done:
            return self._done[id(value)][1]
        if id(value) in self._open:
            return hashed("again", str(len(self._open) - self._open[id(value)]))
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
                return hashed("torch", str(value).partition(":")[0])
        if type(value) in (np.ndarray, np.memmap) or isinstance(value, np.generic):
            if value.dtype.hasobject:
                return self._sequence("array", [value.shape, *value.ravel().tolist()], path)
            data = np.ascontiguousarray(value)
            return hashed("array", data.dtype.str, repr(data.dtype.fields), repr(data.shape), array_bytes(data))
        if isinstance(value, enum.Enum):
            return self._sequence("enum", (type(value), value.name, value.value), path)
        if isinstance(value, os.PathLike) and not ownership.is_own_class(type(value)):
            return hashed("path", os.fspath(value))
        if isinstance(value, type):
            return self._class(value, path)
        if is_config(value):
            settings = (configured(value.to_dict()), getattr(value, "_attn_implementation", None))
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
            return hashed("annotation")  # of types: nothing that runs
        return self._object(value, path)

    def _sequence(self, kind: str, values: Any, path: str) -> bytes:
        return hashed(kind, *(self._digest(value, f"{path}[{at}]") for at, value in enumerate(values)))

    def _collection(self, value: Any, path: str) -> bytes:
        if isinstance(value, list | tuple):
            return self._sequence("sequence", value, path)
        if isinstance(value, set | frozenset):
            return hashed("set", *sorted(self._digest(item, path) for item in value))
        parts = [self._digest(key, path) + self._digest(item, f"{path}[{key!r}]") for key, item in value.items()]
        return hashed("mapping", *sorted(parts))

    # ---- code

    def _function(self, function: types.FunctionType, path: str) -> bytes:
        own = ownership.is_own_function(function)
        if not own:
            self._modules.add(function.__globals__["__name__"])
            if ownership.is_importable(function) and not ownership.wraps_own(function):
                return hashed("function", function.__module__, function.__qualname__)
        name = "" if own else f"{function.__globals__['__name__']}.{function.__code__.co_name}"
        parts: list[str | bytes] = [name, self._code(function.__code__, path) if own else b""]
        wrapped = getattr(function, "__wrapped__", None)
        if wrapped is not None:
            parts.append(self._digest(wrapped, path))
        if self._version:
            return hashed("function", *parts)
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
                hashed(name) + self._outside(cell.cell_contents, name, read, path) if _is_filled(cell) else b"-"
            )
        if own:
            for name, read in sorted(chains.items()):
                if name in function.__globals__ and name not in function.__code__.co_freevars:
                    parts.append(hashed(name) + self._outside(function.__globals__[name], name, read, path))
            parts += [self._imported(step, function, path) for step in code_reads.imports(function.__code__)]
        return hashed("function", *parts)

    def _outside(self, value: Any, name: str, chains: set[tuple[str, ...]], path: str) -> bytes:
        """A value that a function reads from outside; of a module only what is read of it."""
        path = f"`{name}`, which {path} uses"
        if not isinstance(value, types.ModuleType):
            return self._digest(value, path)
        return hashed("module", *(self._reached(value, chain, path) for chain in sorted(chains)))

    def _reached(self, module: types.ModuleType, chain: tuple[str, ...], path: str) -> bytes:
        """What the attributes lead to from a module. Of a package's it is the name, unless it was replaced."""
        value: Any = module
        for name in chain:
            own = ownership.is_own_module(value)
            if not own:
                self._modules.add(value.__name__)
            if name not in vars(value) and not (own and hasattr(value, name)):
                return hashed("absent", "" if own else value.__name__, name)
            found = getattr(value, name)
            if not isinstance(found, types.ModuleType):
                if own or ownership.wraps_own(found):
                    return hashed("of", name) + self._digest(found, f"`{name}` of {path}")
                return hashed("of", value.__name__, name)
            value = found
        return self._digest(value, path)

    def _whole(self, module: types.ModuleType, path: str) -> bytes:
        """A module that is used as a value: all that is defined in it, or a package's name."""
        if not ownership.is_own_module(module):
            self._modules.add(module.__name__)
            return hashed("module", module.__name__)
        if file := compiled_file(module):
            return hashed("compiled", file)
        named = {name: value for name, value in vars(module).items() if not _is_dunder(name)}
        parts = (hashed(name) + self._digest(value, f"`{name}` of {path}") for name, value in sorted(named.items()))
        return hashed("module", *parts)

    def _imported(self, step: code_reads.Import, function: types.FunctionType, path: str) -> bytes:
        """An import inside a function of one's own: what it takes of a module of one's own, else the module's name."""
        name = step.module
        if step.level:
            names = function.__globals__
            package = names.get("__package__") or names["__name__"].rpartition(".")[0]
            name = importlib.util.resolve_name("." * step.level + name, package)
        if not ownership.is_own_name(name):
            self._modules.add(name)
            return hashed("import", name, *step.taken)
        path = f"the module {name}, which {path} imports"
        try:
            module = importlib.import_module(name)
            for taken in step.taken:
                if not hasattr(module, taken):
                    importlib.import_module(f"{name}.{taken}")
        except ImportError:
            return hashed("absent", *step.taken)
        except Exception as error:
            raise self._unknown(f"{path}, raised {type(error).__name__} and cannot be read") from error
        chains: list[tuple[str, ...]] = [(taken,) for taken in step.taken] or [()]
        return hashed("import", *(self._reached(module, chain, path) for chain in chains))

    def _code(self, code: types.CodeType, path: str) -> bytes:
        constants = [self._digest(value, path) for value in code.co_consts if value != code.co_name]
        names = (code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars)
        return hashed("code", code.co_code, repr(names), repr((code.co_argcount, code.co_flags)), *constants)

    def _native(self, function: Any, path: str) -> bytes:
        """A function in another language: its name, or its file where that is one's own; a method with its object."""
        receiver = function.__self__
        name = getattr(function, "__module__", None) or ""
        if not (receiver is None or isinstance(receiver, types.ModuleType | type)):
            return hashed("native", function.__name__) + self._digest(receiver, f"what {path} is a method of")
        if isinstance(receiver, type) and ownership.is_own_class(receiver):
            return hashed("native", function.__name__) + self._digest(receiver, path)
        if name and ownership.is_own_name(name):
            if not (file := compiled_file(sys.modules.get(name))):
                raise self._unidentified(function, path)
            return hashed("native", file, function.__qualname__)
        self._modules.add(name)
        return hashed("native", name, function.__qualname__)

    def _class(self, kind: type, path: str) -> bytes:
        """Names of a package's classes; of one's own all that they define, and of those they inherit from."""
        parts = [] if type(kind) in (type, abc.ABCMeta, enum.EnumMeta) else [self._digest(type(kind), path)]
        for part in kind.__mro__[:-1]:
            own = ownership.is_own_class(part)
            if not own:
                self._modules.add(part.__module__)
            elif file := compiled_file(sys.modules.get(part.__module__)):
                parts.append(hashed("compiled", file))
            parts.append(hashed("class", "" if own else part.__module__, part.__qualname__))
            for name, member in sorted(vars(part).items()) if own else self._replaced_in(part):
                if name in DERIVED or isinstance(member, types.MemberDescriptorType | types.GetSetDescriptorType):
                    continue
                code = code_of(member)
                if own and code is None and not _is_dunder(name) and not (self._version and not is_plain(member)):
                    parts.append(hashed(name) + self._digest(member, f"{kind.__qualname__}.{name}"))
                elif code is not None:
                    kinds = type(member).__name__
                    parts.append(hashed(name, kinds) + self._digest(code, f"{kind.__qualname__}.{name}"))
        return hashed("class", *parts)

    def _replaced_in(self, part: type) -> list[tuple[str, Any]]:
        """The members of a package's class that one's own code replaced, looked up once: a model has many parts of a
        class."""
        if part not in self._replaced:
            self._replaced[part] = [
                (name, member)
                for name, member in sorted(vars(part).items())
                if any(map(ownership.wraps_own, code_of(member) or ()))
            ]
        return self._replaced[part]

    # ---- objects

    def _object(self, value: Any, path: str) -> bytes:
        if isinstance(value, PASSING):
            return hashed("passing")
        kind = self._class(type(value), path)
        if self._version:
            return hashed("object", kind)
        own = ownership.is_own_class(type(value))
        replaced = {
            name: attribute
            for name, attribute in (attributes_of(value) or {}).items()
            if any(map(ownership.wraps_own, code_of(attribute) or ()))
        }
        if not own and (saved := saved_form(value)) is not None:
            return hashed("object", kind, self._digest(saved, path), self._digest(replaced, path))
        if own and is_python(type(value)):
            return hashed("object", kind, self._named(attributes_of(value) or {}, path, labels=LABELS))
        return hashed("object", kind, self._copied(value, path))

    def _named(self, attributes: Mapping[str, Any], path: str, *, labels: tuple[str, ...]) -> bytes:
        """Attributes by their names, without those that are labels."""
        parts = [
            hashed(name) + self._digest(attribute, f"{path}.{name}")
            for name, attribute in sorted(attributes.items())
            if name not in labels
        ]
        return hashed("attributes", *parts)

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
            return hashed("global", name, copied)
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
        return hashed("copied", *parts)

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
                parts.append(hashed(name) + self._class(type(part), path) + self._wiring(part, names))
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
                    if attribute in LABELS or (self._version and code_of(value) is None and not is_plain(value)):
                        continue
                    parts.append(hashed(attribute) + self._digest(value, f"{at}.{attribute}"))
        finally:
            self._parts = outside
        return hashed("torch", *parts, parameters(module, of=self._of))

    def _hooks(self, owner: Any, names: tuple[str, ...], path: str) -> bytes:
        """What runs before and after a forward, in order."""
        parts = []
        for name in names:
            keyworded = getattr(owner, f"{name}_with_kwargs", {})
            for key, hook in getattr(owner, name).items():
                parts.append(hashed(name, repr(key in keyworded)) + self._digest(hook, f"a hook of {path}"))
        return hashed("hooks", *parts)

    def _wiring(self, part: torch.nn.Module, names: Mapping[int, str]) -> bytes:
        """Its submodules in order, shared ones by the name that they first have."""
        children = ((name, "-" if child is None else f".{names[id(child)]}") for name, child in part._modules.items())
        return hashed("children", *(text for pair in children for text in pair))

    def _tensor(self, tensor: torch.Tensor, path: str) -> bytes:
        """A tensor that is neither parameter nor buffer."""
        if tensor.device.type == "meta":
            raise BadInput(f"{self._of}: {path} has no values (device meta). Load the checkpoint's weights first")
        try:
            return tensor_digest(tensor)
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


def _is_filled(cell: types.CellType) -> bool:
    try:
        return cell.cell_contents is not cell
    except ValueError:
        return False


def _is_dunder(name: str) -> bool:
    return name.startswith("__") and name.endswith("__")
