"""Every protocol of MIEB against its public code: small data sets in the real layout, real prompts, equal scores.

Tolerances are those of how the public code states its scores: retrieval is rounded to five decimals, compositionality
averaged in single precision. Exact ties are broken differently there and do not occur in these data.
"""

from __future__ import annotations

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

IMAGE, TEXT, NUMBER = datasets.Image(), datasets.Value("string"), datasets.Value("int64")
EQUAL, OF_SINGLE_PRECISION, ROUNDED = {"abs": 1e-9}, {"abs": 1e-6}, {"abs": 1e-5}
pytestmark = pytest.mark.filterwarnings("ignore:Precision is ill-defined")  # mteb's other metrics of a rare class


@pytest.fixture
def run(tmp_path, monkeypatch):
    return lambda name, tables, **rest: compared(name, tables, folder=tmp_path, monkeypatch=monkeypatch, **rest)


def pictures(groups, *, seed: int = 0, spread: float = 60) -> list[Image.Image]:
    """A picture an entry of `groups`: the group's own sixteen colours, and noise of `spread` grey levels."""
    noise = np.random.default_rng(seed)
    out = []
    for group in groups:
        own = np.random.default_rng(1000 + int(group)).uniform(60, 195, (4, 4, 3))
        pixels = np.clip(own + noise.normal(0, spread, own.shape), 0, 255).astype(np.uint8)
        out.append(Image.fromarray(pixels).resize((12, 12), Image.Resampling.NEAREST))
    return out


def table(columns: dict[str, list], **features) -> datasets.Dataset:
    return datasets.Dataset.from_dict(columns, features=datasets.Features(features))


def labelled(
    labels, *, image: str = "image", label: str = "label", names: list[str] | None = None, seed: int = 0
) -> datasets.Dataset:
    kind = datasets.ClassLabel(names=names) if names else NUMBER
    return table(
        {image: pictures(labels, seed=seed), label: [int(value) for value in labels]}, **{image: IMAGE, label: kind}
    )


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
    ("name", "columns", "names"),
    [("SUN397ZeroShot", ("image", "label"), SCENES), ("CLEVRZeroShot", ("webp", "cls"), None)],
)
def test_zero_shot(run, name, columns, names):
    classes = len(names) if names else 6
    image, label = columns
    rows = labelled(np.arange(120) % classes, image=image, label=label, names=names)
    both = run(name, {("default", "test"): rows})
    assert both.texts[0] == both.texts[1] and len(both.texts[0]) == classes
    assert both.ours["accuracy", "default"] == pytest.approx(both.theirs["default"]["accuracy"], **EQUAL)
    assert 0 < both.ours["accuracy", "default"] < 1


ZERO_SHOT = [row.title for row in shipped().tasks if row.benchmark == "mieb" and row.procedure == "zero_shot"]
NAMES = ["/a/apple_tree", "/b/baby_blue/indoor", "/c/cat", "/d/dog", "/e/eel", "/f/fly", "/g/gnu"]
LINE_ENDS = {"Country211ZeroShot", "GTSRBZeroShot", "Imagenet1kZeroShot", "PatchCamelyonZeroShot"}


@pytest.mark.parametrize("name", ZERO_SHOT)
def test_every_zero_shot_prompt_is_the_public_one(name, tmp_path, monkeypatch):
    """All classes in order, whether their names stand in the code or, as NAMES here, in the data set's features."""
    row = mieb_rows.row(shipped().task(f"mieb/{name.lower()}"))
    files = {("default", row.split): labelled([0, 1], image=row.image_columns[0], label=row.label_column, names=NAMES)}
    if mieb_rows.class_names(name) or row.fixed:
        files = {("default", row.split): labelled([0, 1], image=row.image_columns[0], label=row.label_column)}
    hub_files.write(tmp_path / row.repo, files)
    data = tasks.load(shipped().task(f"mieb/{name.lower()}"), source=Source(root=tmp_path, offline=True))["default"]
    ours = [data.prompts.read(at) for at in range(len(data.prompts))]
    theirs = type(mteb.get_task(name))()
    theirs.dataset = dict.fromkeys(("train", "validation", "test"), files["default", row.split])
    assert ours == theirs.get_candidate_labels()
    assert ("\n" in "".join(ours)) == (name in LINE_ENDS)


