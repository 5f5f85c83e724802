"""Every protocol of MIEB against its public code: small data sets in the real layout, real prompts, equal scores.

Tolerances are those of how the public code states its scores: retrieval is rounded to five decimals, compositionality
averaged in single precision. Exact ties are broken differently there and do not occur in these data.
"""

import datasets
import mteb
import numpy as np
import pytest
from PIL import Image

from compute import tasks
from compute.catalog import shipped
from compute.tasks.mieb import rows as mieb_rows
from compute.tasks.source import Source
from tests.compute.mteb_reference import compared
from tests.compute.tasks import hub_files
from tests.compute.tasks.hub_files import qrels, table

EQUAL, OF_SINGLE_PRECISION, ROUNDED = {"abs": 1e-9}, {"abs": 1e-6}, {"abs": 1e-5}
pytestmark = pytest.mark.filterwarnings("ignore:Precision is ill-defined")  # mteb's other metrics of a rare class


@pytest.fixture
def run(tmp_path, monkeypatch):
    return lambda name, tables, **rest: compared(name, tables, folder=tmp_path, monkeypatch=monkeypatch, **rest)


def agree(both, metric, theirs="", subset="default", **within):
    """Our value is theirs, and one that could have been another."""
    value = both.ours[metric, subset]
    assert value == pytest.approx(float(both.theirs[subset][theirs or metric]), **within), (metric, subset)
    assert 0 < value < 1


def pictures(groups, *, seed=0, spread=60):
    """A picture an entry of `groups`: the group's own sixteen colours, and noise of `spread` grey levels."""
    noise = np.random.default_rng(seed)
    out = []
    for group in groups:
        own = np.random.default_rng(1000 + int(group)).uniform(60, 195, (4, 4, 3))
        pixels = np.clip(own + noise.normal(0, spread, own.shape), 0, 255).astype(np.uint8)
        out.append(Image.fromarray(pixels).resize((12, 12), Image.Resampling.NEAREST))
    return out


def labelled(labels, *, image="image", label="label", names=None, seed=0):
    columns = {image: pictures(labels, seed=seed), label: [int(value) for value in labels]}
    return table(columns, **({label: names} if names else {}))


CLASSES = [f"class {at}" for at in range(10)]
SCENES = [
    "/a/abbey",
    "/a/airport_terminal",
    "/b/boat_deck",
    "/b/bow_window/indoor",
    "/c/church/outdoor",
    "/c/corn_field",
    "/l/lake/natural",
    "/p/pond",
]


@pytest.mark.parametrize(
    "name, columns, names",
    [("SUN397ZeroShot", ("image", "label"), SCENES), ("CLEVRZeroShot", ("webp", "cls"), None)],
)
def test_zero_shot(run, name, columns, names):
    classes = len(names) if names else 6
    image, label = columns
    both = run(name, {"test": labelled(np.arange(120) % classes, image=image, label=label, names=names)})
    assert both.texts[0] == both.texts[1] and len(both.texts[0]) == classes
    agree(both, "accuracy", **EQUAL)


ZERO_SHOT = [row.title for row in shipped().tasks if row.benchmark == "mieb" and row.procedure == "zero_shot"]
LINE_ENDS = {"Country211ZeroShot", "GTSRBZeroShot", "Imagenet1kZeroShot", "PatchCamelyonZeroShot"}


@pytest.mark.parametrize("name", ZERO_SHOT)
def test_every_zero_shot_prompt_is_the_public_one(name, tmp_path):
    """All classes in order, whether their names stand in the code or, as SCENES here, in the data set's features."""
    task = shipped().task(f"mieb/{name.lower()}")
    row = mieb_rows.row(task)
    names = None if name in mieb_rows.class_names() or row.fixed else SCENES
    rows = labelled([0, 1], image=row.image_columns[0], label=row.label_column, names=names)
    hub_files.write(tmp_path / row.repo, {row.split: rows})
    data = tasks.load(task, source=Source(root=tmp_path, offline=True))["default"]
    ours = [data.prompts.read(at) for at in range(len(data.prompts))]
    theirs = type(mteb.get_task(name))()
    theirs.dataset = dict.fromkeys(("train", "validation", "test"), rows)
    assert ours == theirs.get_candidate_labels()
    assert ("\n" in "".join(ours)) == (name in LINE_ENDS)


def test_linear_probe(run):
    labels = np.random.default_rng(1).integers(0, 10, 240)
    train, test = labelled(labels, names=CLASSES, seed=1), labelled(np.arange(100) % 10, names=CLASSES, seed=2)
    both = run("STL10", {"train": train, "test": test})
    each = [draw["accuracy"] for draw in both.theirs["default"]["scores_per_experiment"]]
    assert both.settings["default"]["accuracy_of_draws"] == pytest.approx(each, **EQUAL) and len(set(each)) > 3
    agree(both, "accuracy", **EQUAL)


