"""What identifies an object: the same weights are the same model anywhere, and every change is another one."""

import copy

import pytest
import torch
from torchvision import transforms
from torchvision.transforms import v2

from compute.types import BadInput
from tests.compute.models import checkpoints
from tests.compute.models.own.small_objects import SIDE, Eye, Flat, embedded, pixels, small_open_clip, wrapped
from tests.compute.models.own.test_kinds import loaded, parts_of, sentence_transformer


def compose(size=SIDE):
    return transforms.Compose([transforms.Resize((size, size)), transforms.CenterCrop(SIDE), transforms.ToTensor()])


class Scaled(Flat):
    def __init__(self, scale=1.0):
        super().__init__()
        self.scale = scale
        self.register_buffer("mean", torch.zeros(4))

    def forward(self, batch):
        return super().forward(batch) * self.scale


def digest(model, **given):
    own = wrapped(model, **{"preprocess": compose(), **given})
    return own.identity(own.row, hardware=None)["digest"]


def changed(change):
    model = Scaled()
    with torch.no_grad():
        change(model)
    return model


def newer(size):
    dtype = v2.ToDtype(torch.float32, scale=True)
    return v2.Compose([v2.Resize((size, SIDE)), v2.CenterCrop(SIDE), v2.ToImage(), dtype])


LARGER = transforms.Compose([transforms.Resize((32, 32)), transforms.ToTensor()])
PLAIN = {"preprocess": pixels, "version": "1"}
ANOTHER = {
    "weight": (lambda model: model.project.weight[2, 3].add_(1e-6), {}),
    "weight beside a version": (lambda model: model.project.weight[0, 0].add_(1), PLAIN),
    "buffer": (lambda model: model.mean[0].add_(1), {}),
    "setting": (lambda model: setattr(model, "scale", 2.0), {}),
    "dtype": (lambda model: model.double(), {}),
    "layer": (lambda model: setattr(model, "more", torch.nn.Linear(1, 1)), {}),
}


@pytest.mark.parametrize("what", ANOTHER)
def test_one_change_is_another_model(what):
    change, given = ANOTHER[what]
    assert digest(changed(change), **given) != digest(Scaled(), **given)


@pytest.mark.parametrize(
    "of, first, second",
    [
        # A setting of a package's layer.
        (lambda eps: digest(torch.nn.Sequential(Flat(), torch.nn.LayerNorm(6, eps, False))), 1e-5, 0.1),
        (lambda size: digest(Flat(), preprocess=compose(size)), SIDE, SIDE + 1),
        (lambda size: digest(Flat(), preprocess=newer(size)), 8, 9),
        # Beside a version.
        (lambda given: digest(small_open_clip(), preprocess=given, version="1"), None, LARGER),
    ],
)
def test_settings_and_preprocessing_count_by_what_they_do(of, first, second):
    assert of(first) == of(first) != of(second)


def test_a_class_of_ones_own_counts_by_its_code():
    class First(Flat):
        def forward(self, batch):
            return super().forward(batch) * 2

    first = digest(First())

    class First(Flat):
        def forward(self, batch):
            return super().forward(batch) * 3

    assert digest(First()) != first


def test_the_same_weights_are_the_same_model_whatever_it_is_called():
    assert digest(Scaled()) == digest(changed(lambda model: model.requires_grad_(False)), name="other")
    first, second = small_open_clip(), copy.deepcopy(small_open_clip())
    assert digest(first, preprocess=None) == digest(second, preprocess=None)
    own = wrapped(Flat(), preprocess=compose())
    assert "torchvision" in own.identity(own.row, hardware=None)["packages"]


def test_how_a_tokenizer_was_used_before_does_not_count(tmp_path):
    model, (_, tokens) = loaded(checkpoints.clip(tmp_path / "model")), parts_of(tmp_path / "model")
    found = []
    for length in (5, 9):
        tokens(["a dog"], padding="max_length", max_length=length)
        found.append(digest(model, preprocess=None, processor=tokens))
    assert found[0] == found[1]


def test_a_prompt_counts(tmp_path):
    model, digests = sentence_transformer(tmp_path), set()
    for prompts in ({"query": "a blue "}, {"query": "a red "}):
        model.prompts, model.default_prompt_name = prompts, "query"
        digests.add(digest(model, preprocess=None))
    assert len(digests) == 2


def test_one_digest_wherever_the_weights_lie_and_after_a_run(tmp_path):
    folder = checkpoints.clip(tmp_path / "one")
    loaded(folder).save_pretrained(tmp_path / "two")
    for part in parts_of(folder):
        part.save_pretrained(tmp_path / "two")
    second = loaded(tmp_path / "two")
    embedded(wrapped(second), "text", ["a photo of a cat " * 9])
    known = digest(loaded(folder), preprocess=None)
    assert known == digest(second, preprocess=None)
    second.config.vision_config.layer_norm_eps = 0.1
    assert known != digest(second, preprocess=None)


def hooked():
    model = Flat()
    model.project.register_forward_hook(lambda module, inputs, output: output * 2)
    return model


def patched():
    model = Flat()
    model.project.forward = lambda batch: batch
    return model


class NoWeights(torch.nn.Module):
    def forward(self, batch):
        return batch.flatten(1)


def test_a_module_may_hold_itself_and_any_plain_constant():
    class Circular(Flat):
        def __init__(self):
            super().__init__()
            self.parts, self.pool = [self], self.forward

        def forward(self, batch):
            return super().forward(batch[..., :])

    assert digest(Circular()) == digest(Circular())


@pytest.mark.parametrize(
    "model, given",
    [
        (Eye(), {"preprocess": None}),
        (lambda a, b: 0.0 if a is b else 1.0, {"preprocess": None, "higher_is_better": False}),
        (Flat(), {"preprocess": pixels}),
        (Flat(), {"preprocess": transforms.Compose([transforms.Lambda(pixels)])}),
        (hooked(), {}),
        (patched(), {}),
        (NoWeights(), {}),
        (torch.jit.script(torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(SIDE * SIDE * 3, 2))), {}),
    ],
)
def test_what_nothing_identifies_needs_a_version(model, given, tmp_path, monkeypatch):
    monkeypatch.setenv("LIKENESS_ANSWERS", str(tmp_path))
    with pytest.raises(BadInput, match='version="'):
        digest(model, **given)
    assert digest(model, **given, version="1") == digest(model, **given, version="1")
    assert digest(model, **given, version="1") != digest(model, **given, version="2")


def test_weights_without_values_are_refused():
    with pytest.raises(BadInput, match="meta"):
        digest(Flat().to("meta"))
