"""Comparisons of generators, by the command and from Python: one table, stored runs, saved references, bad input."""

import gc
import json
import weakref
from dataclasses import replace
from unittest.mock import Mock

import numpy as np
import pytest

import compute
from compute import models
from compute.database import build, store
from compute.engine.generators import interface
from compute.engine.generators.features import BUNDLED, PAPERS, choose
from compute.engine.generators.references import SavedReference, opened
from compute.metrics.distribution.moments import CrossMoments, Moments
from compute.types import BadInput, CannotWrite, LikenessError, NotHere
from tests.compute.commands import assert_refused, command, save_images, save_prompts
from tests.compute.tasks import drawn_generators as drawn
from tests.compute.tasks.files import table

COUNT, FEW = 36, 8
frechet = command("frechet")


def folders(root, count):
    """Real images and a generator's, which clean are of the same prompts."""
    save_images(root / "real", drawn.reference_image, count)
    save_images(root / "clean", drawn.clean_image, count)
    save_prompts(root / "prompts.csv", count)
    return root


def compared(root, *generated, more="", reference="real"):
    named = " ".join(f"{name.partition('/')[0]}={root / name.rpartition('/')[2]}" for name in generated)
    return frechet(
        f"--reference {root}/{reference} --prompts {root}/prompts.csv --results {root}/results --backbones tiny "
        f"--format json {more} --generated {named}"
    )


def rows(result, generator="clean"):
    """A generator's figures by metric."""
    assert result.exit_code == 0, result.output
    return {row["metric"]: row for row in json.loads(result.stdout)["figures"] if row["generator"] == generator}


def values(figures):
    return {metric: row["value"] for metric, row in figures.items()}


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    root = folders(tmp_path_factory.mktemp("images"), COUNT)
    save_images(root / "swapped", lambda row: drawn.clean_image((row + 1) % COUNT), COUNT)
    table(root / "rates.csv", "generator,rate,rank|clean,61%,1|swapped,20%,3|real,55%,2")
    return root


@pytest.fixture(scope="module")
def made(root):
    """Two generators and the reference as a third, rated by people; the reference's statistics saved as real-*.npz."""
    more = f"--human {root}/rates.csv --save-reference {root}/Real.npz"
    return compared(root, "clean", "swapped", "real", more=more)


# ---- runs


def test_every_figure_of_every_generator_comes_in_one_table(made):
    clean, swapped = rows(made), rows(made, "swapped")
    # Swapped prompts: the set of images is the same, so no distance of sets sees it, and cFreD does.
    assert clean["fd"]["value"] == pytest.approx(swapped["fd"]["value"], rel=1e-6)
    assert swapped["cfred"]["value"] > 1.5 * clean["cfred"]["value"] > 0
    assert clean["cfred"]["backbone"] == "tiny|tiny"
    assert clean["cfred"]["warnings"][0].startswith("36 prompts are fewer than twice the 128 dimensions")
    people = json.loads(made.stdout)["people"]
    assert people["metric"] == "human_rate" and people["ratings"] == pytest.approx([0.61, 0.20, 0.55])
    assert len(people["agreements"]) == len(people["metrics"]) and people["agreements"][0]["pearson"]["low"] is None


def test_the_runs_are_a_suite_of_their_own_that_people_rank_and_those_against_statistics_hide_none(
    without_imports, made, root, tmp_path
):
    compared(root, "clean", reference="real-tiny.npz")
    assert [path.stem for path in (root / "results" / "suites").glob("*.json")] == ["generators-prompts"]
    runs = [json.loads(path.read_text())["settings"] for path in (root / "results").glob("own__clean/*/*/run.json")]
    for run in runs:
        assert bool(run["found"]["tiny"]["fd"]["left_out"]) == ("statistics" not in run["data"])
    assert {"statistics" in run["data"] for run in runs} == {False, True}
    report = build.build(tmp_path / "own.duckdb", results=root / "results")
    assert not [problem for problem in report.problems if "own" in problem or "generators" in problem]
    frames = store.frames(tmp_path / "own.duckdb", names=("leaderboard_scores", "models", "suites", "items", "runs"))
    main = frames["runs"].query("model == 'own/clean' and main")
    assert [json.loads(settings)["variant"] for settings in main["settings"]] == [""]
    scores = frames["leaderboard_scores"]
    own = scores[scores["suite"] == "generators-prompts"]
    assert set(own["benchmark"]) == {"own"} and set(own["origin"]) == {"computed"}
    assert set(own["model"]) == {"own/clean", "own/swapped", "own/real"} and {"cfred", "fd"} <= set(own["metric"])
    assert {"default", "tiny", "tiny|tiny"} == set(own["subset"])
    assert len(own) == scores["model"].str.startswith("own/").sum(), "never among published rows"
    models, suites = (frames[name].set_index("key") for name in ("models", "suites"))
    assert models.loc["own/clean", ["kind", "title"]].tolist() == ["generator", "clean"]
    assert suites.loc["generators-prompts", ["aggregate", "title"]].tolist() == ["human", "Own generators: prompts"]
    rate = own[own["metric"] == "human_rate"].set_index("model")["value"]
    assert rate.to_dict() == pytest.approx({"own/clean": 0.61, "own/swapped": 0.20, "own/real": 0.55})
    assert frames["items"]["run"].str.startswith("computed/own/").sum() == 4 * COUNT


