"""Every regular expression takes time in proportion to the text that it meets, whatever the text is."""

import ast
import importlib
import pkgutil
import re
import signal
from functools import partial
from itertools import product
from pathlib import Path
from re import _compiler, _parser
from re import _constants as codes

import pytest

import compute
import leaderboard
from compute.live.inputs import longest_run
from compute.procedures.shared import parsing, ratings
from compute.types import slug
from leaderboard.web.redact import redact_paths

LENGTH, SECONDS = 30_000, 0.5  # of this process: linear time takes a tenth of it, quadratic time several times as much
SIGNS = "aA1 \n.,:;/-_=<>(){}[]|'\"\\é\u0301"
UNITS = (*SIGNS, "a.", "a ", "/a", "1-", "-a", "a\n", "a;a=")
ENDS = ("\x00", "\n\x00")
METHODS = {"match", "fullmatch", "search", "finditer", "findall", "sub", "split"}
REPEATS = (codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT)
OWN = ("leaderboard.face.heads", "leaderboard.search.index", "leaderboard.web.pages")  # meet the program's own pages
# Patterns that are put together when they are needed, and texts that are read in several steps.
READERS = {
    "answer": lambda text: parsing.read(text, ["(A) Image 1", "(B) Image 2"]),
    "rating": lambda text: ratings.read(text, lenient=True),
    "marks": longest_run,
    "name": lambda text: slug(text, default="name"),
    "sentence": redact_paths,
}


def test_patterns_take_time_in_proportion_to_the_text():
    uses = found()
    assert len(uses) > 100
    slow = {}
    for (pattern, method), place in uses.items():
        read = partial(pattern.sub, "") if method == "sub" else getattr(pattern, method.replace("finditer", "findall"))
        if text := too_long(read, texts(repeated(_parser.parse(pattern.pattern, pattern.flags)))):
            slow[place] = text
    assert not slow


@pytest.mark.parametrize("name", READERS)
def test_readers_take_time_in_proportion_to_the_text(name):
    begins = ("", "http://", "/gradio_api/", "Score: ", "Answer: ", "<think>", "```")
    assert not too_long(READERS[name], texts((begin, begin) for begin in begins))


def found():
    """Each pattern that a module knows, and the method that is called: where, in the sources of both packages."""
    uses = {}
    for info in (
        *pkgutil.walk_packages(compute.__path__, "compute."),
        *pkgutil.walk_packages(leaderboard.__path__, "leaderboard."),
    ):
        if info.name.endswith("__main__") or info.name.startswith(OWN):
            continue
        module = importlib.import_module(info.name)
        for call in ast.walk(ast.parse(Path(str(module.__file__)).read_text(encoding="utf-8"))):
            if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr in METHODS:
                try:
                    owner = eval(ast.unparse(call.func.value), vars(module))
                    pattern = re.compile(eval(ast.unparse(call.args[0]), vars(module))) if owner is re else owner
                except (AttributeError, IndexError, NameError, TypeError):  # of names within a function
                    continue
                if isinstance(pattern, re.Pattern):
                    uses.setdefault((pattern, call.func.attr), f"{info.name}:{call.lineno}")
    return uses


def example(parsed):
    """A text that a parsed pattern reads, but for its conditions."""
    text = ""
    for code, value in parsed:
        if code is codes.LITERAL:
            text += chr(value)
        elif code in (codes.ANY, codes.IN, codes.NOT_LITERAL):
            sign = _compiler.compile(_parser.SubPattern(_parser.State(), [(code, value)]))
            text += next(filter(sign.match, SIGNS), "")
        elif code in REPEATS:
            text += example(value[2]) * max(1, value[0])
        elif code is codes.BRANCH:
            text += example(value[1][0])
        elif code is codes.SUBPATTERN:
            text += example(value[3])
    return text


def repeated(parsed, before=""):
    """What a parsed pattern reads before each part that it repeats, and one such part; at last all of it."""
    for code, value in parsed:
        if code in REPEATS:
            yield before, example(value[2])
            yield from repeated(value[2], before)
        for part in value[1] if code is codes.BRANCH else [value[3]] if code is codes.SUBPATTERN else []:
            yield from repeated(part, before)
        before += example([(code, value)])
    yield before, before


def texts(pairs):
    """A beginning, then some unit many times, then an end that is not expected."""
    begins, units = map(dict.fromkeys, zip(*pairs, strict=True))
    for begin, unit, end in product(begins, {*filter(None, (*UNITS, *begins, *units))}, ENDS):
        yield begin + unit * (LENGTH // len(unit)) + end


def too_long(read, given):
    """The ends of the first text that takes more than SECONDS to read, or ""."""

    def stop(*_):
        raise TimeoutError

    signal.signal(signal.SIGVTALRM, stop)
    for text in given:
        signal.setitimer(signal.ITIMER_VIRTUAL, SECONDS)
        try:
            read(text)
        except TimeoutError:
            return f"{text[:40]!r} ... {text[-3:]!r}"
        finally:
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    return ""
