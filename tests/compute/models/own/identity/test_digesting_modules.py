"""The digest of a torch module: what was set on an instance counts, and what libraries set themselves is read."""

from __future__ import annotations

import copy
import functools
import types

import pytest
import torch

from compute.models.own.identity.digesting import Digester
from compute.types import BadInput


def digest(value, *, version: str = "") -> str:
    return Digester(of="It", version=version).of(value, role="the object")


def plain() -> torch.nn.Sequential:
    """Of a package's classes alone."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        return torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.ReLU(), torch.nn.Linear(3, 2)).eval()


def doubled(module, inputs, output):
    return output * 2


def before(module, inputs):
    return (inputs[0] + 1,)


def wrapped_forward(model: torch.nn.Module) -> None:
    original = model.forward

    @functools.wraps(original)
    def forward(*args, **kwargs):
        return original(*args, **kwargs) + 1

    model.forward = forward


CHANGES = {
    "forward hook": lambda model: model.register_forward_hook(doubled),
    "hook of a part": lambda model: model[0].register_forward_hook(doubled),
    "pre-hook": lambda model: model.register_forward_pre_hook(before),
    "forward": lambda model: setattr(model, "forward", lambda batch: batch),
    "wrapped forward": wrapped_forward,
    "bound forward": lambda model: setattr(model, "forward", types.MethodType(lambda self, batch: batch, model)),
    "encode_image": lambda model: setattr(model, "encode_image", lambda batch: batch),
    "tensor": lambda model: setattr(model[1], "shift", torch.ones(2)),
    "private tensor": lambda model: setattr(model[1], "_shift", torch.ones(2)),
    "dict": lambda model: setattr(model[1], "table", {"a": torch.ones(2)}),
    "modules in a list": lambda model: setattr(model[1], "more", [torch.nn.Linear(2, 2)]),
    "class": lambda model: setattr(model[1], "__class__", torch.nn.Tanh),
}


@pytest.mark.parametrize("change", CHANGES)
def test_what_is_set_on_an_instance_counts(change):
    changed = plain()
    CHANGES[change](changed)
    assert digest(changed) != digest(plain()) == digest(plain())


def test_hooks_count_by_their_code_and_order():
    def hooked(*hooks):
        model = plain()
        for hook in hooks:
            model.register_forward_hook(hook)
        return digest(model)

    assert hooked(doubled) != hooked(lambda module, inputs, output: output * 3)
    assert hooked(doubled, functools.partial(max, 1)) != hooked(functools.partial(max, 1), doubled)


def test_a_hook_for_all_modules_counts():
    first = digest(plain())
    handle = torch.nn.modules.module.register_module_forward_hook(doubled)
    try:
        assert digest(plain()) != first
    finally:
        handle.remove()
    assert digest(plain()) == first


def test_values_of_attributes_count():
    def with_shift(value):
        model = plain()
        model[1].shift = torch.full((2,), value)
        return digest(model)

    assert with_shift(1.0) == with_shift(1.0) != with_shift(2.0)


def test_how_shared_parts_are_joined_counts():
    def joined(*order):
        parts = [torch.nn.Linear(2, 2), torch.nn.Linear(2, 2)]
        for at, part in enumerate(parts):
            torch.nn.init.constant_(part.weight, at)
            torch.nn.init.zeros_(part.bias)
        return digest(torch.nn.Sequential(*(parts[at] for at in order)))

    assert joined(0, 1, 0) == joined(0, 1, 0) != joined(0, 1, 1)


@pytest.mark.filterwarnings("ignore")
def test_a_scripted_module_needs_a_version():
    script = torch.jit.trace(plain(), torch.ones(1, 3))
    with pytest.raises(BadInput, match=r"the object was compiled by torch\.jit.* from can be\. .*version=\"\.\.\.\""):
        digest(script)
    assert digest(script, version="1") != digest(torch.jit.trace(plain()[:1], torch.ones(1, 3)), version="1")


def test_an_attribute_that_nothing_identifies_is_named():
    model = plain()
    model[1].client = iter([])
    with pytest.raises(BadInput, match=r"the object\.1\.client is of the class list_iterator.*version=\"\.\.\.\""):
        digest(model)
    assert digest(model, version="1")


def weight_norm(model):
    torch.nn.utils.weight_norm(model[0])


def parametrized(model):
    torch.nn.utils.parametrizations.weight_norm(model[0])
    torch.nn.utils.parametrizations.spectral_norm(model[2])


def accelerated(model):
    from accelerate.hooks import AlignDevicesHook, attach_align_device_hook

    attach_align_device_hook(model, execution_device=torch.device("cpu"))
    assert isinstance(model[0]._hf_hook, AlignDevicesHook)


@pytest.mark.parametrize("change", [weight_norm, parametrized, accelerated], ids=["norm", "parametrized", "hooks"])
@pytest.mark.filterwarnings("ignore")
def test_what_a_library_sets_on_modules_is_read(change):
    first, second = plain(), plain()
    for model in (first, second):
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(1)
            change(model)
    assert digest(first) == digest(second)
    with torch.no_grad():
        next(second.parameters()).add_(1)
    assert digest(first) != digest(second)


def test_models_with_adapters_are_read():
    peft = pytest.importorskip("peft")

    def adapted(alpha: int):
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(2)
            config = peft.LoraConfig(target_modules=["0", "2"], r=2, lora_alpha=alpha, init_lora_weights=False)
            return digest(peft.get_peft_model(plain(), config).eval())

    assert adapted(2) == adapted(2) != adapted(3)


@pytest.mark.parametrize("name", ["vit_tiny_patch16_224", "resnet18", "swin_tiny_patch4_window7_224"])
def test_models_of_timm_are_read_and_are_the_same_after_a_run(name):
    timm = pytest.importorskip("timm")
    model = timm.create_model(name, num_classes=0).eval()
    first = digest(model)
    with torch.inference_mode():
        model(torch.zeros(1, 3, 224, 224))
    assert digest(model) == first == digest(copy.deepcopy(model))


@pytest.mark.parametrize("name", ["CLIP", "Siglip", "Bert", "ModernBert", "Dinov2", "ViT", "ConvNext"])
def test_models_of_transformers_are_read(name):
    transformers = pytest.importorskip("transformers")
    small = {"hidden_size": 16, "intermediate_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2}
    small |= {"hidden_sizes": [8] * 4, "depths": [1] * 4} if name == "ConvNext" else {}
    towers = {"text_config": small, "vision_config": small} if name in ("CLIP", "Siglip") else small
    config = getattr(transformers, f"{name}Config")(**towers)
    model = getattr(transformers, f"{name}Model")(config).eval()
    first = digest(model)
    assert digest(copy.deepcopy(model)) == first
    model.config.hidden_act = "another"
    assert digest(model) != first
