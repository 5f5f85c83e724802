"""What identifies an object in memory: a digest of all that decides its numbers, and of nothing else.

- a torch module: every parameter and buffer (name, shape, dtype, bytes), the classes of its submodules and their plain
  attributes (an epsilon, a number of heads); never the name of a variable, a file or a checkpoint
- a Python function: its compiled code, defaults, and the values that it reads from outside: closure and globals
- any other object: its class and attributes; tokenizers and processors by what they would be saved as

Code of installed packages goes by their versions, which the caller stores; code of one's own goes by its compiled form,
so that comments and blank lines change nothing. A value that no rule covers (a network client, a generator) raises
BadInput: the caller then names a `version` instead, and only code and modules count.
"""

from __future__ import annotations

import builtins
import dis
import enum
import functools
import hashlib
import logging
import os
import re
import struct
import sys
import sysconfig
import threading
import types
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from compute.types import BadInput, shortened

if TYPE_CHECKING:
    import torch

VERSION = 1  # part of every identity: raise it when a rule changes
PIECE = 32 << 20  # bytes that are copied from another device at once
THREADS = min(8, os.cpu_count() or 1)
PLAIN = (bool, int, float, complex, str, bytes, type(None), type(...))
ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")
LABELS = ("mteb_model_meta", "model_card_data", "name_or_path")  # attributes that name or describe a model
# State that changes no number and differs from process to process.
PASSING = (logging.Logger, type(threading.Lock()), type(threading.RLock()), threading.Event)


