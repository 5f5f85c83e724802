"""MIEB's loaders on small data sets in the real layouts and column names, written by the hub's own library."""

from __future__ import annotations

from pathlib import Path

import datasets
import numpy as np
import pytest

from compute import tasks
from compute.catalog import shipped
from compute.content.items import content_key
from compute.tasks.data import Data, Probe, Retrieval, Sentences
from compute.tasks.source import Source
from compute.types import BadInput, Task
from tests.compute.tasks import hub_files
from tests.compute.tasks.hub_files import image


def task(name: str) -> Task:
    return shipped().task(f"mieb/{name.lower()}")


def table(columns: dict[str, list], **kinds) -> datasets.Dataset:
    made = datasets.Dataset.from_dict(columns)
    for name, kind in kinds.items():
        made = made.cast_column(name, kind)
    return made


def load(tmp_path: Path, name: str, files: dict, **options) -> dict[str, Data]:
    row = task(name)
    hub_files.write(tmp_path / row.dataset, files)
    return tasks.load(row, source=Source(root=tmp_path, offline=True), options=options)


def key(red: int) -> bytes:
    return content_key(hub_files.png(image(red)))


def labelled(
    count: int, *, column: str = "image", label: str = "label", classes: list[str] | None = None, first: int = 0
) -> datasets.Dataset:
    columns = {column: [image(first + at) for at in range(count)], label: [at % 2 for at in range(count)]}
    return table(columns, **({label: datasets.ClassLabel(names=classes)} if classes else {}))


def test_probe_reads_both_splits_and_the_tasks_own_draws(tmp_path: Path) -> None:
    names = ["plane", "bird"]
    train, test = labelled(6, classes=names, first=100), labelled(4, classes=names)
    data = load(tmp_path, "STL10", {("default", "train"): train, ("default", "test"): test})["default"]
    assert isinstance(data, Probe)
    assert (data.samples_per_label, data.draws) == (8, 10)
    assert data.test.classes == ("plane", "bird")
    assert data.test.labels.tolist() == [0, 1, 0, 1]
    assert data.train.items.keys[5] == key(105)


def test_several_labels_an_item(tmp_path: Path) -> None:
    kind = datasets.List(datasets.ClassLabel(names=["cat", "dog", "cow"]))
    rows = table({"image": [image(1), image(2)], "classes": [[0, 2], [1]]}, classes=kind)
    data = load(tmp_path, "VOC2007", {("default", "train"): rows, ("default", "test"): rows})["default"]
    assert data.test.labels.tolist() == [[True, False, True], [False, True, False]]
    assert data.samples_per_label == 8


def test_the_damaged_training_image_of_birdsnap_is_left_out(tmp_path: Path) -> None:
    count = 3856
    rows = table({"image": [image(1)] * count, "common": [0] * count}, common=datasets.ClassLabel(names=["owl"]))
    train = load(tmp_path, "Birdsnap", {("default", "train"): rows, ("default", "test"): rows})["default"].train
    assert len(train.items) == count - 1
    assert "3854" not in train.names


def test_zero_shot_prompts_of_sun397_say_what_its_paths_say(tmp_path: Path) -> None:
    names = ["/b/boat_deck", "/c/church/outdoor", "/a/abbey"]
    files = {("default", "test"): labelled(2, classes=names)}
    prompts = load(tmp_path, "SUN397ZeroShot", files)["default"].prompts
    assert [prompts.read(at) for at in range(3)] == [
        "a photo of a boat deck.",
        "a photo of a church outdoor.",
        "a photo of a abbey.",
    ]
    other = {("default", "test"): labelled(2, classes=["boat_deck", "abbey"])}
    with pytest.raises(BadInput, match="SUN397ZeroShot: class name 'boat_deck' is no path"):
        load(tmp_path / "other", "SUN397ZeroShot", other)


