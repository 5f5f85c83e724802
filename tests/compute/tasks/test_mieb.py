"""MIEB's loaders in the real layouts: what test_parity.py, against the public code, does not show."""

from __future__ import annotations

from pathlib import Path

import datasets

from compute import tasks
from compute.catalog import shipped
from compute.content.items import content_key
from compute.tasks.data import Data, Retrieval
from compute.tasks.source import Source
from compute.types import Task
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


def test_the_damaged_training_image_of_birdsnap_is_left_out(tmp_path):
    count = 3856
    rows = table({"image": [image(1)] * count, "common": [0] * count}, common=datasets.ClassLabel(names=["owl"]))
    train = load(tmp_path, "Birdsnap", {("default", "train"): rows, ("default", "test"): rows})["default"].train
    assert len(train.items) == count - 1
    assert "3854" not in train.names


def test_zero_shot_prompts_keep_the_public_codes_line_ends_unless_asked_to_be_clean(tmp_path):
    files = {("default", "test"): labelled(2, column="webp", label="cls")}
    public = load(tmp_path, "GTSRBZeroShot", files)["default"].prompts
    clean = load(tmp_path, "GTSRBZeroShot", files, prompts="clean")["default"].prompts
    assert len(public) == len(clean) == 43
    assert public.read(0).count("\n") == 1
    assert public.read(0).replace("\n", "") == clean.read(0)
    assert clean.read(0).startswith("a close up photo of a '")
    assert tasks.options_of(task("GTSRBZeroShot")) == {"prompts": ("public", "clean")}
    assert tasks.options_of(task("CIFAR10ZeroShot")) == {}


def test_the_split_of_sugarcrepe_is_called_train(tmp_path):
    rows = table({"images": [image(1)], "caption": ["a"], "negative_caption": ["b"]})
    assert load(tmp_path, "SugarCrepe", {("default", "train"): rows})["default"].captions[1].read(0) == "b"


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


def test_three_tables_with_image_and_text_on_both_sides(tmp_path):
    data = load(tmp_path, "InfoSeekIT2ITRetrieval", three_tables())["default"]
    assert isinstance(data, Retrieval)
    assert data.queries.names == ("q0", "q1")
    assert data.queries.text_at.tolist() == [0, -1]
    assert data.documents.image_at.tolist() == [0, -1]
    assert data.documents.text_at.tolist() == [0, 1]
    found = sorted(zip(*(part.tolist() for part in data.relevant), strict=True))
    assert found == [(0, 0, 0), (0, 1, 2), (1, 0, 1)]
    assert data.candidates is None


def test_memes_share_one_pool_of_distinct_texts(tmp_path):
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


def test_a_right_answer_that_the_pool_lacks_still_counts(tmp_path):
    texts = ["same", "same", "other"]
    rows = table({"id": [0, 1, 2], "image": [image(at) for at in range(3)], "text": texts})
    files = {("default", split): rows for split in ("test", "validation", "train")}
    data = load(tmp_path, "HatefulMemesI2TRetrieval", files)["default"]
    assert data.documents.names == ("0", "2")
    assert data.queries.names == ("0", "1", "2")
    assert [part.tolist() for part in data.missing] == [[1], [1]]


def test_every_caption_of_every_language_asks_for_its_image(tmp_path):
    name = "XM3600T2IRetrieval"
    rows = table({"image_id": ["x", "y"], "image": [image(1), image(2)], "captions": [["a", "b"], ["c"]]})
    data = load(tmp_path, name, {("default", subset): rows for subset in task(name).subsets})
    assert list(data) == list(task(name).subsets)
    part = next(iter(data.values()))
    assert part.queries.names == ("x-0", "x-1", "y-0")
    assert part.relevant[1].tolist() == [0, 0, 1]


def test_vidore_2_and_3_in_the_layouts_of_their_repositories(tmp_path):
    """v2: one table of queries with their language, ids are numbers. v3: three configurations a language."""

    def load_of(key: str, files: dict) -> dict[str, Retrieval]:
        row = shipped().task(f"vidore/{key}")
        hub_files.write(tmp_path / row.dataset, files)
        return tasks.load(row, source=Source(root=tmp_path, offline=True))

    pages = {"corpus-id": [10, 11, 12], "image": [image(at) for at in (1, 2, 3)], "doc-id": ["a", "a", "b"]}
    asked = {"query-id": [7, 8], "query": ["what", "was"], "language": ["english", "german"], "answer": ["x", "y"]}
    languages = [*shipped().task("vidore/vidore2esgreportsretrieval").subsets]
    every = {name: [*values] * 2 if name != "query-id" else [7, 8, 9, 6] for name, values in asked.items()}
    every["language"] = sorted(languages)
    second = load_of(
        "vidore2esgreportsretrieval",
        {
            ("corpus", "test"): table(pages),
            ("queries", "test"): table(every),
            ("qrels", "test"): qrels((7, 11, 1), (8, 12, 2), (8, 10, 1), (9, 10, 1), (6, 12, 1)),
        },
    )
    assert list(second) == languages
    assert all(part.documents.names == ("10", "11", "12") and len(part.queries.names) == 1 for part in second.values())
    by_query = {part.queries.names[0]: part for part in second.values()}
    assert sorted(zip(*(part.tolist() for part in by_query["8"].relevant), strict=True)) == [(0, 0, 1), (0, 2, 2)]

    files = {}
    for at, language in enumerate(shipped().task("vidore/vidore3hrretrieval").subsets):
        files |= {
            (f"{language}-corpus", "test"): table({"id": ["d0", "d1"], "image": [image(1), image(2)]}),
            (f"{language}-queries", "test"): table({"id": ["q0", "q1"], "text": [f"{language} 0", "unjudged"]}),
            (f"{language}-qrels", "test"): qrels(("q0", "d1", 1 + at % 2)),
        }
    third = load_of("vidore3hrretrieval", files)
    for at, (language, part) in enumerate(third.items()):
        assert part.queries.names == ("q0",) and part.queries.text.read(0) == f"{language} 0"
        assert part.documents.image.keys.tolist() == [key(1), key(2)] and part.documents.text is None
        assert [column.tolist() for column in part.relevant] == [[0], [1], [1 + at % 2]]
