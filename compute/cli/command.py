"""Converts functions to commands: the function's parameters become arguments and options."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import typer
from annotated_types import Ge
from typer.models import ParameterInfo

from compute.options import names, parameters
from compute.types import BadInput, option

KINDS = (str, int, float, bool, Path, Literal, Sequence, list, tuple, Mapping)


def as_command(function: Callable[..., Any]) -> Callable[..., None]:
    """Makes a typer command of a function: it prints the result, and writes an HTML page if the result has `save_html`.

    Keyword-only parameters become options, others arguments; the text in an annotation is their help. A `Sequence` is
    comma-separated, a `list` is not, and a `Mapping` is given as NAME=VALUE; each may be repeated, and the values add
    up. Parameters that typer describes are passed unchanged. Parameters of unsupported types keep their defaults.
    """
    signature = inspect.signature(function, eval_str=True)
    pages = parameters(_page) if hasattr(signature.return_annotation, "save_html") else {}
    read = {}
    taken = [each for one in (*signature.parameters.values(), *pages.values()) if (each := _taken(one, read))]

    def command(**given: Any) -> None:
        values = {name: read[name](value) if name in read else value for name, value in given.items()}
        html, title = (values.pop(name, None) for name in ("html", "title"))
        result = function(**values)
        for line in result if isinstance(result, Iterator) else () if result is None else (result,):
            typer.echo(str(line))
        if html is not None:
            result.save_html(html, title=title or Path(next(iter(values.values()))).stem)
            typer.echo(f"Wrote {html}")

    parts = (inspect.getdoc(function) or "").split("\n\n")
    command.__name__, command.__doc__ = function.__name__, "\n\n".join(part for part in parts if "Raises " not in part)
    command.__signature__ = inspect.Signature(taken)
    command.__annotations__ = {one.name: one.annotation for one in taken}
    return command


def grouped(*functions: Callable[..., Any]) -> typer.Typer:
    """Groups the commands of functions under one word."""
    app = typer.Typer(add_completion=False, no_args_is_help=True, callback=lambda: None)
    for function in functions:
        app.command()(as_command(function))
    return app


def _page(
    *,
    html: Annotated[Path | None, "Also write the board to this file, which needs no network."] = None,
    title: Annotated[str, "The heading of that file; default: the table's name."] = "",
) -> None:
    """Declares the options of a command whose result has a page."""


def _taken(one: inspect.Parameter, read: dict[str, Callable[[Any], Any]]) -> inspect.Parameter | None:
    """Describes a parameter for typer, and puts the parser of its texts in `read`; None if no command can take it."""
    about = list(_parts(one.annotation))
    if any(each is typer.Context or isinstance(each, ParameterInfo) for each in about):
        return one
    member = next((each for each in about if (get_origin(each) or each) in KINDS), None)
    if member is None:
        return None
    kind, parts, default, name = get_origin(member) or member, get_args(member), one.default, option(one.name)
    if kind is Literal:
        kind = str
    elif float in parts[:1]:
        read[one.name] = lambda text: tuple(_number(each, name=name) for each in names(text))
        kind, default = str, ",".join(f"{number:g}" for number in default or ())
    elif parts:
        read[one.name] = lambda texts: texts or ()
        if kind is Mapping:
            read[one.name] = partial(mapping, kind=parts[1], name=name, several=parts[1] is str)
        elif kind is Sequence:
            read[one.name], default = names, names(default) if isinstance(default, str) else default
        kind, default = list[parts[0]], default or None
    described = {
        "help": next((each for each in about if isinstance(each, str)), None),
        "min": next((each.ge for each in about if isinstance(each, Ge)), None),
    }
    flag = f"{name}/--no-{name[2:]}" if default is True else name
    info = typer.Option(flag, **described) if one.kind is one.KEYWORD_ONLY else typer.Argument(**described)
    return one.replace(annotation=Annotated[kind, info], default=default)


def _parts(annotation: Any) -> Iterator[Any]:
    """Yields the types that an annotation allows, and its metadata."""
    if get_origin(annotation) in (Annotated, Union, UnionType):
        for part in get_args(annotation):
            yield from _parts(part)
    else:
        yield annotation


def mapping(texts: Sequence[str] | None, *, kind: Any, name: str, several: bool = False) -> dict[str, Any]:
    """Parses `NAME=VALUE`; with `several`, comma-separated. A text value may contain `=`; for other values the name
    may.

    Raises BadInput.
    """
    found = {}
    for text in names(texts) if several else texts or ():
        key, _, value = map(str.strip, (text.partition if kind is str else text.rpartition)("="))
        if not (key and value):
            raise BadInput(f"Write {name} NAME=VALUE; got {text!r}")
        if key in found:
            raise BadInput(f"{key!r} is named twice. Write it once: {name} {key}=...")
        found[key] = value if kind is str else _number(value, name=name) if kind is float else names(value)
    return found


def _number(text: str, *, name: str) -> float:
    """Parses a number. Raises BadInput."""
    try:
        return float(text)
    except ValueError as error:
        raise BadInput(f"{name} takes numbers such as 0.5; got {text!r}") from error