def test_several_labels_by_neighbours(run):
    rng = np.random.default_rng(2)

    def split(n, seed):
        first = rng.integers(0, 6, n)
        classes = [sorted({int(at), int(at * 5 % 6)} if at % 2 else {int(at)}) for at in first]
        kind = datasets.List(datasets.ClassLabel(names=CLASSES[:6]))
        return table({"image": pictures(first, seed=seed), "classes": classes}, classes=kind)

    both = run("VOC2007", {"train": split(120, 3), "test": split(80, 4)})
    each = [float(draw["lrap"]) for draw in both.theirs["default"]["scores_per_experiment"]]
    assert both.settings["default"]["lrap_of_draws"] == pytest.approx(each, **EQUAL) and len(set(each)) > 1
    agree(both, "lrap", **EQUAL)


def test_clustering(run):
    labels = np.random.default_rng(3).integers(0, 10, 300)
    both = run("CIFAR10Clustering", {"test": labelled(labels, image="img", names=CLASSES)})
    agree(both, "nmi", **EQUAL)


WORDS = ("a", "dog", "cat", "red", "cup", "on", "under", "the", "table", "tree", "big", "small")


def sentences(n, *, seed):
    rng = np.random.default_rng(seed)
    return [" ".join(rng.choice(WORDS, 6)) for _ in range(n)]


@pytest.mark.parametrize(
    "name, image, columns",
    [
        ("AROCocoOrder", "images", ["correct_caption", *(f"hard_text_{at}" for at in range(1, 5))]),
        ("AROVisualRelation", "image", ["true_caption", "false_caption"]),
    ],
)
def test_compositionality_by_text(run, name, image, columns):
    captions = {column: sentences(90, seed=at) for at, column in enumerate(columns)}
    both = run(name, {"test": {image: pictures(range(90)), **captions}})
    agree(both, "text_accuracy", "text_acc", **OF_SINGLE_PRECISION)
    assert both.texts[0] == both.texts[1]


def judged(queries, pool, each, rng, right):
    """Every query judges so many documents; which are right follows from its number and theirs."""
    return [
        (f"q{at}", f"d{place}", int(right(at, rank)))
        for at in range(queries)
        for rank, place in enumerate(rng.choice(pool, each, replace=False))
    ]


def test_compositionality_by_image(run):
    n, pool = 60, 200
    rows = judged(n, pool, 10, np.random.default_rng(5), lambda at, rank: rank == 4)
    tables = {
        ("corpus", "corpus"): {"id": [f"d{at}" for at in range(pool)], "image": pictures(range(pool))},
        ("query", "test"): {"id": [f"q{at}" for at in range(n)], "text": sentences(n, seed=1)},
        ("qrels", "test"): qrels(rows),
    }
    agree(run("ImageCoDe", tables), "image_accuracy", "image_acc", **OF_SINGLE_PRECISION)


def test_compositionality_by_groups(run):
    n = 150
    columns = {
        "image_0": pictures(range(n)),
        "image_1": pictures(range(500, 500 + n)),
        "caption_0": sentences(n, seed=1),
        "caption_1": sentences(n, seed=2),
    }
    both = run("Winoground", {"test": columns}, metrics=("text_accuracy", "image_accuracy"))
    names = {"group_accuracy": "accuracy", "text_accuracy": "text_acc", "image_accuracy": "image_acc"}
    for ours, theirs in names.items():
        agree(both, ours, theirs, **OF_SINGLE_PRECISION)


def test_vision_centric_questions_with_choices(run):
    n = 80
    rng = np.random.default_rng(6)
    unread = "prompt type filename source source_dataset source_filename target_class target_size bbox"
    columns = {
        "idx": list(range(n)),
        "image": pictures(range(n)),
        "choices": [[str(value) for value in rng.choice(12, 4, replace=False)] for _ in range(n)],
        "task": ["Count" if at % 4 else "Depth" for at in range(n)],
        "question": [f"How many {word} are there?" for word in sentences(n, seed=3)],
        "answer": [f"({letter})" for letter in rng.choice(list("ABCD"), n)],
        **dict.fromkeys(unread.split(), [""] * n),
    }
    both = run("CVBenchCount", {"test": columns})
    agree(both, "accuracy", **ROUNDED)
    assert both.texts[0] == both.texts[1]


def test_vision_centric_questions_from_three_tables(run):
    """BLINK's layout; one query's candidates are all wrong, which the public code counts as 0."""
    rows = judged(60, 90, 3, np.random.default_rng(7), lambda at, rank: rank == 1 and at != 3)
    both = run("BLINKIT2TMultiChoice", {**sides(60, 90, asked="both", found="text"), ("qrels", "test"): qrels(rows)})
    assert both.settings["default"]["all_irrelevant"] == 1
    agree(both, "accuracy", **ROUNDED)


