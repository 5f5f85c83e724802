"""Files of the results that are damaged, or hold what cannot be: each is named and left out, all else is served."""

import json
import os
import shutil

import pytest

from compute import paths
from compute.database import build, store
from compute.engine import speeds, thumbnails
from compute.engine.run_folders import ITEMS, MARK
from compute.importing import collection
from compute.importing.collection import Imported
from compute.types import DatabaseError, Run, Score
from tests.compute.test_build_computed import CLIP, OTHER, keep

TASK = "unisim/nights"


def changed(folder, **changes):
    """Sets fields of the run, and those of its first score where they begin with `score_`."""
    record = json.loads((folder / MARK).read_text())
    for name, value in changes.items():
        target = record["scores"][0] if name.startswith("score_") else record
        target[name.removeprefix("score_")] = value
    (folder / MARK).write_text(json.dumps(record))


def copy_sql(path, sql):
    """Writes what a query gives as Parquet."""
    import duckdb

    path.parent.mkdir(parents=True, exist_ok=True)
    duckdb.sql(sql).write_parquet(str(path))


def item(**columns):
    """A query for one sound item, but for these columns."""
    sound = {"item": "'a'", "subset": "'x'", "expected": "'A'", "answer": "'A'", "correct": "true", "value": "1.0"}
    return "SELECT " + ", ".join(f"{sql} AS {name}" for name, sql in ({**sound, "detail": "'{}'"} | columns).items())


def imported(folder, name, **changes):
    """A collection of one run and score, one field changed after it was checked on its way in."""
    run = Run(id=f"csv/{name}", model=CLIP, task=TASK, origin="imported", source="a file")
    score = Score(run=run.id, subset="default", metric="accuracy", value=0.25, n=4)
    target, _ = collection.save(Imported(runs=(run,), scores=(score,)), name=name, folder=folder)
    for table, values in changes.items():
        file = target / json.loads((target / collection.MARK).read_text())["files"][table]
        if isinstance(values, bytes):
            file.write_bytes(values)
        else:
            store.write_parquet(file, frame=store.read_parquet(file).assign(**values))


def test_every_bad_file_is_named_and_all_else_is_served(tmp_path, monkeypatch):
    results = tmp_path / "r[12]*" / "item=9"  # a name, and no pattern
    monkeypatch.setattr(paths, "COMPUTED", tmp_path / "computed")
    monkeypatch.setattr(paths, "IMPORTED", tmp_path / "shipped")
    monkeypatch.setattr(paths, "PROJECTIONS", tmp_path / "projections.csv")
    bad = []

    def wrong(mark, *words):
        """A sound run folder, to be spoilt; the report must name it with these words."""
        bad.append((f"nights/{mark}", *words))
        return keep(results, model=OTHER, mark=mark).folder

    good = keep(results, value=0.75)
    future = keep(results, mark="future", value=0.9, started="2999-01-01T00:00:00+00:00")
    bad.append(("nights/future", "is dated 2999-01-01", "in the future"))
    # Run folders.
    changed(wrong("negative", "stderr"), score_stderr=-1)
    changed(wrong("huge", "12345"), score_value=12345)
    changed(wrong("subset", "is not a subset of"), score_subset="nowhere")
    changed(wrong("stolen", "published/x"), id="published/x")
    (wrong("deep", "lists within lists") / MARK).write_text('{"settings": ' * 100_000)
    (wrong("infinite", "Out of range") / MARK).write_text('{"seconds": 1e999}')
    os.unlink(wrong("missing", "No such file") / ITEMS)
    link = wrong("link", "a link out of the folder") / ITEMS
    shutil.move(link, tmp_path / "outside.parquet")
    link.symlink_to(tmp_path / "outside.parquet")
    # Items: the run itself is sound and stays.
    items = {
        "schema": "SELECT 1 AS colour",
        "types": item(correct="'maybe'"),
        "twice": f"{item()} FROM range(2)",
        "long": item(item="repeat('x', 2000)"),
        "list": item(detail="'[1]'"),
        "images": item(detail="""'{"images": 7}'"""),
        "depth": item(detail="""concat('{"texts": ', repeat('[', 100000), repeat(']', 100000), '}')"""),
        "score": item(detail="""'{"scores": ["high"]}'"""),
    }
    for mark, sql in items.items():
        copy_sql(wrong(mark, "items.parquet", "its pictures or items are skipped") / ITEMS, sql)
    # Pictures, calibrations, imports, the shipped map.
    copy_sql(thumbnails.path(results, TASK), "SELECT 'k' AS image, encode(repeat('x', 1000000)) AS webp")
    bad.append(("thumbnails/unisim__nights.parquet", "too large"))
    for pairing, text in {"image-image": "[" * 100_000, "image-text": '{"settings": {}, "x": NaN}'}.items():
        file = results / "calibrations" / "openai__clip-vit-base-patch32" / "drawn" / f"{pairing}.json"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        bad.append((f"drawn/{pairing}.json", "is skipped"))
    imported(results / "imported", "sound")
    for name, changes, reason in (
        ("cut", {"scores": b"PAR1"}, "cannot be read"),
        ("who", {"runs": {"model": "nobody/knows"}}, "nobody/knows"),
        ("owner", {"runs": {"origin": "published"}}, "imported"),
        ("metric", {"scores": {"metric": "unheard"}}, "unheard"),
    ):
        imported(results / "imported", name, **changes)
        bad.append((f"Imported collection {name} ", reason))
    paths.PROJECTIONS.write_text("kind,key,x,y,cluster,settings\nmodels:mini,a,inf,0,1,{}\n")
    bad.append(("projections.csv", "position"))
    heading = (paths.CATALOG / speeds.FILE).read_text().partition("\n")[0]
    (results / speeds.FILE).write_text(f"{heading}\n{CLIP},here,fast,,,,1,float32,,measured here\n")
    bad.append((speeds.FILE, "fast"))

    report = build.build(tmp_path / "own.duckdb", results=results)
    wrong_lines = []
    for name, *words in bad:
        lines = [line for line in report.problems if name in line]
        if len(lines) != 1 or not all(word in lines[0] for word in words) or len(lines[0]) > 500:
            wrong_lines.append((name, words, lines))
    assert wrong_lines == []
    assert len(report.problems) == len(bad)
    with store.connect(report.path) as connection:
        runs = connection.execute(
            "SELECT fingerprint, main FROM runs WHERE origin = 'computed' AND model = ? ORDER BY 1", [CLIP]
        ).fetchall()
        assert runs == [(good.run.fingerprint, True), (future.run.fingerprint, False)]
        kept = connection.execute(
            "SELECT fingerprint FROM runs WHERE origin = 'computed' AND model = ? ORDER BY 1", [OTHER]
        ).fetchall()
        assert [mark for (mark,) in kept] == sorted(items)
        [(count,)] = connection.execute(
            "SELECT count(*) FROM scores JOIN runs ON run = id WHERE id LIKE 'csv/%'"
        ).fetchall()
        assert count == 1
        assert connection.execute("SELECT count(*) FROM items").fetchall() == [(6,)]  # of the two sound runs


