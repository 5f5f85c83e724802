"""UniSim-Bench's loaders on small copies of the data sets in their own layouts; rules: FACTS, UniSim-Bench Table 1."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from compute import tasks
from compute.catalog import shipped
from compute.content.items import content_key
from compute.tasks.data import Choices, OddOneOut, Retrieval
from compute.tasks.source import Source
from compute.tasks.unisim import odd, samples
from compute.types import BadInput, Task
from tests.compute.tasks import unisim_files


def task(name: str, *, items: int = 40) -> Task:
    return replace(shipped().task(f"unisim/{name}"), n_items=items)


def load(tmp_path: Path, name: str, *, items: int = 40, **options):
    source = Source(root=tmp_path, offline=True, cache=tmp_path / "cache", manifests=tmp_path / "manifests")
    return tasks.load(task(name, items=items), source=source, options=options)


def choices(tmp_path: Path, name: str, *, items: int = 40, **options) -> Choices:
    data = load(tmp_path, name, items=items, **options)["default"]
    assert isinstance(data, Choices)
    assert len(set(data.names)) == len(data.names)
    return data


def red(content: bytes) -> int:
    return Image.open(io.BytesIO(content)).convert("RGB").getpixel((0, 0))[0]


def right(data: Choices, row: int):
    return data.alternatives[data.answer[row]].read(row)


def wrong(data: Choices, row: int):
    return data.alternatives[1 - data.answer[row]].read(row)


def test_nights_keeps_test_rows_of_six_votes(tmp_path):
    unisim_files.write(tmp_path, "nights")
    data = choices(tmp_path, "nights")
    assert data.names == ("ref/0.png", "ref/1.png")
    assert data.answer.tolist() == [0, 1]
    assert red(data.alternatives[1].read(1)) == 12


def test_bapps_takes_the_first_share_of_each_subset_and_rounds_the_judgement(tmp_path):
    unisim_files.write(tmp_path, "bapps")
    data = choices(tmp_path, "bapps")
    assert len(data.names) == 6 * 2  # 15% of 14
    assert data.answer.tolist() == [0, 1] * 6


def test_pieapp_drops_unclear_preferences_and_the_reference(tmp_path):
    unisim_files.write(tmp_path, "pie_app")
    data = choices(tmp_path, "pieapp-2afc")
    assert data.names == ("a.png/b.png", "b.png/c.png")
    assert data.answer.tolist() == [0, 1]
    quality = choices(tmp_path, "pieapp-iqa")
    assert quality.question == "quality"
    assert quality.reference is None
    reference = data.reference.read(0)
    assert len(quality.names) == 4
    assert all(right(quality, row) == reference for row in range(4))


def test_kadid_prefers_the_milder_of_one_images_distortions(tmp_path):
    unisim_files.write(tmp_path, "kadid10k")
    choices(tmp_path, "kadid-10k", items=200)
    drawn = samples.read(tmp_path / "manifests" / "unisim__kadid-10k-seed-0.csv")
    for one in drawn:
        good, bad = (one.alternatives[one.answer], one.alternatives[1 - one.answer])
        assert good[:-6] == bad[:-6]
        assert int(good[-6:-4]) < int(bad[-6:-4])
    assert 0.3 < np.mean([one.answer for one in drawn]) < 0.7


@pytest.mark.parametrize(("name", "brighter"), [("koniq-10k", True), ("koniq-10k-brightness", False)])
def test_koniq_draws_test_images_by_the_attribute(tmp_path, name, brighter):
    unisim_files.write(tmp_path, "koniq10k")
    data = choices(tmp_path, name)
    assert data.question == ("quality" if name == "koniq-10k" else "brightness")
    assert {red(right(data, row)) > red(wrong(data, row)) for row in range(40)} == {brighter}


def test_pipal_counts_high_scores_as_references_but_at_most_five(tmp_path):
    unisim_files.write(tmp_path, "PIPAL")
    data = choices(tmp_path, "pipal")
    assert len(data.names) == 5 * 2
    assert all(red(wrong(data, row)) >= 6 for row in range(10))


def test_sice_compares_exposures_by_mean_grey_and_shows_them_smaller(tmp_path):
    unisim_files.write(tmp_path, "sice")
    data = choices(tmp_path, "sice-brightness")
    assert data.question == "brightness"
    assert len(data.names) == 2 * 3  # a tenth of 20 scenes, three pairs each
    assert red(right(data, 0)) > red(wrong(data, 0))
    shown = right(data, 0)
    assert Image.open(io.BytesIO(shown)).size == (2, 2)
    assert data.alternatives[data.answer[0]].keys[0] == content_key(shown)


def test_agiqa_pairs_share_a_prompt_and_low_alignment_is_dropped(tmp_path):
    unisim_files.write(tmp_path, "agiqa-3k")
    data = choices(tmp_path, "agiqa-3k-alignment")
    for row in range(40):
        assert red(right(data, row)) > red(wrong(data, row)) > 60  # an alignment of 1 or more: the third image on
    assert {data.reference.read(row) for row in range(40)} == {"x", "y"}
    assert choices(tmp_path, "agiqa-3k-quality").question == "quality"


@pytest.mark.parametrize("count", [2, 8])
def test_hpdv2_offers_as_many_images_as_asked_and_the_first_ranked_wins(tmp_path, count):
    unisim_files.write(tmp_path, "hpdv2")
    data = choices(tmp_path, "hpdv2", alternatives=count)
    assert len(data.alternatives) == count
    drawn = samples.read(tmp_path / "manifests" / f"unisim__hpdv2{'' if count == 2 else '-8'}-seed-0.csv")
    for one in drawn:
        prompt = int(one.reference.split()[1])
        ranks = [(int(name.split("_")[1].split(".")[0]) + prompt) % 9 for name in one.alternatives]
        assert ranks[one.answer] == min(ranks)
        assert len(set(one.alternatives)) == count


def test_edited_images(tmp_path):
    unisim_files.write(tmp_path, "MagicBrush", "HQ-Edit")
    data = choices(tmp_path, "magicbrush")
    assert data.reference.read(0) == "make it red"
    assert len(data.names) == 1
    assert red(right(data, 0)) == 1
    by_image = choices(tmp_path, "hq-edit-it")
    assert [by_image.reference.read(row) for row in range(2)] == ["a cat", "a dog"]
    assert by_image.answer.tolist() == [0, 1]
    by_text = choices(tmp_path, "hq-edit-text")
    assert [right(by_text, row) for row in range(2)] == ["a cat", "a dog"]
    assert red(by_text.reference.read(1)) == 1


def test_captions_with_votes_against_captions_without(tmp_path):
    unisim_files.write(tmp_path, "coco-triplets", "polaris")
    data = choices(tmp_path, "cd-coco")
    assert {right(data, row) for row in range(len(data.names))} == {"OFA_Huge of one.jpg"}
    assert sorted(wrong(data, row) for row in range(len(data.names))) == ["Ensemble of one.jpg", "GIT_Large of one.jpg"]
    scored = choices(tmp_path, "polaris")
    assert sorted(right(scored, row) for row in range(2)) == ["A cat.", "A pet."]
    assert {wrong(scored, row) for row in range(2)} == {"a car"}


def test_odd_ones_out_are_of_another_macro_class(tmp_path):
    unisim_files.cifar(tmp_path)
    data = load(tmp_path, "cifar-100-ooo")["default"]
    assert isinstance(data, OddOneOut)
    for one in samples.read(tmp_path / "manifests" / "unisim__cifar-100-ooo-seed-0.csv"):
        coarse = [odd.cifar_coarse_classes()[int(row) % 100] for row in one.alternatives]
        assert coarse.count(coarse[one.answer]) == 1
        assert len(set(coarse)) == 2
    assert np.bincount(odd.cifar_coarse_classes()).tolist() == [5] * 20


def test_landmarks_by_both_protocols(tmp_path):
    unisim_files.write(tmp_path, "retrieval", packed=True)
    data = load(tmp_path, "roxford")
    assert list(data) == ["medium", "hard"]
    medium, hard = data.values()
    assert isinstance(medium, Retrieval)
    assert [part.tolist() for part in medium.relevant[:2]] == [[0, 0, 1], [0, 1, 2]]
    assert [part.tolist() for part in medium.ignored] == [[0], [3]]
    assert [part.tolist() for part in hard.relevant[:2]] == [[0], [1]]
    assert sorted(zip(*(part.tolist() for part in hard.ignored), strict=True)) == [(0, 0), (0, 3), (1, 2)]


def test_questions_are_drawn_once_and_kept(tmp_path):
    unisim_files.write(tmp_path, "koniq10k")
    first = choices(tmp_path, "koniq-10k")
    kept = tmp_path / "manifests" / "unisim__koniq-10k-seed-0.csv"
    lines = kept.read_text().splitlines()
    kept.write_text("\n".join(lines[:2]).replace("0,,", "0,,7", 1))
    with pytest.raises(BadInput, match="line 2"):
        choices(tmp_path, "koniq-10k")
    kept.write_text("\n".join(lines[:11]) + "\n")
    again = choices(tmp_path, "koniq-10k")
    assert again.names == first.names[:10]
    assert again.answer.tolist() == first.answer[:10].tolist()
    kept.unlink()
    anew = choices(tmp_path, "koniq-10k")
    assert anew.answer.tolist() == first.answer.tolist()
