"""Every shape of one's own data through a run of the bundled model, its score computed again by other means."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import pytrec_eval
from scipy.stats import spearmanr
from sklearn.cluster import MiniBatchKMeans
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import normalized_mutual_info_score

from tests.compute.tasks.own.drawn import COLOURS, execute, items, of, picture, pictures, scores, vectors, write


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("own")
    pictures(folder / "images", 36)
    return folder


@pytest.fixture
def random() -> np.random.Generator:
    return np.random.default_rng(7)


def paths(folder: Path, names: list[str]) -> list[Path]:
    return [folder / name for name in names]


def drawn_names(random: np.random.Generator, rows: int, columns: int) -> list[list[str]]:
    """Rows of paths of unlike images."""
    return [[f"images/{at:03}.png" for at in random.choice(36, columns, replace=False)] for _ in range(rows)]


def test_choices(folder: Path, tmp_path: Path, random: np.random.Generator) -> None:
    rows = drawn_names(random, 40, 4)
    answers = random.integers(1, 4, 40)
    path = write(
        folder / "choices.csv",
        ("reference", "alternative_1", "alternative_2", "alternative_3", "answer"),
        [[*row, answer] for row, answer in zip(rows, answers, strict=True)],
    )
    data = of(path)
    assert data.shape.key == "choices" and data.facts.chance == 1 / 3 and data.facts.n_items == 40
    unit = np.stack([vectors(paths(folder, row)) for row in rows])  # [rows, 4, d]
    nearest = np.einsum("nd,nkd->nk", unit[:, 0], unit[:, 1:]).argmax(axis=1)
    outcome = execute(data, tmp_path)
    assert scores(outcome) == {"accuracy": pytest.approx(np.mean(nearest == answers - 1))}
    assert items(outcome)["item"].tolist() == [str(at) for at in range(1, 41)]


def test_a_text_as_reference_and_texts_as_alternatives(folder: Path, tmp_path: Path) -> None:
    rows = [
        (f"a {colour} circle", f"images/{at:03}.png", f"images/{at + 1:03}.png", 1) for at, colour in enumerate(COLOURS)
    ]
    header = ("reference", "alternative_1", "alternative_2", "answer")
    by_text = of(write(folder / "by-text.csv", header, rows))
    assert by_text.facts.category == "IT-2AFC" and by_text.facts.modalities == ("image", "text")
    texts = vectors([row[0] for row in rows])
    sides = [vectors(paths(folder, [row[at] for row in rows])) for at in (1, 2)]
    right = (texts * sides[0]).sum(axis=1) > (texts * sides[1]).sum(axis=1)
    assert scores(execute(by_text, tmp_path))["accuracy"] == pytest.approx(right.mean())
    of_texts = of(write(folder / "of-texts.csv", header, [(b, a, "a photo", 1) for a, b, *_ in rows]))
    assert of_texts.facts.category == "Text-2AFC"
    assert 0 <= scores(execute(of_texts, tmp_path))["accuracy"] <= 1


def test_votes_count_the_majority_and_leave_out_ties(folder: Path, tmp_path: Path, random: np.random.Generator) -> None:
    rows = drawn_names(random, 30, 2)
    votes = random.integers(0, 4, (30, 2))
    votes[:3] = (2, 2), (0, 0), (1, 0)
    prompts = [f"a {COLOURS[at % 6]} square" for at in range(30)]
    path = write(
        folder / "votes.csv",
        ("prompt", "alternative_1", "alternative_2", "votes_1", "votes_2"),
        [[prompt, *row, *counts] for prompt, row, counts in zip(prompts, rows, votes, strict=True)],
    )
    data = of(path)
    decided = votes[:, 0] != votes[:, 1]
    most, total = votes.max(axis=1)[decided], votes.sum(axis=1)[decided]
    tied = int(((votes[:, 0] == votes[:, 1]) & (votes[:, 0] > 0)).sum())
    silent = int((votes.sum(axis=1) == 0).sum())
    assert data.facts.n_items == decided.sum() and data.shape.key == "votes"
    assert f"{np.mean(most / total):.1%} of a question's votes" in data.facts.notes
    assert f"{tied} with a tie and {silent} without a vote" in data.facts.notes
    unit = np.stack([vectors(paths(folder, row)) for row in rows])
    nearest = np.einsum("nd,nkd->nk", vectors(prompts), unit).argmax(axis=1)
    outcome = execute(data, tmp_path)
    assert scores(outcome)["accuracy"] == pytest.approx(np.mean((nearest == votes.argmax(axis=1))[decided]))
    assert items(outcome)["item"].tolist() == [str(at + 1) for at in np.flatnonzero(decided)]


def test_odd_one_out(folder: Path, tmp_path: Path, random: np.random.Generator) -> None:
    rows, odd = drawn_names(random, 30, 3), random.integers(1, 4, 30)
    path = write(
        folder / "odd.csv",
        ("member_1", "member_2", "member_3", "odd"),
        [[*row, at] for row, at in zip(rows, odd, strict=True)],
    )
    unit = np.stack([vectors(paths(folder, row)) for row in rows])
    alike = np.einsum("nid,njd->nij", unit, unit)
    answers = np.stack([alike[:, 1, 2], alike[:, 0, 2], alike[:, 0, 1]], axis=1).argmax(axis=1)
    assert scores(execute(of(path), tmp_path))["accuracy"] == pytest.approx(np.mean(answers == odd - 1))


def test_rated_pairs(folder: Path, tmp_path: Path, random: np.random.Generator) -> None:
    rows, human = drawn_names(random, 30, 2), random.normal(size=30).round(2)
    path = write(
        folder / "rated.csv", ("id", "first", "second", "score"), [[at, *row, human[at]] for at, row in enumerate(rows)]
    )
    unit = np.stack([vectors(paths(folder, row)) for row in rows])
    value = (unit[:, 0] * unit[:, 1]).sum(axis=1)
    assert scores(execute(of(path), tmp_path)) == {
        "cosine_spearman": pytest.approx(spearmanr(human, value).statistic, abs=1e-6)
    }
    mixed = write(
        folder / "mixed.csv",
        ("first", "second", "score"),
        [[f"a {COLOURS[at % 6]} disc", row[0], human[at]] for at, row in enumerate(rows)],
    )
    value = (vectors([f"a {COLOURS[at % 6]} disc" for at in range(30)]) * unit[:, 0]).sum(axis=1)
    data = of(mixed)
    assert data.facts.modalities == ("image", "text")
    assert scores(execute(data, tmp_path))["cosine_spearman"] == pytest.approx(
        spearmanr(human, value).statistic, abs=1e-6
    )


def test_matching(folder: Path, tmp_path: Path) -> None:
    captions = [(f"a {COLOURS[at % 6]} shape", f"a {COLOURS[(at + 1) % 6]} shape") for at in range(24)]
    path = write(
        folder / "captions.csv",
        ("image", "caption_1", "caption_2"),
        [[f"images/{at:03}.png", *both] for at, both in enumerate(captions)],
    )
    data = of(path)
    assert data.facts.metrics == ("text_accuracy",) and data.facts.chance == 0.5
    images = vectors(paths(folder, [f"images/{at:03}.png" for at in range(24)]))
    own, other = (vectors([both[side] for both in captions]) for side in (0, 1))
    right = (images * own).sum(axis=1) > (images * other).sum(axis=1)
    assert scores(execute(data, tmp_path)) == {"text_accuracy": pytest.approx(right.mean())}
    two = write(
        folder / "two.csv",
        ("image_1", "image_2", "caption_1", "caption_2"),
        [[f"images/{at:03}.png", f"images/{at + 1:03}.png", *both] for at, both in enumerate(captions)],
    )
    table = np.stack(
        [
            [(one * text).sum(axis=1) for text in (own, other)]
            for one in (
                images,
                np.roll(vectors(paths(folder, [f"images/{at:03}.png" for at in range(25)])), -1, axis=0)[:24],
            )
        ]
    )
    text = (table[0, 0] > table[0, 1]) & (table[1, 1] > table[1, 0])
    image = (table[0, 0] > table[1, 0]) & (table[1, 1] > table[0, 1])
    assert scores(execute(of(two), tmp_path)) == {
        "text_accuracy": pytest.approx(text.mean()),
        "image_accuracy": pytest.approx(image.mean()),
        "group_accuracy": pytest.approx((text & image).mean()),
    }


def test_retrieval_in_beirs_layout(folder: Path, tmp_path: Path, random: np.random.Generator) -> None:
    beir = tmp_path / "beir"
    names = pictures(beir / "images", 30)
    documents = [{"_id": f"d{at}", "title": "", "text": "", "image": f"images/{name}"} for at, name in enumerate(names)]
    documents += [{"_id": f"t{at}", "title": f"{colour}", "text": "a circle"} for at, colour in enumerate(COLOURS)]
    queries = [{"_id": f"q{at}", "text": f"a {COLOURS[at % 6]} shape number {at}"} for at in range(12)]
    queries.append({"_id": "unjudged", "text": "nothing"})
    (beir / "corpus.jsonl").write_text("".join(json.dumps(row) + "\n" for row in documents))
    (beir / "queries.jsonl").write_text("".join(json.dumps(row) + "\n" for row in queries))
    every = [row["_id"] for row in documents]
    grades = {
        f"q{at}": {every[other]: int(random.integers(0, 3)) for other in random.choice(len(every), 6, replace=False)}
        for at in range(12)
    }
    grades["q0"][every[0]] = 2
    write(
        beir / "qrels" / "test.tsv",
        ("query-id", "corpus-id", "score"),
        [(query, document, grade) for query, row in grades.items() for document, grade in row.items()],
    )
    data = of(beir)
    assert data.shape.key == "retrieval" and data.facts.n_items == 12
    assert "Left out: 1 query without a judgement." in data.facts.notes
    found = vectors([beir / row["image"] for row in documents[:30]])
    found = np.concatenate([found, vectors([f"{row['title']} {row['text']}" for row in documents[30:]])])
    cosines = vectors([row["text"] for row in queries[:12]]) @ found.T
    ranked = {f"q{at}": dict(zip(every, map(float, row), strict=True)) for at, row in enumerate(cosines)}
    reference = pytrec_eval.RelevanceEvaluator(grades, {"ndcg_cut.10", "map", "recip_rank", "success.1,10"}).evaluate(
        ranked
    )
    mean = {name: np.mean([row[name] for row in reference.values()]) for name in reference["q0"]}
    figures = scores(execute(data, tmp_path / "results"))
    assert figures["ndcg_at_10"] == pytest.approx(mean["ndcg_cut_10"], abs=1e-6)
    assert figures["map"] == pytest.approx(mean["map"], abs=1e-6)
    assert figures["hit_rate_at_1"] == pytest.approx(mean["success_1"])
    assert figures["hit_rate_at_10"] == pytest.approx(mean["success_10"])


@pytest.fixture(scope="module")
def classes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Images by class below train and test: few shapes or many, which the bundled model does not tell well."""
    folder = tmp_path_factory.mktemp("classes")
    for split, each in (("train", 12), ("test", 15)):
        for at, (name, shapes_drawn) in enumerate((("few_shapes", 2), ("some_shapes", 3), ("many_shapes", 5))):
            for number in range(each):
                seed = 1000 * at + number + 500 * (split == "test")
                picture(
                    folder / split / name / f"{number}.png",
                    colour=COLOURS[seed % 6],
                    seed=seed,
                    shapes=shapes_drawn,
                )
    return folder