def test_a_file_that_unpacks_to_more_than_any_sound_one_is_refused(tmp_path):
    """Before a byte of it is unpacked: what its own footer says is enough."""
    path = tmp_path / "bomb.parquet"
    copy_sql(path, "SELECT repeat('x', 1000) AS image FROM range(10_000)")
    assert path.stat().st_size < 1_000_000
    assert len(store.read_parquet(path)) == 10_000
    with pytest.raises(DatabaseError, match="bomb.parquet cannot be read as Parquet: it unpacks to"):
        store.read_parquet(path, most_rows=9_999)


def test_a_truncated_database_is_rebuilt_and_another_file_is_not(without_imports, tmp_path):
    path, lines = tmp_path / "own.duckdb", []
    build.build(path, results=tmp_path)
    whole = path.read_bytes()
    for content, stale in ((b"another program's " * 1000, False), (b"", True), (whole[:5_000], True)):
        path.write_bytes(content)
        assert build.is_stale(path, results=tmp_path) is stale
    path.write_bytes(whole[:-1_000_000])
    assert build.bring_up_to_date(path, results=tmp_path, report=lines.append)
    assert lines == ["Building own.duckdb ..."] and not build.is_stale(path, results=tmp_path)


def test_dates_decide_nothing(without_imports, tmp_path):
    """A source dated in the future, or touched, was not changed; one that is changed and dated back was."""
    results, path = tmp_path / "results", tmp_path / "own.duckdb"
    folder = keep(results).folder
    os.utime(folder / MARK, (4_000_000_000, 4_000_000_000))
    build.build(path, results=results)
    assert not build.is_stale(path, results=results)
    os.utime(folder / MARK, (4_100_000_000, 4_100_000_000))
    assert not build.is_stale(path, results=results)
    changed(folder, seconds=1.0)
    os.utime(folder / MARK, (1_000_000_000, 1_000_000_000))
    assert build.is_stale(path, results=results)
    build.build(path, results=results)
    shutil.rmtree(folder)
    assert build.is_stale(path, results=results)
    path.unlink()
    assert build.is_stale(path, results=results)