def test_visual_sts(run):
    """Each pair of languages, and their mean, which is the task's score."""
    languages = shipped().task("mieb/visualsts17multilingual").subsets
    files = {}
    for at, language in enumerate(languages):
        rng = np.random.default_rng(at)
        first, second = rng.integers(0, 6, (2, 40))
        files[language, "test"] = {
            "sentence1": pictures(first, seed=at, spread=40),
            "sentence2": pictures(second, seed=50 + at, spread=40),
            "score": (np.where(first == second, 4.0, 1.0) + rng.integers(-1, 2, 40)).tolist(),
        }
    both = run("VisualSTS17Multilingual", files, aggregate_of="STS17MultilingualVisualSTS")
    assert len(languages) == 10
    for language in languages:
        agree(both, "cosine_spearman", subset=language, **OF_SINGLE_PRECISION)
    mean = np.mean([both.theirs[language]["cosine_spearman"] for language in languages])
    assert both.ours["cosine_spearman", "default"] == pytest.approx(mean, **OF_SINGLE_PRECISION)


def sides(queries, documents, *, asked, found, clusters=20):
    """The tables of queries and documents, of an image, a text or both; those of one number modulo `clusters` agree."""
    out = {}
    for config, letter, n, kind in (("query", "q", queries, asked), ("corpus", "d", documents, found)):
        columns = {"id": [f"{letter}{at}" for at in range(n)], "modality": [kind] * n}
        if kind != "text":
            columns["image"] = pictures(np.arange(n) % clusters, seed=1 + n)
        if kind != "image":
            columns["text"] = sentences(n, seed=n)
        out[config, "test"] = columns
    return out


def judgements(queries, documents, *, clusters=20):
    """Documents of a query's own cluster have grades 0 to 2, two others 0; query 1 has only 0, query 2 no judgement."""
    rng = np.random.default_rng(0)
    rows = []
    for query in (at for at in range(queries) if at != 2):
        own = [at for at in range(documents) if at % clusters == query % clusters]
        rows += [(f"q{query}", f"d{at}", 0 if query == 1 else int(rng.integers(0, 3))) for at in own]
        others = [at for at in rng.choice(documents, 4, replace=False).tolist() if at not in own]
        rows += [(f"q{query}", f"d{at}", 0) for at in others[:2]]
    return rows


@pytest.mark.parametrize(
    "name, asked, found",
    [
        ("CIRRIT2IRetrieval", "both", "image"),  # nDCG@10, the query's image and text summed
        ("ROxfordEasyI2IRetrieval", "image", "image"),  # MAP@5
        ("METI2IRetrieval", "image", "image"),  # hit rate
        ("CUB200I2IRetrieval", "image", "image"),  # hit rate without the first hit
        ("ImageCoDeT2IRetrieval", "text", "image"),  # hit rate within three
    ],
)
def test_retrieval(run, name, asked, found):
    others = ("ndcg_at_5", "ndcg_at_10", "map_at_5", "mrr_at_10", "hit_rate_at_1", "hit_rate_at_3", "hit_rate_at_10")
    tables = sides(50, 110, asked=asked, found=found)
    both = run(name, {**tables, ("qrels", "test"): qrels(judgements(50, 110))}, metrics=others)
    (own,) = shipped().task(f"mieb/{name.lower()}").metrics
    agree(both, own, "main_score", **ROUNDED)
    for metric in others:
        assert both.ours[metric, "default"] == pytest.approx(both.theirs["default"][metric], **ROUNDED), metric
    assert both.settings["default"]["all_irrelevant"] >= 1
    unjudged = {tables["query", "test"]["text"][2]} if asked != "image" else set()
    assert both.texts[1] - both.texts[0] == unjudged and both.texts[0] <= both.texts[1]


def test_retrieval_in_several_languages(run):
    languages = shipped().task("mieb/witt2iretrieval").subsets
    files = {
        language: {
            "image_id": [f"i{row}" for row in range(15)],
            "image": pictures(np.arange(15) + at),
            "captions": [sentences(1 + row % 3, seed=100 * at + row) for row in range(15)],
        }
        for at, language in enumerate(languages)
    }
    both = run("WITT2IRetrieval", files)
    each = [both.theirs[language]["ndcg_at_10"] for language in languages]
    assert [both.ours["ndcg_at_10", language] for language in languages] == pytest.approx(each, **ROUNDED)
    assert both.ours["ndcg_at_10", "default"] == pytest.approx(np.mean(each), **ROUNDED)


def test_document_pages(run):
    rows = [(at, at * 7 % 60, 1) for at in range(40)] + [(at, at * 11 % 60 + 60, 1) for at in range(0, 40, 3)]
    files = {
        ("queries", "test"): {"query-id": list(range(40)), "query": sentences(40, seed=8)},
        ("corpus", "test"): {"corpus-id": list(range(120)), "image": pictures(range(120))},
        ("qrels", "test"): qrels(rows),
    }
    both = run("VidoreDocVQARetrieval", files)
    agree(both, "ndcg_at_5", **ROUNDED)
    assert both.texts[0] == both.texts[1]
