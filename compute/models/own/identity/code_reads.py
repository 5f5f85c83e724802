"""What a function's compiled code reads from outside: names of its module with the attributes behind them, and imports.

Reading is by instruction, so that a helper module counts by the functions that are used of it. Where the code hands a
module on as a whole, the chain ends with it and all of the module counts.
"""

from __future__ import annotations

import dis
import types
from collections.abc import Iterator
from dataclasses import dataclass

NAMES = (
    *("LOAD_GLOBAL", "LOAD_NAME", "LOAD_DEREF", "LOAD_CLASSDEREF"),
    *("LOAD_FROM_DICT_OR_GLOBALS", "LOAD_FROM_DICT_OR_DEREF"),
)
ATTRIBUTES = ("LOAD_ATTR", "LOAD_METHOD")
SKIPPED = ("CACHE", "EXTENDED_ARG", "NOP", "PUSH_NULL")
# With these a function reads or runs what its code does not show.
HIDING = ("eval", "exec", "globals", "__import__", "import_module", "import_string", "run_path")


@dataclass(frozen=True, kw_only=True, order=True)
class Import:
    """An import inside a function: of a module, with what is taken from it; empty for the module itself."""

    module: str
    level: int  # how many dots stand before it
    taken: tuple[str, ...]


def reads(code: types.CodeType) -> dict[str, set[tuple[str, ...]]]:
    """The chains of attributes behind each name that the code, and code inside it, reads from its module or from the
    function around it. An empty chain: the value itself is used."""
    chains: dict[str, set[tuple[str, ...]]] = {}
    for part in _parts(code):
        steps = _steps(part)
        for at, step in enumerate(steps):
            if step.opname in NAMES:
                chain = []
                for following in steps[at + 1 :]:
                    if following.opname not in ATTRIBUTES:
                        break
                    chain.append(following.argval)
                chains.setdefault(step.argval, set()).add(tuple(chain))
    return chains


def imports(code: types.CodeType) -> list[Import]:
    """The imports in the code and in code inside it, each once, in alphabetical order."""
    every = set()
    for part in _parts(code):
        steps = _steps(part)
        for at, step in enumerate(steps):
            if step.opname == "IMPORT_NAME":
                level, taken = (steps[at - back].argval for back in (2, 1))
                every.add(Import(module=step.argval or "", level=level, taken=tuple(taken or ())))
    return sorted(every)


def hiding(code: types.CodeType) -> str:
    """The first name through which the code may read or run what it does not show; empty where there is none."""
    for part in _parts(code):
        for step in _steps(part):
            if step.argval in HIDING and step.opname in (*NAMES, "IMPORT_FROM"):
                return step.argval
            if step.argval in HIDING[3:] and step.opname in ATTRIBUTES:
                return step.argval
    return ""


def _parts(code: types.CodeType) -> Iterator[types.CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _parts(constant)


def _steps(code: types.CodeType) -> list[dis.Instruction]:
    return [step for step in dis.get_instructions(code) if step.opname not in SKIPPED]
