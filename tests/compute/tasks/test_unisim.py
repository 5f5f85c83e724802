"""UniSim-Bench's loaders on small copies of the data sets in their own layouts; rules: FACTS, UniSim-Bench Table 1."""

import io
import pickle
from dataclasses import replace
from random import Random

import numpy as np
import pytest
from PIL import Image

from compute import tasks
from compute.catalog import shipped
from compute.content.items import content_key
from compute.tasks import unisim
from compute.tasks.data import Choices, OddOneOut, Retrieval
from compute.tasks.source import Source
from compute.tasks.unisim import ground_truth, odd
from compute.tasks.unisim.files import Files
from compute.types import BadInput
from tests.compute.tasks import unisim_files
from tests.compute.tasks.files import lists


def task(name, *, items=40):
    return replace(shipped().task(f"unisim/{name}"), n_items=items)


def load(tmp_path, name, *, items=40, **options):
    source = Source(root=tmp_path, offline=True, cache=tmp_path / "cache")
    return tasks.load(task(name, items=items), source=source, options=options)


def choices(tmp_path, name, *files, **options):
    """The items of a task over the named data sets, which are written first."""
    if files:
        unisim_files.write(tmp_path, *files)
    data = load(tmp_path, name, **options)["default"]
    assert isinstance(data, Choices) and len(set(data.names)) == len(data.names)
    return data


def red(content):
    return Image.open(io.BytesIO(content)).convert("RGB").getpixel((0, 0))[0]


def asked(data):
    """The right and the wrong alternative of every item: texts, and images by their colour."""
    contents = [[column.read(row) for column in data.alternatives] for row in range(len(data.names))]
    shown = [[each if isinstance(each, str) else red(each) for each in row] for row in contents]
    return [(row[right], row[1 - right]) for row, right in zip(shown, data.answer, strict=True)]


def drawn(tmp_path, name, *, items=40, **options):
    """The questions' alternatives and answers, by the names of their files."""
    row = unisim.QUESTIONS[f"unisim/{name}"]
    return [
        (one.reference, one.alternatives, one.answer)
        for one in row.draw(Files.of(row.repo, tmp_path / row.repo), Random(0), items, **options)
    ]


def test_nights_keeps_test_rows_of_six_votes(tmp_path):
    data = choices(tmp_path, "nights", "nights")
    assert data.names == ("ref/0.png", "ref/1.png") and data.answer.tolist() == [0, 1]
    assert asked(data) == [(1, 2), (12, 11)]


def test_bapps_takes_the_first_share_of_each_subset_and_rounds_the_judgement(tmp_path):
    data = choices(tmp_path, "bapps", "bapps")
    assert data.answer.tolist() == [0, 1] * 6  # 15% of 14


def test_pieapp_drops_unclear_preferences_and_the_reference(tmp_path):
    data = choices(tmp_path, "pieapp-2afc", "pie_app")
    assert data.names == ("a.png/b.png", "b.png/c.png") and data.answer.tolist() == [0, 1]
    quality = choices(tmp_path, "pieapp-iqa")
    assert quality.question == "quality" and quality.reference is None
    assert [right for right, _ in asked(quality)] == [red(data.reference.read(0))] * 4


def test_kadid_prefers_the_milder_of_one_images_distortions(tmp_path):
    unisim_files.write(tmp_path, "kadid10k")
    rows = drawn(tmp_path, "kadid-10k", items=200)
    for _, alternatives, answer in rows:
        good, bad = alternatives[answer], alternatives[1 - answer]
        assert good[:-6] == bad[:-6] and int(good[-6:-4]) < int(bad[-6:-4])
    assert 0.3 < np.mean([answer for *_, answer in rows]) < 0.7


@pytest.mark.parametrize(
    "name, question, brighter",
    [("koniq-10k", "quality", True), ("koniq-10k-brightness", "brightness", False)],
)
def test_koniq_draws_test_images_by_the_attribute(tmp_path, name, question, brighter):
    data = choices(tmp_path, name, "koniq10k")
    assert data.question == question and {right > wrong for right, wrong in asked(data)} == {brighter}


def test_pipal_counts_high_scores_as_references_but_at_most_five(tmp_path):
    rows = asked(choices(tmp_path, "pipal", "PIPAL"))
    assert len(rows) == 5 * 2 and all(wrong >= 6 for _, wrong in rows)


def test_sice_compares_exposures_by_mean_grey_and_shows_them_smaller(tmp_path):
    data = choices(tmp_path, "sice-brightness", "sice")
    rows = asked(data)
    assert data.question == "brightness" and len(rows) == 2 * 3  # a tenth of 20 scenes, three pairs each
    assert all(right > wrong for right, wrong in rows)
    shown = data.alternatives[0].read(0)
    assert Image.open(io.BytesIO(shown)).size == (3, 3) and data.alternatives[0].keys[0] == content_key(shown)


def test_agiqa_pairs_share_a_prompt_and_low_alignment_is_dropped(tmp_path):
    data = choices(tmp_path, "agiqa-3k-alignment", "agiqa-3k")
    assert all(right > wrong > 60 for right, wrong in asked(data))  # an alignment of 1 or more: the third image on
    assert {data.reference.read(row) for row in range(40)} == {"x", "y"}
    assert choices(tmp_path, "agiqa-3k-quality").question == "quality"