def test_another_generator_joins_the_suite_and_no_image_is_encoded_twice(made, root):
    shards = sorted((root / "results" / "features").rglob("*.safetensors"))
    again = compared(root, "copy/real")
    assert {metric: values(rows(again, "copy"))[metric] for metric in ("fd", "cfred")} == pytest.approx(
        {"fd": 0, "cfred": 0}, abs=1e-6
    )
    assert sorted((root / "results" / "features").rglob("*.safetensors")) == shards
    assert "36 of 36 images are exact copies of reference images" in json.loads(again.stdout)["warnings"][0]
    record = json.loads((root / "results" / "suites" / "generators-prompts.json").read_text())
    assert [row["key"] for row in record["models"]] == ["own/clean", "own/swapped", "own/real", "own/copy"]


# ---- saved references


def test_against_saved_statistics_distances_are_those_of_the_images_and_others_say_why_not(made, root):
    whole, against = rows(made), rows(compared(root, "clean", reference="Real.npz"))
    assert against.keys() == whole.keys()
    for metric in ("fd", "cfred", "clipscore", "vendi"):  # the last two take no reference
        assert against[metric]["value"] == pytest.approx(whole[metric]["value"], rel=1e-6)
    for metric in ("cmmd", "kid", "precision", "recall", "density", "coverage"):
        assert against[metric]["value"] is None and "a saved reference holds only moments" in against[metric]["reason"]
    # The interval and the value at infinite N are over the generator's images; prompts cannot leave a saved reference.
    assert against["fd"]["low"] < against["fd"]["value"] < against["fd"]["high"]
    assert any("the reference's 36 images stays" in line for line in against["fd"]["warnings"])
    assert against["cfred"]["low"] is None and against["cfred"]["limit"] is None
    assert sum("a saved reference cannot omit a prompt" in line for line in against["cfred"]["warnings"]) == 2
    # One backbone's file serves its distance, and with the prompts' cFreD too.
    plain, paired = (rows(compared(root, "clean", reference=f"real-{name}.npz")) for name in ("tiny", "tiny-tiny"))
    assert plain["fd"]["value"] == pytest.approx(paired["fd"]["value"]) and paired["cfred"]["value"] is not None
    assert plain["cfred"]["reason"] == "the saved reference has no statistics under tiny with tiny"


def test_python_takes_the_file_the_loaded_record_and_moments_of_features(made, root):
    fields = {"generated": {"mine": root / "clean"}, "backbones": "tiny", "metrics": "fd", "device": "cpu"}
    fields["features"] = root / "results" / "features"
    loaded = SavedReference.read(root / "real-tiny.npz")
    references = (root / "real", root / "Real.npz", str(root / "real-tiny.npz"), loaded)
    found = [compute.frechet(reference=each, **fields).value("fd", "mine") for each in references]
    assert found == pytest.approx([found[0]] * 4)
    real, generated, text = np.random.default_rng(0).normal(size=(3, 80, 5))
    plain = compute.frechet(reference=real, generated={"a": generated}, condition=text, intervals=False)
    for moments, metrics in (
        (Moments.of(real), ("fd",)),
        (CrossMoments.of(images=real, condition=text), ("fd", "cfred")),
    ):
        against = compute.frechet(reference=moments, generated={"a": generated}, condition=text)
        for metric in metrics:
            assert against.value(metric, "a") == pytest.approx(plain.value(metric, "a"), rel=1e-9)


