"""Sets of images from folders, shards, tables and Python, paired by prompt: what is odd is named and counted."""

from __future__ import annotations

import io
import tarfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from PIL import Image

from compute.tasks.generators import pairing, sources
from compute.tasks.generators.pairing import prompts_of
from compute.tasks.generators.sources import ImageSet
from compute.tasks.source import Source
from compute.types import BadInput, NotHere
from tests.compute.tasks.hub_files import png

SOURCE = Source(offline=True)


def picture(seed: int, size: tuple[int, int] = (20, 16)) -> Image.Image:
    return Image.fromarray(np.random.default_rng(seed).integers(0, 255, (size[1], size[0], 3), dtype=np.uint8))


def folder(path: Path, names: list[str], *, first: int = 0) -> Path:
    for at, name in enumerate(names):
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        picture(first + at).save(path / name)
    return path


def tar(path: Path, files: dict[str, bytes]) -> Path:
    with tarfile.open(path, "w") as archive:
        for name, data in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return path


def opened(name: str, where: Path | str, **options: bool) -> ImageSet:
    return sources.opened(name, where, source=SOURCE, **options)


def test_a_folder_pairs_with_a_table_of_prompts_whatever_the_ending(tmp_path):
    reference = opened("reference", folder(tmp_path / "real", ["a/1.png", "a/2.png", "a/\u00e9.png"]))
    mine = opened("mine", folder(tmp_path / "mine", ["a/e\u0301.jpg", "a/1.webp", "a/2.png"], first=10))
    (tmp_path / "p.csv").write_text('Image,Prompt\na/1.png,"one, two"\na/2.jpg,second\na/e\u0301,third\n')
    sets = pairing.pair(reference=reference, generated=[mine], prompts=prompts_of(tmp_path / "p.csv"))
    assert sets.ids == ("a/1", "a/2", "a/\u00e9") and sets.texts == ("one, two", "second", "third")
    assert [part.ids for part in sets.sets] == [sets.ids, sets.ids] and sets.warnings == ()
    assert sets.generated[0].images.name(0) == "mine/a/1.webp"
    assert Image.open(io.BytesIO(sets.reference.images.read(2))).size == (20, 16)


def test_missing_and_extra_images_are_named_and_counted(tmp_path):
    reference = opened("reference", folder(tmp_path / "real", [f"{n}.png" for n in range(9)]))
    mine = opened("mine", folder(tmp_path / "mine", [f"{n}.png" for n in (0, 1, 7, 8, 20)], first=40))
    listed = prompts_of({f"{n}.png": f"prompt {n}" for n in range(8)})
    sets = pairing.pair(reference=reference, generated=[mine], prompts=listed)
    assert sets.ids == ("0", "1", "7")
    assert [line.partition(":")[0] for line in sets.warnings[:3]] == ["reference", "mine", "mine"]
    assert "5 prompts (2, 3, 4 and 2 more)" in sets.warnings[1] and sets.warnings[3].startswith("3 of 8 prompts")
    with pytest.raises(BadInput, match="share no prompt"):
        pairing.pair(reference=reference, generated=[mine], prompts=prompts_of({"z": "z"}))


def test_lines_of_text_go_with_images_in_natural_order_and_must_be_as_many(tmp_path):
    mine = opened("mine", folder(tmp_path / "mine", ["10.png", "2.png", "1.png"]))
    real = opened("real", folder(tmp_path / "real", ["x.png", "y.png", "z.png"], first=9))
    path = tmp_path / "prompts.txt"
    path.write_text("one\ntwo\nten\n")
    sets = pairing.pair(reference=real, generated=[mine], prompts=prompts_of(path))
    assert [sets.generated[0].images.name(row) for row in range(3)] == ["mine/1.png", "mine/2.png", "mine/10.png"]
    path.write_text("one\ntwo\n")
    with pytest.raises(BadInput, match="prompts.txt"):
        pairing.pair(reference=real, generated=[mine], prompts=prompts_of(path))


def test_repeated_images_and_a_table_without_prompts_are_refused(tmp_path):
    path = tmp_path / "p.jsonl"
    path.write_text('{"id": "1.png", "caption": "a"}\n{"id": "1.jpg", "caption": "b"}\n')
    with pytest.raises(BadInput, match="more than once"):
        prompts_of(path)
    (tmp_path / "p.csv").write_text("id,words\n1,a\n")
    with pytest.raises(BadInput, match="column"):
        prompts_of(tmp_path / "p.csv")
    twice = prompts_of({"1": "a", "2": "a"})
    assert "more than once" in twice.warnings[0]
    folder(tmp_path / "same", ["1.png", "1.jpg"])
    with pytest.raises(BadInput, match="several images"):
        opened("mine", tmp_path / "same")


def test_images_that_do_not_show_their_colours_are_said(tmp_path):
    path = folder(tmp_path / "mine", ["plain.png"])
    picture(3).convert("RGBA").save(path / "clear.png")
    picture(4).convert("CMYK").save(path / "print.jpg")
    text = "\n".join(opened("mine", path).warnings)
    assert "transparency" in text and "CMYK" in text


