"""A card's training data sets: as the hub's cards name them, and nothing from a card that says nothing readable."""

import pytest
from huggingface_hub import ModelCardData

from compute.catalog import shipped
from compute.catalog.own import models as records
from compute.engine.named_models import joined, named, record_named
from compute.models.own import checkpoints as own
from tests.compute.models import checkpoints

OF_THE_HUB = ModelCardData(datasets=["nights", "ILSVRC/imagenet-1k"], base_model="org/base")


@pytest.mark.parametrize(
    "text, names",
    [
        (f"---\n{OF_THE_HUB}\n---\n# A model\n", ("nights", "ILSVRC/imagenet-1k")),
        ("# A model without YAML\n", ()),
        ("---\ndatasets: [nights\n---\n", ()),
        (f"---\ndatasets: [7, null, '', [a], {'x' * 500}, nights]\n---\n", ("nights",)),
    ],
    ids=["by the hub's client", "none", "cut", "names and others"],
)
def test_what_a_card_may_hold(tmp_path, text, names):
    (tmp_path / "README.md").write_text(text)
    assert own.card_datasets(tmp_path) == names


def test_a_checkpoints_row_has_them_by_the_catalogues_keys_and_the_same_digest(tmp_path):
    folder = checkpoints.clip(tmp_path / "mine")
    before = own.from_folder(folder)
    (folder / "README.md").write_text("---\ndatasets: [nights, org/unheard-of, Nights, PieAPP]\n---\n")
    after = own.from_folder(folder)
    assert before.row.trained_on == () and after.row.trained_on == ("nights", "org/unheard-of", "Nights", "PieAPP")
    assert after.digest == before.digest
    (model,) = named([str(folder)], catalog=shipped(), offline=True)
    assert joined(shipped(), [model]).model("own/mine").trained_on == ("nights", "pieapp")
    record_named(model, results=tmp_path / "results")
    models, _ = records.recorded(tmp_path / "results")
    assert models[0].trained_on == after.row.trained_on, "a later catalogue may know more of them"
    assert records.extended(shipped(), models)[0].model("own/mine").trained_on == ("nights", "pieapp")
