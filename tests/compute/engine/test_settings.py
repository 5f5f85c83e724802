"""Settings of a run: checked once, whoever makes them."""

from pathlib import Path

import pytest

from compute import paths
from compute.engine.workspace import RunSettings
from compute.types import BadInput


@pytest.mark.parametrize(
    "given, words",
    [
        ({"engine": "rey"}, "engine.*'rey'.*Did you mean 'ray'"),
        ({"store_dtype": "float61"}, "store_dtype.*Did you mean 'float16'"),
        ({"batch_size": 0}, "batch_size.*'0'"),
        ({"thumbnails": -1}, "thumbnails"),
        ({"data": 3}, "data"),
        ({"workers": 2}, "--engine ray"),
        ({"address": "auto"}, "--engine ray"),
    ],
)
def test_what_cannot_be_or_does_not_go_together_is_refused(given, words):
    with pytest.raises(BadInput, match=words):
        RunSettings(**given)


def test_a_single_value_needs_no_list_and_results_are_the_projects(monkeypatch):
    monkeypatch.setattr(paths, "RESULTS", Path("/results"))
    settings = RunSettings(options="quality=prompt", images="pictures", columns=None, shape=None, device=None)
    assert (settings.shape, settings.device) == ("", "")
    assert (settings.options, settings.images, settings.columns) == (("quality=prompt",), (Path("pictures"),), {})
    assert settings.results == settings.shared == Path("/results")
    assert RunSettings(results=paths.COMPUTED).shared == Path("/results")
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    assert RunSettings().offline


def test_a_device_and_a_precision_may_be_torchs_own():
    torch = pytest.importorskip("torch")
    settings = RunSettings(device=torch.device("cuda:1"), dtype=torch.bfloat16)
    assert (settings.device, settings.dtype) == ("cuda:1", "bfloat16")