def test_linear_probe(run):
    labels = np.random.default_rng(1).integers(0, 10, 240)
    names = [f"class {at}" for at in range(10)]
    files = {
        ("default", "train"): labelled(labels, names=names, seed=1),
        ("default", "test"): labelled(np.arange(100) % 10, names=names, seed=2),
    }
    both = run("STL10", files)
    theirs = both.theirs["default"]
    each = [draw["accuracy"] for draw in theirs["scores_per_experiment"]]
    assert both.settings["default"]["accuracy_of_draws"] == pytest.approx(each, **EQUAL)
    assert both.ours["accuracy", "default"] == pytest.approx(theirs["accuracy"], **EQUAL)
    assert len(set(each)) > 3 and 0.2 < theirs["accuracy"] < 0.98


def test_several_labels_by_neighbours(run):
    rng = np.random.default_rng(2)
    kind = datasets.List(datasets.ClassLabel(names=[f"class {at}" for at in range(6)]))

    def split(n: int, seed: int) -> datasets.Dataset:
        first = rng.integers(0, 6, n)
        classes = [sorted({int(at), int(at * 5 % 6)} if at % 2 else {int(at)}) for at in first]
        return table({"image": pictures(first, seed=seed), "classes": classes}, image=IMAGE, classes=kind)

    both = run("VOC2007", {("default", "train"): split(120, 3), ("default", "test"): split(80, 4)})
    theirs = both.theirs["default"]
    each = [float(draw["lrap"]) for draw in theirs["scores_per_experiment"]]
    assert both.settings["default"]["lrap_of_draws"] == pytest.approx(each, **EQUAL)
    assert both.ours["lrap", "default"] == pytest.approx(float(theirs["lrap"]), **EQUAL)
    assert len(set(each)) > 1 and 0.3 < both.ours["lrap", "default"] < 1


def test_clustering(run):
    labels = np.random.default_rng(3).integers(0, 10, 300)
    names = [f"class {at}" for at in range(10)]
    both = run("CIFAR10Clustering", {("default", "test"): labelled(labels, image="img", names=names)})
    assert both.ours["nmi", "default"] == pytest.approx(both.theirs["default"]["nmi"], **EQUAL)
    assert 0.2 < both.ours["nmi", "default"] < 0.98


WORDS = ("a", "dog", "cat", "red", "cup", "on", "under", "the", "table", "tree", "big", "small")


def sentences(n: int, *, seed: int) -> list[str]:
    rng = np.random.default_rng(seed)
    return [" ".join(rng.choice(WORDS, 6)) for _ in range(n)]


@pytest.mark.parametrize(
    ("name", "image", "columns"),
    [
        ("AROCocoOrder", "images", ["correct_caption", *(f"hard_text_{at}" for at in range(1, 5))]),
        ("AROVisualRelation", "image", ["true_caption", "false_caption"]),
    ],
)
def test_compositionality_by_text(run, name, image, columns):
    n = 90
    shown = pictures(np.arange(n))
    rows = table(
        {image: shown, **{column: sentences(n, seed=at) for at, column in enumerate(columns)}},
        **{image: IMAGE},
        **dict.fromkeys(columns, TEXT),
    )
    both = run(name, {("default", "test"): rows})
    assert both.ours["text_accuracy", "default"] == pytest.approx(
        both.theirs["default"]["text_acc"], **OF_SINGLE_PRECISION
    )
    assert 0 < both.ours["text_accuracy", "default"] < 1
    assert both.texts[0] == both.texts[1]


def test_compositionality_by_image(run):
    n, pool = 60, 200
    rng = np.random.default_rng(5)
    corpus = table({"id": [f"d{at}" for at in range(pool)], "image": pictures(np.arange(pool))}, id=TEXT, image=IMAGE)
    query = table({"id": [f"q{at}" for at in range(n)], "text": sentences(n, seed=1)}, id=TEXT, text=TEXT)
    judged = [
        (f"q{at}", f"d{place}", int(rank == 4))
        for at in range(n)
        for rank, place in enumerate(rng.choice(pool, 10, replace=False))
    ]
    both = run(
        "ImageCoDe",
        {("corpus", "corpus"): corpus, ("query", "test"): query, ("qrels", "test"): qrels(judged)},
    )
    assert both.ours["image_accuracy", "default"] == pytest.approx(
        both.theirs["default"]["image_acc"], **OF_SINGLE_PRECISION
    )
    assert 0 < both.ours["image_accuracy", "default"] < 1