def test_zero_shot_prompts_keep_the_public_codes_line_ends_unless_asked_to_be_clean(tmp_path: Path) -> None:
    files = {("default", "test"): labelled(2, column="webp", label="cls")}
    public = load(tmp_path, "GTSRBZeroShot", files)["default"].prompts
    clean = load(tmp_path, "GTSRBZeroShot", files, prompts="clean")["default"].prompts
    assert len(public) == len(clean) == 43
    assert public.read(0).count("\n") == 1
    assert public.read(0).replace("\n", "") == clean.read(0)
    assert clean.read(0).startswith("a close up photo of a '")
    assert tasks.options_of(task("GTSRBZeroShot")) == {"prompts": ("public", "clean")}
    assert tasks.options_of(task("CIFAR10ZeroShot")) == {}


def test_matching_of_two_and_two_and_of_the_split_called_train(tmp_path: Path) -> None:
    rows = table({"image_0": [image(1)], "image_1": [image(2)], "caption_0": ["a"], "caption_1": ["b"]})
    data = load(tmp_path, "Winoground", {("default", "test"): rows})["default"]
    assert (len(data.images), len(data.captions)) == (2, 2)
    rows = table({"images": [image(1)], "caption": ["a"], "negative_caption": ["b"]})
    assert load(tmp_path, "SugarCrepe", {("default", "train"): rows})["default"].captions[1].read(0) == "b"


def test_matching_from_a_pool_of_images(tmp_path: Path) -> None:
    files = {
        ("corpus", "corpus"): table({"id": [f"d{at}" for at in range(11)], "image": [image(at) for at in range(11)]}),
        ("query", "test"): table({"id": ["q"], "text": ["the third"]}),
        ("qrels", "test"): qrels(*(("q", f"d{at}", int(at == 3)) for at in range(10))),
    }
    data = load(tmp_path, "ImageCoDe", files)["default"]
    assert [column.keys[0] for column in data.images] == [key(at) for at in (3, 0, 1, 2, 4, 5, 6, 7, 8, 9)]
    assert data.captions[0].read(0) == "the third"


def test_scored_pairs_of_each_language(tmp_path: Path) -> None:
    files = {}
    for at, language in enumerate(task("VisualSTS17Multilingual").subsets):
        files[(language, "test")] = table(
            {"sentence1": [image(at)], "sentence2": [image(at + 50)], "score": [at / 2]},
        )
    data = load(tmp_path, "VisualSTS17Multilingual", files)
    assert list(data) == list(task("VisualSTS17Multilingual").subsets)
    part = data["es-es"]
    assert isinstance(part, Sentences)
    assert part.human.tolist() == [list(data).index("es-es") / 2]
    assert part.second.keys[0] == key(list(data).index("es-es") + 50)


def qrels(*rows: tuple[str | int, str | int, int]) -> datasets.Dataset:
    return table({name: [row[at] for row in rows] for at, name in enumerate(("query-id", "corpus-id", "score"))})


def three_tables() -> dict:
    return {
        ("query", "test"): table(
            {"id": ["q0", "q1", "q2"], "image": [image(1), image(2), image(3)], "text": ["more red", "", "unjudged"]}
        ),
        ("corpus", "test"): table({"id": ["d0", "d1"], "image": [image(11), None], "text": ["zero", "one"]}),
        ("qrels", "test"): qrels(("q1", "d0", 1), ("q0", "d1", 2), ("q0", "d0", 0)),
    }


def test_three_tables_with_image_and_text_on_both_sides(tmp_path: Path) -> None:
    data = load(tmp_path, "InfoSeekIT2ITRetrieval", three_tables())["default"]
    assert isinstance(data, Retrieval)
    assert data.queries.names == ("q0", "q1")
    assert data.queries.text_at.tolist() == [0, -1]
    assert data.documents.image_at.tolist() == [0, -1]
    assert data.documents.text_at.tolist() == [0, 1]
    found = sorted(zip(*(part.tolist() for part in data.relevant), strict=True))
    assert found == [(0, 0, 0), (0, 1, 2), (1, 0, 1)]
    assert data.candidates is None


