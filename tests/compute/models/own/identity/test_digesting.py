"""The digest of an object: the same content has the same one, and every change that may change a number another."""

from __future__ import annotations

import copy
import functools
import subprocess
import sys
from pathlib import Path

import numpy as np
import open_clip
import pytest
import torch
from torchvision import transforms

from compute.models.own.identity.digesting import Digester
from compute.models.own.identity.hashing import parameters
from compute.paths import ROOT
from compute.types import BadInput
from tests.compute.models.own.small_objects import identity, small_open_clip, wrapped

FACTOR = 2.0


def digest(value, *, version: str = "") -> str:
    return Digester(of="It", version=version).of(value, role="the object")


class Layer(torch.nn.Module):
    def __init__(self, scale: float = 1.0) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(torch.arange(12.0).reshape(3, 4))
        self.register_buffer("mean", torch.zeros(4))
        self.scale = scale

    def forward(self, batch):
        return batch @ self.weight.T * self.scale


def with_one(change) -> Layer:
    layer = Layer()
    with torch.no_grad():
        change(layer)
    return layer


def test_the_same_weights_in_a_new_object_are_the_same():
    assert digest(Layer()) == digest(Layer()) == digest(copy.deepcopy(Layer()))
    first, second = small_open_clip(), copy.deepcopy(small_open_clip())
    assert identity(wrapped(first)) == identity(wrapped(second, name="another name")) | {}


@pytest.mark.parametrize(
    "change",
    [
        lambda layer: layer.weight[2, 3].add_(1e-6 * 11),
        lambda layer: layer.mean[0].add_(1),
        lambda layer: setattr(layer, "scale", 2.0),
        lambda layer: layer.half(),
        lambda layer: setattr(layer, "weight", torch.nn.Parameter(layer.weight.reshape(4, 3))),
        lambda layer: setattr(layer, "more", torch.nn.Linear(1, 1)),
        lambda layer: layer.register_buffer("other", torch.zeros(1)),
    ],
    ids=["weight", "buffer", "attribute", "dtype", "shape", "layer", "more"],
)
def test_one_change_is_another_model(change):
    assert digest(with_one(change)) != digest(Layer())


def test_what_changes_no_number_changes_no_digest():
    def freeze(layer):
        layer.requires_grad_(False).eval()
        layer.register_full_backward_hook(lambda *gradients: None)

    assert digest(with_one(freeze)) == digest(Layer())
    transposed = Layer()
    transposed.weight = torch.nn.Parameter(transposed.weight.T.contiguous().T)
    assert digest(transposed) == digest(Layer())


def test_swapped_weights_are_another_model():
    first, second = torch.nn.Linear(3, 3), torch.nn.Linear(3, 3)
    assert parameters(torch.nn.Sequential(first, second)) != parameters(torch.nn.Sequential(second, first))


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.int8, torch.bool, torch.complex64])
def test_every_dtype_and_empty_tensors_are_read(dtype):
    layer = torch.nn.Module()
    layer.register_buffer("values", torch.ones(3).to(dtype))
    layer.register_buffer("scalar", torch.tensor(1).to(dtype))
    layer.register_buffer("empty", torch.zeros(0).to(dtype))
    assert len(parameters(layer)) == 16


def test_weights_without_values_are_refused():
    with pytest.raises(BadInput, match="weight has no values"):
        parameters(torch.nn.Linear(2, 2, device="meta"))