def test_compositionality_by_groups(run):
    n = 150
    columns = {
        "image_0": pictures(np.arange(n)),
        "image_1": pictures(np.arange(n) + 500),
        "caption_0": sentences(n, seed=1),
        "caption_1": sentences(n, seed=2),
    }
    rows = table(columns, **{name: IMAGE if "image" in name else TEXT for name in columns})
    both = run("Winoground", {("default", "test"): rows}, metrics=("text_accuracy", "image_accuracy"))
    names = {"group_accuracy": "accuracy", "text_accuracy": "text_acc", "image_accuracy": "image_acc"}
    for ours, theirs in names.items():
        assert both.ours[ours, "default"] == pytest.approx(both.theirs["default"][theirs], **OF_SINGLE_PRECISION)
        assert 0.03 < both.ours[ours, "default"] < 0.6


QRELS = {"query-id": TEXT, "corpus-id": TEXT, "score": NUMBER}


def qrels(rows: list[tuple[str, str, int]]) -> datasets.Dataset:
    return table({name: [row[at] for row in rows] for at, name in enumerate(QRELS)}, **QRELS)


def test_vision_centric_questions_with_choices(run):
    n = 80
    rng = np.random.default_rng(6)
    counts = [[str(value) for value in rng.choice(12, 4, replace=False)] for _ in range(n)]
    unread = "type filename source source_dataset source_filename target_class target_size bbox"
    columns = {
        "task": ["Count" if at % 4 else "Depth" for at in range(n)],
        "question": [f"How many {word} are there?" for word in sentences(n, seed=3)],
        "answer": [f"({letter})" for letter in rng.choice(list("ABCD"), n)],
        **dict.fromkeys(("prompt", *unread.split()), [""] * n),
    }
    rows = table(
        {"idx": list(range(n)), "image": pictures(np.arange(n)), "choices": counts, **columns},
        **{"idx": NUMBER, "image": IMAGE, "choices": datasets.List(TEXT), **dict.fromkeys(columns, TEXT)},
    )
    both = run("CVBenchCount", {("default", "test"): rows})
    assert both.ours["accuracy", "default"] == pytest.approx(both.theirs["default"]["accuracy"], **ROUNDED)
    assert 0 < both.ours["accuracy", "default"] < 1
    assert both.texts[0] == both.texts[1]


def test_vision_centric_questions_from_three_tables(run):
    """BLINK's layout; one query's candidates are all wrong, which the public code counts as 0."""
    n = 60
    rng = np.random.default_rng(7)
    judged = [
        (f"q{at}", f"d{place}", int(rank == 1 and at != 3))
        for at in range(n)
        for rank, place in enumerate(rng.choice(90, 3, replace=False))
    ]
    both = run("BLINKIT2TMultiChoice", {**sides(n, 90, asked="both", found="text"), ("qrels", "test"): qrels(judged)})
    assert both.settings["default"]["all_irrelevant"] == 1
    assert both.ours["accuracy", "default"] == pytest.approx(both.theirs["default"]["accuracy"], **ROUNDED)
    assert 0 < both.ours["accuracy", "default"] < 1


def test_visual_sts(run):
    """Each pair of languages, and their mean, which is the task's score."""
    languages = shipped().task("mieb/visualsts17multilingual").subsets
    files = {}
    for at, language in enumerate(languages):
        rng = np.random.default_rng(at)
        first, second = rng.integers(0, 6, (2, 40))
        human = np.where(first == second, 4.0, 1.0) + rng.integers(-1, 2, 40)
        files[language, "test"] = table(
            {
                "sentence1": pictures(first, seed=at, spread=40),
                "sentence2": pictures(second, seed=50 + at, spread=40),
                "score": human.tolist(),
            },
            sentence1=IMAGE,
            sentence2=IMAGE,
            score=datasets.Value("float64"),
        )
    both = run("VisualSTS17Multilingual", files, aggregate_of="STS17MultilingualVisualSTS")
    each = {language: both.theirs[language]["cosine_spearman"] for language in languages}
    assert len(each) == 10
    for language, theirs in each.items():
        assert both.ours["cosine_spearman", language] == pytest.approx(theirs, **OF_SINGLE_PRECISION), language
        assert 0.05 < theirs < 0.98
    assert both.ours["cosine_spearman", "default"] == pytest.approx(np.mean(list(each.values())), **OF_SINGLE_PRECISION)


def sides(queries: int, documents: int, *, asked: str, found: str, clusters: int = 20) -> dict:
    """The tables of queries and documents, of an image, a text or both; those of one number modulo `clusters` agree."""
    out = {}
    for config, split, letter, n, kind in (
        ("query", "test", "q", queries, asked),
        ("corpus", "test", "d", documents, found),
    ):
        columns: dict = {"id": [f"{letter}{at}" for at in range(n)], "modality": [kind] * n}
        features: dict = {"id": TEXT, "modality": TEXT}
        if kind != "text":
            columns["image"], features["image"] = pictures(np.arange(n) % clusters, seed=len(letter) + n), IMAGE
        if kind != "image":
            columns["text"], features["text"] = sentences(n, seed=n), TEXT
        out[config, split] = table(columns, **features)
    return out


