"""What of an object counts: its attributes but for labels, what it would be saved as, and the code behind a member."""

from __future__ import annotations

import functools
import hashlib
import importlib.machinery
import json
import struct
import types
from typing import Any

PLAIN = (bool, int, float, complex, str, bytes, type(None), type(...), type(NotImplemented))
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
HEAP = 1 << 9  # the flag of classes that a class statement makes


def is_plain(value: Any) -> bool:
    """Whether it is a number, a text, bytes, None or the like, or a list or tuple of these alone."""
    if isinstance(value, list | tuple):
        return all(isinstance(item, PLAIN) for item in value)
    return isinstance(value, PLAIN)


def is_config(value: Any) -> bool:
    """Whether it is a transformers configuration: it names checkpoints, and modules hold what counts of it."""
    return hasattr(value, "to_diff_dict")


def configured(value: Any) -> Any:
    """A configuration's dict without names and versions, however deep."""
    if isinstance(value, dict):
        return {name: configured(item) for name, item in value.items() if name not in CONFIGURED}
    return value


def saved_form(value: Any) -> Any:
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
    content = json.loads(tokenizer.to_str())
    return json.dumps({name: part for name, part in content.items() if name not in ("truncation", "padding")})


def attributes_of(value: Any) -> dict[str, Any] | None:
    """The attributes of an object, those in slots too; None where it has none that Python can list."""
    slots = [name for kind in type(value).__mro__ for name in _slots(kind)]
    if not hasattr(value, "__dict__") and not slots:
        return None
    stored = {name: getattr(value, name) for name in slots if hasattr(value, name) and not name.startswith("__")}
    return {**stored, **getattr(value, "__dict__", {})}


def _slots(kind: type) -> tuple[str, ...]:
    slots = vars(kind).get("__slots__", ())
    return (slots,) if isinstance(slots, str) else tuple(slots)


def code_of(member: Any) -> tuple[Any, ...] | None:
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


def is_python(kind: type) -> bool:
    """Whether all of an object's state is attributes: no class that it inherits from holds any in another language."""
    parts = kind.__mro__[:-1]
    slots = sum(isinstance(member, types.MemberDescriptorType) for part in parts for member in vars(part).values())
    held = slots + (kind.__dictoffset__ > 0) + (kind.__weakrefoffset__ > 0)
    return kind.__basicsize__ <= object.__basicsize__ + held * struct.calcsize("P") and all(
        part.__flags__ & HEAP for part in parts
    )


def compiled_file(module: types.ModuleType | None) -> bytes:
    """The digest of the file of a module in another language; empty for any other module."""
    file = getattr(module, "__file__", None) or ""
    if not file.endswith(tuple(importlib.machinery.EXTENSION_SUFFIXES)):
        return b""
    with open(file, "rb") as stream:
        return hashlib.file_digest(stream, "sha256").digest()