def labelled(folder: Path) -> tuple[list[Path], list[str]]:
    files = sorted(folder.glob("*/*.png"), key=lambda path: path.as_posix())
    return files, [path.parent.name for path in files]


def test_a_folder_of_images_by_class(classes: Path, tmp_path: Path) -> None:
    data = of(classes / "test")
    assert data.shape.key == "classification" and data.facts.counts == "45 images of 3 classes"
    files, labels = labelled(classes / "test")
    names = sorted(set(labels))
    prompts = vectors([f"a photo of a {name.replace('_', ' ')}." for name in names])
    answers = (vectors(files) @ prompts.T).argmax(axis=1)
    expected = np.mean([names[at] == label for at, label in zip(answers, labels, strict=True)])
    outcome = execute(data, tmp_path)
    assert scores(outcome) == {"accuracy": pytest.approx(expected)} and 0 < expected < 1
    assert set(items(outcome)["item"]) == {path.relative_to(classes / "test").as_posix() for path in files}


def test_prompts_of_the_file(classes: Path, tmp_path: Path) -> None:
    files, labels = labelled(classes / "test")
    texts = {"few_shapes": "two shapes", "some_shapes": "three shapes", "many_shapes": "a lot of shapes"}
    path = write(
        tmp_path / "prompts.csv",  # the images lie elsewhere, in a folder that is named
        ("image", "label", "prompt"),
        [
            (file.relative_to(classes).as_posix(), label, texts[label])
            for file, label in zip(files, labels, strict=True)
        ],
    )
    names = sorted(texts)
    answers = (vectors(files) @ vectors([texts[name] for name in names]).T).argmax(axis=1)
    expected = np.mean([names[at] == label for at, label in zip(answers, labels, strict=True)])
    assert scores(execute(of(path, images=[classes]), tmp_path))["accuracy"] == pytest.approx(expected)


def test_a_probe(classes: Path, tmp_path: Path) -> None:
    data = of(classes)
    assert data.shape.key == "probe" and data.facts.n_items == 45
    (train, trained), (test, tested) = labelled(classes / "train"), labelled(classes / "test")
    # 12 images a class are fewer than the 16 of a draw: every draw takes all of them
    fitted = LogisticRegression(max_iter=1000).fit(raw_vectors(train), trained)
    expected = np.mean(fitted.predict(raw_vectors(test)) == np.array(tested))
    assert scores(execute(data, tmp_path, options=["iterations=1000"]))["accuracy"] == pytest.approx(expected, abs=1e-6)


def test_clustering(classes: Path, tmp_path: Path) -> None:
    files, labels = labelled(classes / "test")
    clusters = (
        MiniBatchKMeans(n_clusters=3, batch_size=500, n_init="auto", random_state=42).fit(raw_vectors(files)).labels_
    )
    expected = normalized_mutual_info_score(labels, clusters)
    data = of(classes / "test", shape="clustering")
    assert scores(execute(data, tmp_path))["nmi"] == pytest.approx(expected, abs=1e-6)


def raw_vectors(files: list[Path]) -> np.ndarray:
    return vectors(files, unit=False).astype(np.float32)