def test_statistics_of_others_are_refused(made, root, tmp_path):
    saved, paired = (SavedReference.read(root / f"real-{name}.npz") for name in ("tiny", "tiny-tiny"))
    assert saved.moments.n == COUNT and saved.source == str(root / "real") and paired.condition["backbone"] == "tiny"
    assert not {"device", "packages"} & set(saved.images["preprocessing"])  # of another machine they would serve
    for origin, word in (
        (saved.images | {"backbone": "conse"}, "conse"),
        (saved.images | {"preprocessing": {**saved.images["preprocessing"], "dtype": "x"}}, "dtype"),
    ):
        replace(saved, name="other", images=origin).write(root)
        assert_refused(compared(root, "clean", reference="other.npz"), BadInput, word)
    found = opened(root / "Real.npz", chosen=BUNDLED)
    assert sorted(found) == ["tiny", "tiny|tiny"] and {each.moments.n for each in found.values()} == {COUNT}
    for each in (saved, paired):
        replace(each, contents=each.name).write(tmp_path)
    for name, error in (("real", BadInput), ("none", NotHere)):
        with pytest.raises(error, match="images|none.npz"):
            opened(tmp_path / f"{name}.npz", chosen=BUNDLED)
    twice = compared(root, "clean", reference="Real.npz", more=f"--save-reference {tmp_path}/again.npz")
    assert_refused(twice, BadInput, "is saved already")
    table(tmp_path / "prompts.txt", "|".join(f"prompt {row}" for row in range(COUNT)))
    other = compared(root, "clean", reference="Real.npz", more=f"--prompts {tmp_path}/prompts.txt")
    assert "conditions" in rows(other)["cfred"]["reason"]


COCO = SavedReference(
    name="coco",
    moments=Moments.of(np.random.default_rng(0).standard_normal((40, 6))),
    images={"backbone": "tiny", "preprocessing": {"size": [32, 32], "resample": "bicubic"}},
    source="40 drawn images",
)


def test_a_record_serves_what_was_made_alike(tmp_path):
    read = SavedReference.read(COCO.write(tmp_path / "references"))
    assert read.images == COCO.images
    read.check("tiny", {"size": (32, 32), "resample": "bicubic", "device": "cuda"})
    read.check("dinov2", {"size": 1})  # of no side
    with pytest.raises(BadInput, match="bilinear"):
        read.check("tiny", {"size": [32, 32], "resample": "bilinear"})


def test_damaged_and_other_files_are_refused(tmp_path):
    path = COCO.write(tmp_path)
    original = path.read_bytes()
    for data in (b"", b"not a zip", original[:200], original[:-50]):
        path.write_bytes(data)
        with pytest.raises(BadInput, match=r"coco\.npz"):
            SavedReference.read(path)
    np.savez(path, facts=np.array([{"a": 1}], dtype=object))  # a pickle
    with pytest.raises(BadInput, match=r"coco\.npz"):
        SavedReference.read(path)
    spoilt = Moments(n=40, mean=np.full(6, np.nan), scatter=np.eye(6))
    with pytest.raises(BadInput, match="NaN"):
        SavedReference.read(replace(COCO, moments=spoilt).write(tmp_path))


def test_only_backbones_with_something_to_compute_are_encoded():
    narrowed = PAPERS.beside(["inception-v3"])
    assert narrowed.cmmd == "" and narrowed.cfred == narrowed.text == ()
    assert narrowed.image == PAPERS.image  # the Vendi score takes no reference
    assert replace(PAPERS, metrics=("fid", "fd_dinov2")).beside(["inception-v3"]).keys == ("inception-v3",)
    assert choose("tiny,conse,tiny").image == ("tiny", "conse")
    assert choose("paper,inception-v3").image == PAPERS.image


# ---- what is odd or broken


@pytest.fixture
def few(tmp_path):
    return folders(tmp_path, FEW)


def of_one_prompt(root):
    table(root / "prompts.csv", "image,prompt|" + "|".join(f"{row:03}.png,a red ball" for row in range(FEW)))


def broken(root):
    path = root / "clean/003.png"
    path.write_bytes(path.read_bytes()[:200])


@pytest.mark.parametrize(
    "change, words, left",
    [
        (lambda root: [(root / f"clean/{row:03}.png").unlink() for row in range(1, FEW)], "1 of 8 prompts", 1),
        (of_one_prompt, "more than once", FEW),
        (broken, "clean/003.png", FEW - 1),
    ],
)
def test_what_is_odd_is_said_beside_defined_numbers(change, words, left, few):
    change(few)
    found = rows(compared(few, "clean", more="--skip-bad-items"))  # JSON, which allows no NaN
    assert {row["n"] for row in found.values()} == {left}
    assert all((row["value"] is None) == bool(row["reason"]) for row in found.values())
    assert any(row["value"] is not None for row in found.values())
    [run] = (few / "results").glob("own__clean/**/run.json")
    assert any(words in line for line in json.loads(run.read_text())["settings"]["warnings"])