def test_webdataset_shards_pair_by_their_prompts_and_are_never_unpacked(tmp_path):
    files = {"a.png": png(picture(1)), "a.txt": b"a dog\n", "b.seg.png": png(picture(9)), "b.jpg": png(picture(2))}
    first = tar(tmp_path / "0.tar", files | {"b.json": b'{"prompt": "a cat"}'})
    second = tar(tmp_path / "1.tar", {"x/c.png": png(picture(3)), "x/c.txt": b"a cow"})
    real = sources.from_tars("reference", [first, second])
    assert real.ids == ("a", "b", "x/c") and real.prompts == ("a dog", "a cat", "a cow")
    assert real.images.read(1) == png(picture(2))
    other = tar(
        tmp_path / "2.tar", {"8.png": png(picture(4)), "8.txt": b"a cow", "9.png": png(picture(5)), "9.txt": b"a dog"}
    )
    sets = pairing.pair(reference=real, generated=[sources.from_tars("mine", [other])], prompts=None)
    assert "1 image (b.seg.png) not used" in real.warnings[0] and "first dot" in real.warnings[0]
    with pytest.raises(BadInput, match=r"no image .*cfg7\.3\.png"):
        opened("mine", tar(tmp_path / "3.tar", {f"cfg7.{at}.png": png(picture(at)) for at in (3, 4)}))
    (tmp_path / "3.tar").unlink()
    assert sets.texts == ("a dog", "a cow") and sets.generated[0].images.read(0) == png(picture(5))
    assert "mine: 1 prompt (b) without an image" in sets.warnings
    assert sorted(path.name for path in tmp_path.iterdir()) == ["0.tar", "1.tar", "2.tar"]


def test_hostile_shards_are_refused(tmp_path):
    with tarfile.open(tmp_path / "link.tar", "w") as archive:
        info = tarfile.TarInfo("a.png")
        info.type, info.linkname = tarfile.SYMTYPE, "/etc/passwd"
        archive.addfile(info)
    with pytest.raises(BadInput, match="no image"):
        opened("mine", tmp_path / "link.tar")
    twice = tar(tmp_path / "twice.tar", {"a.png": png(picture(1)), "a.jpg": png(picture(2))})
    with pytest.raises(BadInput, match="two images"):
        opened("mine", twice)
    whole = tar(tmp_path / "cut.tar", {"a.png": png(picture(1))}).read_bytes()
    (tmp_path / "cut.tar").write_bytes(whole[:700])
    with pytest.raises(BadInput, match="cut.tar"):
        opened("mine", tmp_path / "cut.tar")
    (tmp_path / "zipped.tar").write_bytes(b"\x1f\x8b" + bytes(600))
    with pytest.raises(BadInput, match="zipped.tar"):
        opened("mine", tmp_path / "zipped.tar")


def test_tables_of_the_hub_pair_by_prompt_where_row_numbers_mean_nothing(tmp_path):
    for name, order in (("one", (0, 1, 2)), ("two", (2, 0, 1))):
        place = tmp_path / "org" / name / "data"
        place.mkdir(parents=True)
        rows = [{"Prompt": f"prompt {n}", "images": {"bytes": png(picture(n)), "path": None}} for n in order]
        pq.write_table(pa.Table.from_pylist(rows), place / "train-00000-of-00001.parquet")
    source = Source(root=tmp_path, offline=True)
    real = sources.opened("reference", "hf://datasets/org/one#default/train", source=source)
    mine = sources.opened("mine", "hf://datasets/org/two@main", source=source)
    sets = pairing.pair(reference=real, generated=[mine], prompts=None)
    assert (sets.reference.images.keys == sets.generated[0].images.keys).all() and len(sets.ids) == 3
    assert sets.warnings == ("mine: 3 of 3 images are exact copies of reference images",)
    with pytest.raises(NotHere, match="org/three"):
        sources.opened("x", "hf://datasets/org/three", source=source)
    with pytest.raises(BadInput, match="address"):
        sources.opened("x", "hf://datasets/three", source=source)


def test_images_from_python_are_taken_once_and_refused_by_position(tmp_path):
    part = sources.from_images("mine", iter([picture(0), np.asarray(picture(1))]), spool=tmp_path / "spool")
    stored = Image.open(io.BytesIO(part.images.read(1)))
    assert part.ids == ("0", "1") and (np.asarray(stored) == np.asarray(picture(1))).all()
    with pytest.raises(BadInput, match="uint8"):
        sources.from_images("mine", [picture(0), np.zeros((4, 4, 3))], spool=tmp_path / "other")


def test_without_prompts_nothing_is_paired_and_unlike_counts_are_said(tmp_path):
    real = opened("reference", folder(tmp_path / "real", ["1.png", "2.png", "3.png"]))
    few = opened("few", folder(tmp_path / "few", ["q.png"], first=30))
    many = opened("many", folder(tmp_path / "many", ["r.png", "s.png"], first=40))
    sets = pairing.pair(reference=real, generated=[few, many], prompts=None)
    assert sets.prompts is None and [len(part) for part in sets.sets] == [3, 1, 2]
    assert "few has 1 images and many 2: Fréchet distances fall as N grows" in sets.warnings[0]
    with pytest.raises(BadInput, match="few"):
        pairing.pair(reference=real, generated=[few, few], prompts=None)
