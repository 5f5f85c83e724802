"""MIEB's loaders in the real layouts: what test_parity.py, against the public code, does not show."""

from compute import tasks
from compute.catalog import shipped
from compute.content.items import content_key
from compute.tasks.data import Retrieval
from compute.tasks.source import Source
from tests.compute.tasks import hub_files
from tests.compute.tasks.files import lists
from tests.compute.tasks.hub_files import image, qrels


def task(name):
    return shipped().task(name if "/" in name else f"mieb/{name.lower()}")


def load(tmp_path, name, files, **options):
    """The items of a task, of MIEB if its key names no benchmark, over these tables: of its only subset, or by it."""
    row = task(name)
    hub_files.write(tmp_path / row.dataset, files)
    made = tasks.load(row, source=Source(root=tmp_path, offline=True), options=options)
    return made.get("default", made)


def key(red):
    return content_key(hub_files.png(image(red)))


def test_the_damaged_training_image_of_birdsnap_is_left_out(tmp_path):
    def rows(count):
        return hub_files.table({"image": [image(1)] * count, "common": [0] * count}, common=["owl"])

    train = load(tmp_path, "Birdsnap", {"train": rows(3856), "test": rows(1)}).train
    assert len(train.items) == 3855 and "3854" not in train.names


def test_zero_shot_prompts_keep_the_public_codes_line_ends_unless_asked_to_be_clean(tmp_path):
    files = {"test": {"webp": [image(0), image(1)], "cls": [0, 1]}}
    public = load(tmp_path, "GTSRBZeroShot", files).prompts
    clean = load(tmp_path, "GTSRBZeroShot", files, prompts="clean").prompts
    assert len(public) == len(clean) == 43 and clean.read(0).startswith("a close up photo of a '")
    assert public.read(0).count("\n") == 1 and public.read(0).replace("\n", "") == clean.read(0)
    assert tasks.options_of(task("GTSRBZeroShot")) == {"prompts": ("public", "clean")}
    assert tasks.options_of(task("CIFAR10ZeroShot")) == {}


def test_the_split_of_sugarcrepe_is_called_train(tmp_path):
    rows = {"images": [image(1)], "caption": ["a"], "negative_caption": ["b"]}
    assert load(tmp_path, "SugarCrepe", {"train": rows}).captions[1].read(0) == "b"


def test_three_tables_with_image_and_text_on_both_sides(tmp_path):
    files = {
        ("query", "test"): {
            "id": ["q0", "q1", "q2"],
            "image": [image(1), image(2), image(3)],
            "text": ["more red", "", "unjudged"],
        },
        ("corpus", "test"): {"id": ["d0", "d1"], "image": [image(11), None], "text": ["zero", "one"]},
        ("qrels", "test"): qrels([("q1", "d0", 1), ("q0", "d1", 2), ("q0", "d0", 0)]),
    }
    data = load(tmp_path, "InfoSeekIT2ITRetrieval", files)
    assert isinstance(data, Retrieval) and data.candidates is None
    queries, documents = data.queries, data.documents
    assert queries.names == ("q0", "q1")
    assert lists((queries.text_at, documents.image_at, documents.text_at)) == [[0, -1], [0, -1], [0, 1]]
    assert sorted(zip(*lists(data.relevant), strict=True)) == [(0, 0, 0), (0, 1, 2), (1, 0, 1)]


def test_memes_share_one_pool_of_distinct_texts(tmp_path):
    files = {
        "test": {"id": [0, 1], "image": [image(0), image(1)], "text": ["a", "b"]},
        "validation": {"id": [10, 11], "image": [image(10), image(11)], "text": ["b", "c"]},
        "train": {"id": [20], "image": [image(20)], "text": ["d"]},
    }
    data = load(tmp_path, "HatefulMemesI2TRetrieval", files)
    assert [data.documents.text.read(at) for at in range(4)] == ["a", "b", "c", "d"]
    assert data.queries.image.keys[data.queries.image_at].tolist() == [key(0), key(1)]
    assert data.missing is None
    turned = load(tmp_path, "HatefulMemesT2IRetrieval", files)
    assert turned.queries.text.read(1) == "b"
    assert turned.documents.image.keys.tolist() == [key(0), key(1), key(11), key(20)]


def test_a_right_answer_that_the_pool_lacks_still_counts(tmp_path):
    rows = {"id": [0, 1, 2], "image": [image(at) for at in range(3)], "text": ["same", "same", "other"]}
    files = dict.fromkeys(("test", "validation", "train"), rows)
    data = load(tmp_path, "HatefulMemesI2TRetrieval", files)
    assert (data.documents.names, data.queries.names) == (("0", "2"), ("0", "1", "2"))
    assert lists(data.missing) == [[1], [1]]


def test_vidore_2_has_one_table_of_queries_with_their_language(tmp_path):
    """Ids are numbers."""
    languages = [*task("vidore/vidore2esgreportsretrieval").subsets]
    files = {
        ("corpus", "test"): {
            "corpus-id": [10, 11, 12],
            "image": [image(at) for at in (1, 2, 3)],
            "doc-id": ["a", "a", "b"],
        },
        ("queries", "test"): {"query-id": [7, 8, 9, 6], "query": ["what", "was"] * 2, "language": sorted(languages)},
        ("qrels", "test"): qrels([(7, 11, 1), (8, 12, 2), (8, 10, 1), (9, 10, 1), (6, 12, 1)]),
    }
    data = load(tmp_path, "vidore/vidore2esgreportsretrieval", files)
    assert list(data) == languages
    assert all(part.documents.names == ("10", "11", "12") and len(part.queries.names) == 1 for part in data.values())
    by_query = {part.queries.names[0]: part for part in data.values()}
    assert sorted(zip(*lists(by_query["8"].relevant), strict=True)) == [(0, 0, 1), (0, 2, 2)]


def test_vidore_3_has_three_configurations_a_language(tmp_path):
    files = {}
    for at, language in enumerate(task("vidore/vidore3hrretrieval").subsets):
        files |= {
            (f"{language}-corpus", "test"): {"id": ["d0", "d1"], "image": [image(1), image(2)]},
            (f"{language}-queries", "test"): {"id": ["q0", "q1"], "text": [f"{language} 0", "unjudged"]},
            (f"{language}-qrels", "test"): qrels([("q0", "d1", 1 + at % 2)]),
        }
    data = load(tmp_path, "vidore/vidore3hrretrieval", files)
    for at, (language, part) in enumerate(data.items()):
        assert part.queries.names == ("q0",) and part.queries.text.read(0) == f"{language} 0"
        assert part.documents.image.keys.tolist() == [key(1), key(2)] and part.documents.text is None
        assert lists(part.relevant) == [[0], [1], [1 + at % 2]]