def test_one_backbone_is_in_memory_at_a_time(few, monkeypatch):
    loaded, load = [], models.load

    def watched(*row, **how):
        gc.collect()
        assert not any(each() for each in loaded), "the backbone before is still in memory"
        model = load(*row, **how)
        loaded.append(weakref.ref(model))
        return model

    monkeypatch.setattr(models, "load", watched)
    compared(few, "clean", more="--metrics fd --backbones tiny,efficientnet-lite0")
    assert len(loaded) == 2


def test_the_table_is_printed_before_a_full_disk_refuses_it(few, monkeypatch):
    monkeypatch.setattr(interface, "stored", Mock(side_effect=CannotWrite("the disk is full")))
    ended = compared(few, "clean", more="--metrics fd")
    assert ended.exit_code and "the disk is full" in ended.output and json.loads(ended.stdout)["figures"]


@pytest.mark.parametrize(
    "change, words, more",
    [
        (lambda root: table(root / "prompts.csv", "image,prompt|000.png,a|001.png, "), "row 2", ""),
        (broken, "clean/003.png", ""),
        (lambda root: [path.unlink() for path in (root / "clean").iterdir()], "clean holds no image", ""),
        (lambda root: (root / "clean").rename(root / "other"), "There is no ", ""),
        (None, "'clean' is named twice", "--generated clean=real"),
        (None, "hf download org/none --repo-type dataset", "--generated b=hf://datasets/org/none --offline"),
        (None, "inception-v3", "--metrics fid"),
        (None, "text, csv, json", "--format xml"),
    ],
)
def test_what_cannot_be_compared_is_one_line_that_names_it(change, words, more, few, monkeypatch):
    monkeypatch.chdir(few)
    if change:
        change(few)
    refused = compared(few, "clean", more=more)
    assert_refused(refused, LikenessError, words)
    assert refused.stdout == "" and not (few / "results" / "suites").exists()


def test_missing_weights_are_named_at_once_with_the_way_without_a_network(few):
    missing = "timm/vit_giant_patch14_dinov2.lvd142m, open_clip/convnext_base_w"
    refused = compared(few, "clean", more="--offline --backbones paper")
    assert_refused(refused, NotHere, missing, "likeness fetch --models", "--backbones tiny runs anywhere")
    assert not (few / "results" / "features").exists()


def test_metrics_that_need_prompts_say_so(few):
    plain = f"--reference {few}/real --generated clean={few}/clean --backbones tiny --results {few}/results"
    said = rows(frechet(f"{plain} --metrics fd,cfred,clipscore --format json"))
    assert said["fd"]["reason"] == ""
    assert "no prompts: give --prompts" in said["cfred"]["reason"] == said["clipscore"]["reason"]
    assert_refused(frechet(f"{plain} --metrics cfred"), BadInput, "cfred: the images have no prompts. Give --prompts")


REAL, MADE = (np.random.default_rng(seed).normal(size=(40, 6)) for seed in (0, 1))


@pytest.mark.parametrize(
    "generated, words",
    [
        (np.where(np.arange(40)[:, None] == 3, np.nan, MADE), "row 3"),
        (MADE[:, :5], "dimensions|features an image|5"),
        (MADE[:1], ""),
        (np.where(np.arange(6) == 2, 0.0, MADE), ""),
        (np.zeros((40, 6)), ""),
        (REAL, ""),
        (np.rint(MADE * 9).astype(np.int64), ""),
    ],
)
def test_features_give_numbers_or_reasons_never_nan(generated, words):
    compared = compute.frechet(reference=REAL, generated={"mine": generated})
    with pytest.raises(BadInput, match="fid"):
        compared.value("fid", "mine")
    frame = compared.frame()
    numbers = frame[["value", "low", "high", "stderr", "limit", "limit_low", "limit_high"]]
    assert len(frame) >= 8 and not np.isinf(numbers).any(axis=None)
    assert (numbers["value"].isna() == (frame["reason"] != "")).all()
    if words:
        assert frame.query("metric not in ('vendi', 'cfred')")["value"].isna().all()
        assert any(each in " ".join(frame["reason"]) for each in words.split("|"))
    else:
        assert numbers["value"].notna().any()


@pytest.mark.parametrize(
    "given, words",
    [
        ({"generated": {"a": MADE[:39]}, "condition": MADE}, "condition"),
        ({"generated": {"a": "folder"}}, "mixed"),
        ({"generated": {"reference": MADE}}, "named 'reference'"),
        ({"generated": {}}, "No generator"),
        ({"generated": {"my model": "a", "my-model": "b"}, "store": True}, "one key"),
    ],
)
def test_features_that_cannot_be_compared_are_refused(given, words):
    with pytest.raises(BadInput, match=words):
        compute.frechet(reference=REAL, **given)
