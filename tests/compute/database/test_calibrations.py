"""Calibrations in results folders and in the database: what is read, what is left out and said, what makes it stale."""

import json
from dataclasses import asdict, replace

import numpy as np
import pytest

from compute import paths
from compute.analysis import calibrated
from compute.analysis.calibrated import Reference
from compute.catalog import known
from compute.database import build
from compute.engine import run_folders
from compute.io.files import read_record
from leaderboard.data.database import Database

CLIP, OTHER = "openai/clip-vit-base-patch32", "ssim"
ROWS = {row.key: row for row in known().models}
MODELS = {CLIP: {"adapter": "clip", "revision": ROWS[CLIP].revision}, OTHER: {"adapter": "ssim"}, "nobody/knows": {}}


def keep(root, *, model=CLIP, pairing="image-image", start=0.0, **changes):
    """A file as the earlier command wrote it."""
    spread = start + np.linspace(0, 1, 50)
    reference = calibrated.measured(
        model=model,
        pairing=pairing,
        unrelated=spread,
        source="t",
        matching=() if pairing == "quality" else spread + 1,
        synthetic=False,
        domain="tasks",
        scenes=50,
    )
    path = root / "calibrations" / run_folders.slug(model) / "tasks" / f"{pairing}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    settings = {"seed": 3, "model": MODELS[model] | changes}
    path.write_text(run_folders.canonical(asdict(reference) | {"settings": settings}))
    return path


@pytest.fixture
def shipped(tmp_path, monkeypatch):
    """An own folder in the place of what is shipped."""
    monkeypatch.setattr(paths, "IMPORTED", tmp_path / "imported")  # none: a build takes a quarter of the time
    monkeypatch.setattr(paths, "COMPUTED", tmp_path / "assets" / "computed")
    return tmp_path / "assets" / "computed"


def test_the_database_holds_them_where_they_are_of_the_models_here_else_the_next_roots(tmp_path, shipped):
    results = tmp_path / "results"
    keep(shipped, pairing="quality")
    keep(shipped)
    keep(shipped, pairing="text-text")
    keep(results, start=0.5)
    keep(results, pairing="quality", device="cuda", dtype="bfloat16")
    keep(results, pairing="text-text", start=0.5, revision="0" * 40)
    damaged = keep(results, model=OTHER)
    damaged.write_text(json.dumps(json.loads(damaged.read_text()) | {"unrelated": [1, 0]}))
    keep(shipped, model="nobody/knows")
    report = build.build(tmp_path / "own.duckdb", results=results)
    unknown, other, damaged = sorted(report.problems)
    assert "'nobody/knows'" in unknown
    assert "ssim/tasks/image-image.json is skipped (The quantiles" in damaged
    assert other.startswith("calibrations/openai__clip-vit-base-patch32/tasks/text-text.json is skipped (of another ")
    assert f"revision was '{'0' * 40}' and is '{ROWS[CLIP].revision}'" in other
    db = Database(report.path)
    frame = db.query("calibrations")
    [settings] = db.ask("SELECT settings FROM calibrations WHERE pairing = 'image-image'")["settings"]
    db.close()
    assert json.loads(settings) == {"seed": 3, "model": MODELS[CLIP]}
    pair, alone, texts = (Reference(**row) for row in frame.to_dict("records"))
    assert (pair.model, pair.pairing, pair.domain, pair.scenes) == (CLIP, "image-image", "tasks", 50)
    assert calibrated.place(pair, 1.5).percentile == pytest.approx(50, abs=0.5) and pair.unrelated[0] == 0.5
    assert alone.alone and calibrated.place(alone, 0.25).percentile == pytest.approx(25, abs=0.5)
    assert (texts.pairing, texts.unrelated[0]) == ("text-text", 0)


def test_a_branch_may_have_moved_and_an_own_folder_may_not():
    clip = replace(ROWS[CLIP], revision="main")
    assert build.other_model(build.identity(clip), {"model": MODELS[CLIP]}) == ""
    tiny = read_record(paths.COMPUTED / "calibrations/tiny/drawn/image-image.json", root=paths.COMPUTED)["settings"]
    assert build.other_model(build.identity(ROWS["tiny"]), tiny) == ""
    other = {"model": tiny["model"] | {"revision": "files-0"}}
    assert build.other_model(build.identity(ROWS["tiny"]), other).startswith("revision was 'files-0' and is 'files-")
    assert build.other_model(build.identity(ROWS["tiny"]), {}).startswith("its model was not recorded")
