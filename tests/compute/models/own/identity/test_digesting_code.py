"""The digest of code of one's own: every edit that may change a number is another model, wherever it stands."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import pytest

from compute.models.own.identity import ownership
from compute.models.own.identity.digesting import Digester
from compute.types import BadInput


def digest(value, *, version: str = "") -> str:
    return Digester(of="It", version=version).of(value, role="the object")


@pytest.fixture
def write(tmp_path, monkeypatch):
    """Writes modules into a folder that is imported from, and gives the one named `main` afresh."""
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)  # sources that change within a second have one time stamp

    def written(**sources: str):
        for name, source in sources.items():
            (tmp_path / f"{name}.py").write_text(source)
        for name in [path.stem for path in Path(tmp_path).glob("*.py")]:
            monkeypatch.delitem(sys.modules, name, raising=False)
        importlib.invalidate_caches()
        module = importlib.import_module("main_of_test")
        for path in Path(tmp_path).glob("*.py"):  # what this imported is forgotten after the test
            if path.stem in sys.modules:
                monkeypatch.setitem(sys.modules, path.stem, sys.modules[path.stem])
        return module.distance

    return written


HELPER = "def score(a, b):\n    return {factor} * (a - b)\n\n\ndef other():\n    return {unused}\n"
USES = {
    "a global module": "import helper_of_test\n\ndef distance(a, b):\n    return helper_of_test.score(a, b)\n",
    "another name": "import helper_of_test as h\n\ndef distance(a, b):\n    return h.score(a, b)\n",
    "a name of it": "from helper_of_test import score\n\ndef distance(a, b):\n    return score(a, b)\n",
    "an import inside": "def distance(a, b):\n    from helper_of_test import score\n    return score(a, b)\n",
    "a module inside": "def distance(a, b):\n    import helper_of_test as h\n    return h.score(a, b)\n",
    "an inner function": (
        "import helper_of_test\n\ndef distance(a, b):\n    return [helper_of_test.score(x, b) for x in a]\n"
    ),
    "getattr": "import helper_of_test\n\ndef distance(a, b):\n    return getattr(helper_of_test, 'score')(a, b)\n",
    "a method": (
        "import helper_of_test\n\nclass Metric:\n    def __call__(self, a, b):\n"
        "        return helper_of_test.score(a, b)\n\ndistance = Metric()\n"
    ),
    "a cache": (
        "import functools\nimport helper_of_test\n\n@functools.lru_cache\ndef distance(a, b):\n"
        "    return helper_of_test.score(a, b)\n"
    ),
    "a decorator of torch": (
        "import torch\nimport helper_of_test\n\n@torch.no_grad()\ndef distance(a, b):\n"
        "    return helper_of_test.score(a, b)\n"
    ),
}


@pytest.mark.parametrize("use", USES)
def test_an_edited_helper_is_another_model(write, use):
    def of(factor: int) -> str:
        return digest(write(helper_of_test=HELPER.format(factor=factor, unused=1), main_of_test=USES[use]))

    first = of(1)
    assert of(1) == first
    assert of(2) != first


def test_a_helper_of_a_helper_counts_and_what_nothing_uses_does_not(write):
    between = "import helper_of_test\n\n\ndef score(a, b):\n    # {comment}\n    return helper_of_test.score(a, b)\n"
    main = "import between_of_test\n\n\ndef distance(a, b):\n    return between_of_test.score(a, b)\n"

    def of(factor: int, unused: int = 1, comment: str = "") -> str:
        helper = HELPER.format(factor=factor, unused=unused)
        between_of_test = between.format(comment=comment)
        return digest(write(helper_of_test=helper, between_of_test=between_of_test, main_of_test=main))

    first = of(1)
    assert of(1, unused=2, comment="the same") == first
    assert of(2) != first


def test_a_constant_of_a_helper_counts_through_its_package(write, tmp_path):
    (tmp_path / "package_of_test").mkdir()
    (tmp_path / "package_of_test/__init__.py").touch()
    main = "import package_of_test.part\n\n\ndef distance(a, b):\n    return package_of_test.part.SCALE * (a - b)\n"

    def of(scale: int) -> str:
        (tmp_path / "package_of_test/part.py").write_text(f"SCALE = {scale}\n")
        for name in ("package_of_test", "package_of_test.part"):
            sys.modules.pop(name, None)
        return digest(write(main_of_test=main))

    assert of(1) == of(1) != of(2)


@pytest.mark.parametrize("read", ["eval('1')", "globals()['x']", "importlib.import_module('helper')"])
def test_code_that_hides_what_it_reads_needs_a_version(write, read):
    function = write(main_of_test=f"import importlib\n\n\ndef distance(a, b):\n    return {read}\n")
    with pytest.raises(BadInput, match=r"uses `(eval|globals|import_module)`.*version=\"\.\.\.\""):
        digest(function)
    assert digest(function, version="1")


CLASS = """
import enum
import functools
import numpy as np
import torch