class Digester:
    """Digests of objects that belong to one model; `packages` are those whose code they run, by the names they are
    installed under."""

    def __init__(self, *, of: str, version: str = "") -> None:
        self._of, self._version = of, version
        self._done: dict[int, tuple[Any, bytes]] = {}  # by identity; the object is held so that it stays its own
        self._open: set[int] = set()
        self._modules: set[str] = set()

    @property
    def packages(self) -> tuple[str, ...]:
        """The distributions that the digested objects are of."""
        names = {name for top in self._modules for name in _distributions().get(top, ())}
        return tuple(sorted(names))

    def of(self, value: Any, *, role: str) -> str:
        """32 hex digits. `role` says in the error what the value is to the model. Raises BadInput."""
        return self._digest(value, role).hex()

    # ---- within

    def _digest(self, value: Any, path: str) -> bytes:
        if isinstance(value, PLAIN):
            return _hash(type(value).__name__, repr(value))
        if id(value) in self._done:
            return self._done[id(value)][1]
        if id(value) in self._open:
            return _hash("again")
        self._open.add(id(value))
        try:
            digest = self._made(value, path)
        finally:
            self._open.discard(id(value))
        self._done[id(value)] = (value, digest)
        return digest

    def _made(self, value: Any, path: str) -> bytes:
        torch = sys.modules.get("torch")
        if torch is not None:
            if isinstance(value, torch.nn.Module):
                return self._module(value, path)
            if isinstance(value, torch.Tensor):
                return _tensor(value)
            if isinstance(value, torch.dtype | torch.device):
                return _hash("torch", str(value).partition(":")[0])
        if isinstance(value, np.ndarray | np.generic):
            if value.dtype == object:
                return self._sequence("array", value.ravel().tolist(), path)
            data = np.ascontiguousarray(value)
            return _hash("array", data.dtype.str, repr(data.shape), _bytes(data))
        if isinstance(value, os.PathLike):
            return _hash("path", os.fspath(value))
        if isinstance(value, enum.Enum):
            return _hash("enum", type(value).__qualname__, value.name)
        if isinstance(value, list | tuple):
            return self._sequence("sequence", value, path)
        if isinstance(value, set | frozenset):
            return _hash("set", *sorted(self._digest(item, path) for item in value))
        if isinstance(value, Mapping):
            parts = [self._digest(key, path) + self._digest(item, f"{path}[{key!r}]") for key, item in value.items()]
            return _hash("mapping", *sorted(parts))
        if isinstance(value, types.ModuleType):
            self._modules.add(value.__name__.partition(".")[0])
            return _hash("module", value.__name__)
        if isinstance(value, functools.partial):
            parts = (value.func, value.args, dict(value.keywords))
            return self._sequence("partial", parts, path)
        if isinstance(value, types.MethodType):
            return self._sequence("method", (value.__func__, value.__self__), path)
        if isinstance(value, types.FunctionType):
            return self._function(value, path)
        if isinstance(value, types.CodeType):
            return self._code(value, path)
        if isinstance(value, type):
            return self._class(value, path)
        if callable(value) and hasattr(value, "__name__") and not hasattr(value, "__dict__"):
            self._note(value)  # of a package in another language
            return _hash("native", getattr(value, "__module__", "") or "", value.__name__)
        return self._object(value, path)

    def _sequence(self, kind: str, values: Any, path: str) -> bytes:
        return _hash(kind, *(self._digest(value, f"{path}[{at}]") for at, value in enumerate(values)))

    def _function(self, function: types.FunctionType, path: str) -> bytes:
        if not self._is_own(function):
            return _hash("function", function.__module__, function.__qualname__)
        wrapped = getattr(function, "__wrapped__", None)
        parts = [self._code(function.__code__, path)]
        if wrapped is not None:
            parts.append(self._digest(wrapped, path))
        if not self._version:
            parts.append(self._digest(function.__defaults__, f"{path}'s defaults"))
            parts.append(self._digest(function.__kwdefaults__, f"{path}'s defaults"))
            for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
                parts.append(_hash(name) + self._outside(cell.cell_contents, name, path) if _is_filled(cell) else b"-")
            for name in sorted(set(_globals_of(function.__code__))):
                if name in function.__globals__ and not hasattr(builtins, name):
                    parts.append(_hash(name) + self._outside(function.__globals__[name], name, path))
        return _hash("function", *parts)

    def _outside(self, value: Any, name: str, path: str) -> bytes:
        return self._digest(value, f"`{name}`, which {path} uses")

    def _code(self, code: types.CodeType, path: str) -> bytes:
        constants = [self._digest(value, path) for value in code.co_consts if value != code.co_name]
        names = (code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars)
        return _hash("code", code.co_code, repr(names), repr((code.co_argcount, code.co_flags)), *constants)

    def _class(self, kind: type, path: str) -> bytes:
        """Names of a package's classes; of one's own the code of their methods, and of those they inherit from."""
        parts = []
        for part in kind.__mro__[:-1]:
            parts.append(_hash("class", "" if self._is_own(part) else part.__module__, part.__qualname__))
            if self._is_own(part):
                for name, member in sorted(vars(part).items()):
                    function = getattr(member, "__func__", getattr(member, "fget", member))
                    if isinstance(function, types.FunctionType):
                        parts.append(_hash(name) + self._digest(function, f"{kind.__qualname__}.{name}"))
                    elif isinstance(member, PLAIN) and not name.startswith("__"):
                        parts.append(_hash(name) + self._digest(member, path))
        return _hash("class", *parts)

    def _object(self, value: Any, path: str) -> bytes:
        if isinstance(value, PASSING):
            return _hash("passing")
        kind = self._class(type(value), path)
        if self._version:
            return _hash("object", kind)
        own = self._is_own(type(value))
        if not own and (saved := _saved(value)) is not None:
            return _hash("object", kind, self._digest(saved, path))
        attributes = _attributes(value)
        if attributes:
            parts = [
                _hash(name) + self._digest(attribute, f"{path}.{name}")
                for name, attribute in sorted(attributes.items())
                if name not in LABELS and (own or not (name.startswith("_") or name == "cache"))
            ]
            return _hash("object", kind, *parts)
        text = repr(value)
        if own and attributes is not None:
            return _hash("object", kind)  # nothing but its class
        if ADDRESS.search(text) or " object at " in text:
            raise self._unidentified(value, path)
        return _hash("object", kind, text)

    def _module(self, module: torch.nn.Module, path: str) -> bytes:
        import torch

        usual = set(vars(torch.nn.Module()))
        parts: list[bytes] = []
        for name, part in module.named_modules():
            parts.append(_hash(name) + self._digest(type(part), path))
            own = self._is_own(type(part))
            for attribute, value in sorted(vars(part).items()):
                if attribute in usual or attribute in LABELS or (attribute.startswith("_") and not own):
                    continue
                if _is_plain(value):
                    parts.append(_hash(attribute, repr(value)))
                elif own and not self._version and not _is_config(value):
                    parts.append(
                        _hash(attribute) + self._digest(value, f"{path}.{name}.{attribute}".replace("..", "."))
                    )
        return _hash("torch", *parts, parameters(module, of=self._of))

    def _is_own(self, value: Any) -> bool:
        """Whether a class or function is of no installed package and not of Python itself. Notes the package."""
        name = getattr(value, "__module__", None) or ""
        if name == "builtins":
            return False
        file = getattr(sys.modules.get(name), "__file__", None)
        if file is None or name == "__main__":
            return name == "__main__" or name not in sys.modules
        if Path(file).is_relative_to(_standard()) or any(part in PACKAGES for part in Path(file).parts):
            self._note(value)
            return False
        return True

    def _note(self, value: Any) -> None:
        self._modules.add((getattr(value, "__module__", None) or "").partition(".")[0])

    def _unidentified(self, value: Any, path: str) -> BadInput:
        kind = f"{type(value).__module__}.{type(value).__qualname__}".removeprefix("builtins.")
        return BadInput(
            f"{self._of}: {path} is of the class {kind}, whose content cannot be compared between two sessions. "
            'Name what the results belong to: version="...", and change it whenever the model changes'
        )


PACKAGES = ("site-packages", "dist-packages")


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
        digest.update(memoryview(flat[start : start + PIECE].cpu().numpy()))
    return _hash("tensor", str(tensor.dtype), repr(tuple(tensor.shape)), digest.digest())


def _bytes(data: np.ndarray) -> memoryview | bytes:
    return memoryview(data.reshape(-1).view(np.uint8)) if data.size and data.dtype.kind not in "OMm" else data.tobytes()


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


def _globals_of(code: types.CodeType) -> Iterator[str]:
    """Names that a function and those within it read from their module."""
    for step in dis.get_instructions(code):
        if step.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
            yield step.argval
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _globals_of(constant)


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


@functools.cache
def _standard() -> Path:
    return Path(sysconfig.get_paths()["stdlib"])


@functools.cache
def _distributions() -> Mapping[str, list[str]]:
    """Installed packages by the name that is imported."""
    return metadata.packages_distributions()


def described(function: Callable[..., Any]) -> str:
    """A function or object by its class and name, for messages and settings."""
    name = getattr(function, "__qualname__", None) or type(function).__qualname__
    return shortened(name)