@pytest.mark.parametrize("count", [2, 8])
def test_hpdv2_offers_as_many_images_as_asked_and_the_first_ranked_wins(tmp_path, count):
    assert len(choices(tmp_path, "hpdv2", "hpdv2", alternatives=count).alternatives) == count
    for reference, alternatives, answer in drawn(tmp_path, "hpdv2", alternatives=count):
        prompt = int(reference.split()[1])
        ranks = [(int(name.split("_")[1].split(".")[0]) + prompt) % 9 for name in alternatives]
        assert ranks[answer] == min(ranks) and len(set(alternatives)) == count


def test_edited_images(tmp_path):
    data = choices(tmp_path, "magicbrush", "MagicBrush", "HQ-Edit")
    assert data.reference.read(0) == "make it red" and asked(data) == [(1, 0)]
    by_image, by_text = choices(tmp_path, "hq-edit-it"), choices(tmp_path, "hq-edit-text")
    assert [by_image.reference.read(row) for row in range(2)] == ["a cat", "a dog"]
    assert by_image.answer.tolist() == [0, 1] and asked(by_text) == [("a cat", "a dog"), ("a dog", "a cat")]
    assert red(by_text.reference.read(1)) == 1


def test_captions_with_votes_against_captions_without(tmp_path):
    voted = asked(choices(tmp_path, "cd-coco", "coco-triplets", "polaris"))
    assert sorted(voted) == [("OFA_Huge of one.jpg", f"{model} of one.jpg") for model in ("Ensemble", "GIT_Large")]
    assert sorted(asked(choices(tmp_path, "polaris"))) == [("A cat.", "a car"), ("A pet.", "a car")]


def test_odd_ones_out_are_of_another_macro_class(tmp_path):
    unisim_files.cifar(tmp_path)
    data = load(tmp_path, "cifar-100-ooo")["default"]
    assert isinstance(data, OddOneOut)
    for _, members, answer in drawn(tmp_path, "cifar-100-ooo"):
        coarse = [odd.cifar_coarse_classes()[int(row) % 100] for row in members]
        assert coarse.count(coarse[answer]) == 1 and len(set(coarse)) == 2
    assert np.bincount(odd.cifar_coarse_classes()).tolist() == [5] * 20


def test_landmarks_by_both_protocols(tmp_path):
    unisim_files.write(tmp_path, "retrieval", packed=True)
    data = load(tmp_path, "roxford")
    assert list(data) == ["medium", "hard"]
    medium, hard = data.values()
    assert isinstance(medium, Retrieval)
    assert lists((*medium.relevant[:2], *medium.ignored)) == [[0, 0, 1], [0, 1, 2], [0], [3]]
    assert lists(hard.relevant[:2]) == [[0], [1]]
    assert sorted(zip(*lists(hard.ignored), strict=True)) == [(0, 0), (0, 3), (1, 2)]


def test_questions_are_drawn_by_a_seed_and_files_without_any_are_refused(tmp_path):
    first = choices(tmp_path, "koniq-10k", "koniq10k")
    assert choices(tmp_path, "koniq-10k").answer.tolist() == first.answer.tolist()
    (tmp_path / "saraghznfri/unisim_data/nights/data.csv").parent.mkdir()
    (tmp_path / "saraghznfri/unisim_data/nights/data.csv").write_text("split,votes\ntrain,6\n")
    with pytest.raises(BadInput, match="No question"):
        choices(tmp_path, "nights")


TRUTH = {
    "imlist": ["all_souls_000013", "bodleian_1"],
    "qimlist": ["query"],
    "gnd": [{"bbx": [1.5, 2.0, 3.25, 4.0], "easy": [0, 1, 70000], "hard": [], "junk": [5_000_000_000]}],
}


def test_plain_data_of_every_protocol():
    for protocol in range(5):
        assert ground_truth.read(pickle.dumps(TRUTH, protocol=protocol), of="truth") == TRUTH


@pytest.mark.parametrize("protocol", [2, 4])
def test_arrays_and_numbers_of_numpy(protocol):
    box = np.asfortranarray(np.arange(6.0).reshape(2, 3))
    whole = {"easy": np.array([3, 1, 2]), "bbx": box, "one": np.float64(1.5), "again": [np.int64(7)] * 2}
    found = ground_truth.read(pickle.dumps(whole, protocol=protocol), of="truth")
    assert found["easy"].tolist() == [3, 1, 2]
    assert found["bbx"].tolist() == [[0, 1, 2], [3, 4, 5]]
    assert (found["one"], found["again"]) == (1.5, [7, 7])


class Trap:
    """What a hostile pickle would hold: a call on loading."""

    def __reduce__(self):
        return (print, ("ran",))


HOSTILE = [Trap(), {"gnd": [Trap()]}, np.array([Trap()], dtype=object), np.random.default_rng]


@pytest.mark.parametrize("hostile", HOSTILE)
def test_anything_that_could_run_is_refused_and_does_not_run(hostile, capsys):
    with pytest.raises(BadInput, match="truth"):
        ground_truth.read(pickle.dumps(hostile, protocol=2), of="truth")
    assert capsys.readouterr().out == ""


def test_cut_and_random_files_are_damaged_not_a_crash():
    data = pickle.dumps(TRUTH, protocol=2)
    for length in range(0, len(data) - 1, 7):
        with pytest.raises(BadInput, match="truth"):
            ground_truth.read(data[:length], of="truth")
    random = np.random.default_rng(0)
    for _ in range(50):
        noise = random.integers(0, 256, size=int(random.integers(1, 60)), dtype=np.uint8).tobytes()
        try:
            ground_truth.read(noise, of="truth")
        except BadInput:
            continue