def test_multiple_choice_keeps_judged_documents_as_candidates(tmp_path: Path) -> None:
    data = load(tmp_path, "BLINKIT2IMultiChoice", three_tables())["default"]
    found = sorted(zip(*(part.tolist() for part in data.candidates), strict=True))
    assert found == [(0, 0), (0, 1), (1, 0)]


def test_document_pages(tmp_path: Path) -> None:
    files = {
        ("queries", "test"): table({"query-id": [5, 6], "query": ["who?", "where?"]}),
        ("corpus", "test"): table({"corpus-id": [7, 8], "image": [image(1), image(2)]}),
        ("qrels", "test"): qrels((5, 8, 1), (6, 7, 1)),
    }
    data = load(tmp_path, "VidoreDocVQARetrieval", files)["default"]
    assert data.documents.names == ("7", "8")
    assert sorted(zip(data.relevant[0].tolist(), data.relevant[1].tolist(), strict=True)) == [(0, 1), (1, 0)]


def test_memes_share_one_pool_of_distinct_texts(tmp_path: Path) -> None:
    def split(first: int, texts: list[str]) -> datasets.Dataset:
        ids = list(range(first, first + len(texts)))
        return table({"id": ids, "image": [image(at) for at in ids], "text": texts})

    files = {
        ("default", "test"): split(0, ["a", "b"]),
        ("default", "validation"): split(10, ["b", "c"]),
        ("default", "train"): split(20, ["d"]),
    }
    data = load(tmp_path, "HatefulMemesI2TRetrieval", files)["default"]
    assert [data.documents.text.read(at) for at in range(4)] == ["a", "b", "c", "d"]
    assert data.queries.image.keys[data.queries.image_at].tolist() == [key(0), key(1)]
    assert data.missing is None
    turned = load(tmp_path, "HatefulMemesT2IRetrieval", files)["default"]
    assert turned.queries.text.read(1) == "b"
    assert turned.documents.image.keys.tolist() == [key(0), key(1), key(11), key(20)]


def test_a_right_answer_that_the_pool_lacks_still_counts(tmp_path: Path) -> None:
    texts = ["same", "same", "other"]
    rows = table({"id": [0, 1, 2], "image": [image(at) for at in range(3)], "text": texts})
    files = {("default", split): rows for split in ("test", "validation", "train")}
    data = load(tmp_path, "HatefulMemesI2TRetrieval", files)["default"]
    assert data.documents.names == ("0", "2")
    assert data.queries.names == ("0", "1", "2")
    assert [part.tolist() for part in data.missing] == [[1], [1]]


@pytest.mark.parametrize("name", ["WITT2IRetrieval", "XM3600T2IRetrieval"])
def test_every_caption_of_every_language_asks_for_its_image(tmp_path: Path, name: str) -> None:
    rows = table({"image_id": ["x", "y"], "image": [image(1), image(2)], "captions": [["a", "b"], ["c"]]})
    data = load(tmp_path, name, {("default", subset): rows for subset in task(name).subsets})
    assert list(data) == list(task(name).subsets)
    part = next(iter(data.values()))
    assert part.queries.names == ("x-0", "x-1", "y-0")
    assert part.relevant[1].tolist() == [0, 0, 1]


def test_questions_with_their_own_choices(tmp_path: Path) -> None:
    rows = table(
        {
            "task": ["Count", "Depth", "Count"],
            "image": [image(1), image(2), image(3)],
            "question": ["how many?", "nearer?", "how few?"],
            "choices": [["3", "1"], ["a", "b"], ["1", "0", "3"]],
            "answer": ["(B)", "(A)", "(C)"],
        }
    )
    data = load(tmp_path, "CVBenchCount", {("default", "test"): rows})["default"]
    assert data.documents.names == ("3", "1", "0")
    assert len(data.queries) == 2
    right = dict(zip(data.relevant[0].tolist(), data.relevant[1].tolist(), strict=True))
    assert [data.documents.names[right[at]] for at in range(2)] == ["1", "3"]
    assert np.bincount(data.candidates[0]).tolist() == [2, 3]