def judgements(queries: int, documents: int, *, clusters: int = 20, seed: int = 0) -> list[tuple[str, str, int]]:
    """Documents of a query's own cluster have grades 0 to 2, two others 0; query 1 has only 0, query 2 no judgement."""
    rng = np.random.default_rng(seed)
    rows = []
    for query in range(queries):
        if query == 2:
            continue
        own = [at for at in range(documents) if at % clusters == query % clusters]
        rows += [(f"q{query}", f"d{at}", 0 if query == 1 else int(rng.integers(0, 3))) for at in own]
        others = [at for at in rng.choice(documents, 4, replace=False).tolist() if at not in own]
        rows += [(f"q{query}", f"d{at}", 0) for at in others[:2]]
    return rows


@pytest.mark.parametrize(
    ("name", "asked", "found"),
    [
        ("CIRRIT2IRetrieval", "both", "image"),  # nDCG@10, the query's image and text summed
        ("ROxfordEasyI2IRetrieval", "image", "image"),  # MAP@5
        ("METI2IRetrieval", "image", "image"),  # hit rate
        ("CUB200I2IRetrieval", "image", "image"),  # hit rate without the first hit
        ("ImageCoDeT2IRetrieval", "text", "image"),  # hit rate within three
    ],
)
def test_retrieval(run, name, asked, found):
    queries, documents = 50, 110
    judged = judgements(queries, documents)
    others = ("ndcg_at_5", "ndcg_at_10", "map_at_5", "mrr_at_10", "hit_rate_at_1", "hit_rate_at_3", "hit_rate_at_10")
    tables = sides(queries, documents, asked=asked, found=found)
    both = run(name, {**tables, ("qrels", "test"): qrels(judged)}, metrics=others)
    theirs = both.theirs["default"]
    (own,) = shipped().task(f"mieb/{name.lower()}").metrics
    assert both.ours[own, "default"] == pytest.approx(theirs["main_score"], **ROUNDED)
    for metric in others:
        assert both.ours[metric, "default"] == pytest.approx(theirs[metric], **ROUNDED), metric
    assert 0 < both.ours[own, "default"] < 1
    assert both.settings["default"]["all_irrelevant"] >= 1
    unjudged = {tables["query", "test"]["text"][2]} if asked != "image" else set()
    assert both.texts[1] - both.texts[0] == unjudged and both.texts[0] <= both.texts[1]


def test_retrieval_in_several_languages(run):
    languages = shipped().task("mieb/witt2iretrieval").subsets
    files = {}
    for at, language in enumerate(languages):
        captions = [sentences(1 + row % 3, seed=100 * at + row) for row in range(15)]
        files["default", language] = table(
            {"image_id": [f"i{row}" for row in range(15)], "image": pictures(np.arange(15) + at), "captions": captions},
            image_id=TEXT,
            image=IMAGE,
            captions=datasets.List(TEXT),
        )
    both = run("WITT2IRetrieval", files)
    each = [both.theirs[language]["ndcg_at_10"] for language in languages]
    assert [both.ours["ndcg_at_10", language] for language in languages] == pytest.approx(each, **ROUNDED)
    assert both.ours["ndcg_at_10", "default"] == pytest.approx(np.mean(each), **ROUNDED)


def test_document_pages(run):
    numbers = dict.fromkeys(QRELS, NUMBER)
    judged = [(at, at * 7 % 60, 1) for at in range(40)] + [(at, at * 11 % 60 + 60, 1) for at in range(0, 40, 3)]
    files = {
        ("queries", "test"): table(
            {"query-id": list(range(40)), "query": sentences(40, seed=8)}, **{"query-id": NUMBER, "query": TEXT}
        ),
        ("corpus", "test"): table(
            {"corpus-id": list(range(120)), "image": pictures(np.arange(120))}, **{"corpus-id": NUMBER, "image": IMAGE}
        ),
        ("qrels", "test"): table({name: [row[at] for row in judged] for at, name in enumerate(QRELS)}, **numbers),
    }
    both = run("VidoreDocVQARetrieval", files)
    assert both.ours["ndcg_at_5", "default"] == pytest.approx(both.theirs["default"]["ndcg_at_5"], **ROUNDED)
    assert 0 < both.ours["ndcg_at_5", "default"] < 1
    assert both.texts[0] == both.texts[1]