def test_another_process_has_the_same_digest():
    """Nothing of addresses, hash seeds or file names is in it."""
    script = (
        "from tests.compute.models.own.identity import test_digesting as t;"
        "from tests.compute.models.own.small_objects import *;"
        "print(t.digest(t.Layer()), t.digest(t.read), t.digest({'a': 1, 'b': {2, 3, 'x'}}), t.digest(t.compose()),"
        "identity(wrapped(small_open_clip()))['digest'])"
    )
    runs = {
        subprocess.run(
            [sys.executable, "-c", script],
            cwd=ROOT,
            env={"PYTHONHASHSEED": seed, "PATH": "/usr/bin:/bin", "HOME": str(Path.home())},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(runs) == 1
    here = [digest(Layer()), digest(read), digest({"b": {"x", 3, 2}, "a": 1}), digest(compose())]
    assert runs.pop().split()[:4] == here


def read(value):
    return value * FACTOR


def helper(value):
    return value + 1


def through(value):
    return [helper(part) for part in value]


def test_globals_of_a_function_count(monkeypatch):
    module = sys.modules[__name__]
    before, nested = digest(read), digest(through)
    monkeypatch.setattr(module, "FACTOR", 3.0)
    monkeypatch.setattr(module, "helper", lambda value: value + 2)
    assert digest(read) != before
    assert digest(through) != nested


def made(text: str):
    names: dict = {}
    exec(compile(text, "made", "exec"), {"__name__": "__main__"}, names)  # as a notebook's cell or a script's line
    return names["f"]


def test_comments_and_blank_lines_change_nothing_but_code_does():
    plain = made("def f(a):\n    return a + 1\n")
    assert digest(made("\n\n# a comment\ndef f(a):\n\n    return a + 1  # more\n")) == digest(plain)
    assert digest(made("def f(a):\n    return a + 2\n")) != digest(plain)
    assert digest(made("def f(a, b=1):\n    return a + b\n")) != digest(made("def f(a, b=2):\n    return a + b\n"))


def test_closures_partials_and_bound_methods_count():
    def scaled(by):
        return lambda value: value * by

    class Scale:
        def __init__(self, by):
            self.by = by

        def of(self, value):
            return value * self.by

    for make in (scaled, lambda by: functools.partial(max, by), lambda by: Scale(by).of, Scale):
        assert digest(make(2)) == digest(make(2)) != digest(make(3))


def compose() -> transforms.Compose:
    return transforms.Compose([transforms.Resize(8), transforms.ToTensor(), transforms.Normalize([0.5] * 3, [0.5] * 3)])


def test_transforms_by_what_they_do():
    other = transforms.Compose([transforms.Resize(9), *compose().transforms[1:]])
    assert digest(compose()) == digest(compose()) != digest(other)
    first, second = (
        open_clip.image_transform(size, is_train=False, mean=(0.5,) * 3, std=(0.5,) * 3) for size in (8, 9)
    )
    assert digest(first) != digest(second)


def test_a_tokenizer_is_the_same_before_and_after_its_use():
    first, second = (open_clip.get_tokenizer("", context_length=length) for length in (16, 16))
    before = digest(first)
    first(["a photo of a very unusual dog"])
    assert digest(first) == before == digest(second) != digest(open_clip.get_tokenizer("", context_length=12))


def test_objects_that_know_each_other_end():
    class Node:
        def __init__(self):
            self.other = self

    assert digest(Node()) == digest(Node())


@pytest.mark.parametrize(
    "value", [iter([]), (number for number in (1, 2)), object()], ids=["iterator", "generator", "object"]
)
def test_what_says_nothing_of_itself_needs_a_version(value):
    with pytest.raises(BadInput, match=r'cannot be compared between two sessions.*version="\.\.\."'):
        digest({"client": value})
    assert digest({"client": value}, version="2")


def test_with_a_version_values_do_not_count_but_code_and_weights_do():
    def of(value):
        return lambda: value

    assert digest(of([1]), version="1") == digest(of([2]), version="1")
    assert digest(of(1), version="1") != digest(lambda: 1, version="1")
    assert digest(with_one(lambda layer: layer.mean[0].add_(1)), version="1") != digest(Layer(), version="1")


def test_packages_are_those_whose_code_runs():
    digester = Digester(of="It")
    digester.of([open_clip.get_tokenizer("", context_length=16), compose(), np.mean], role="the object")
    assert {"open_clip_torch", "torchvision", "numpy"} <= set(digester.packages)