class Mode(enum.Enum):
    A = {enum}

class Part:
    weights = np.array([{array}, 2.0])
    tensor = torch.tensor([{tensor}])
    table = {{"a": [{table}]}}
    items = [1, {items}]
    mode = Mode.A
    number = {number}

    def _scaled(self, value, by):
        return value * by

    scaled = functools.partialmethod(_scaled, by={partialmethod})

    @property
    def level(self):
        return 1

    @level.setter
    def level(self, value):
        self.value = value + {setter}

    @functools.cached_property
    def cached(self):
        return {cached}

    @staticmethod
    def static():
        return {static}

    @classmethod
    def of_class(cls):
        return {classmethod}

    def __call__(self, a, b):
        return a - b

class Whole(Part):
    pass

distance = Whole()
"""
MEMBERS = (
    *("enum", "array", "tensor", "table", "items", "number"),
    *("partialmethod", "setter", "cached", "static", "classmethod"),
)


@pytest.mark.parametrize("member", MEMBERS)
def test_every_member_of_a_class_counts(write, member):
    values = dict.fromkeys(MEMBERS, 1.0)
    first = digest(write(main_of_test=CLASS.format(**values)))
    assert digest(write(main_of_test=CLASS.format(**values))) == first
    assert digest(write(main_of_test=CLASS.format(**{**values, member: 3.0}))) != first


@pytest.mark.parametrize(
    "value",
    [
        "type('Table', (dict,), {'__missing__': lambda self, key: N})()",
        "collections.defaultdict(lambda: N)",
        "pandas.DataFrame({'a': [N]})",
        "re.compile('a' * 300 + str(N))",
        "np.ma.masked_array([1, 2], mask=[N == 1, False])",
        "{1: N}.get",
        "type('Number', (float,), {})(N)",
        "np.vectorize(lambda x: x + N)",
        "operator.itemgetter(N)",
        "np.random.default_rng(N)",
        "types.SimpleNamespace(a=N)",
        "np.zeros(1, dtype=[('a' * N, 'f4')])",
    ],
)
def test_values_count_by_all_that_they_hold(write, value):
    main = f"""
import collections, operator, re, types
import numpy as np
import pandas
N = NUMBER
VALUE = {value}
def distance(a, b):
    return VALUE
"""
    first = digest(write(main_of_test=main.replace("NUMBER", "1")))
    assert digest(write(main_of_test=main.replace("NUMBER", "1"))) == first
    assert digest(write(main_of_test=main.replace("NUMBER", "2"))) != first


def test_a_replaced_function_or_method_of_a_package_counts(write, monkeypatch):
    import torch

    plain = "import torch\n\n\ndef distance(a, b):\n    return torch.nn.functional.relu(a - b)\n"
    before = digest(write(main_of_test=plain)), digest(torch.nn.ReLU())
    monkeypatch.setattr(torch.nn.functional, "relu", lambda value: value)
    monkeypatch.setattr(torch.nn.ReLU, "forward", lambda self, value: value)
    after = digest(write(main_of_test=plain)), digest(torch.nn.ReLU())
    assert before[0] != after[0]
    assert before[1] != after[1]


def test_whose_code_it_is():
    import numpy
    import torch

    assert not any(map(ownership.is_own_module, (numpy, sys, importlib, torch.ops, torch._C)))
    assert not any(map(ownership.is_own_name, ("numpy.linalg", "json", "yaml", "compute.types", "torch._C._nn")))
    assert ownership.is_own_module(sys.modules[__name__])
    assert ownership.is_own_name("__main__")
    assert ownership.is_own_name("no_module_of_this_name")
    assert ownership.is_own_class(type("Made", (), {"__module__": "__main__"}))
