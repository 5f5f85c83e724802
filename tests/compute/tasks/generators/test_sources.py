"""Sets of images from folders, shards, tables and Python, paired by prompt: what is odd is named and counted."""

import io
import tarfile
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from compute.tasks import image_sets
from compute.tasks.image_sets import prompts_of
from compute.tasks.source import Source
from compute.types import BadInput, NotHere
from tests.compute.tasks import hub_files
from tests.compute.tasks.files import put, table
from tests.compute.tasks.hub_files import image, png

SOURCE = Source(offline=True)


picture = partial(image, size=(20, 16))


def tar(path, files):
    with tarfile.open(path, "w") as archive:
        for name, data in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return path


def opened(where, *names, first=0, source=SOURCE):
    """The set of a path, called as its last part; with names it is a folder, whose images are made first."""
    if names:
        put(where, {name: picture(first + at) for at, name in enumerate(names)})
    return image_sets.opened(str(where).rpartition("/")[2], where, source=source, spool=Path())


def paired(reference, *generated, prompts=None):
    return image_sets.pair(reference=reference, generated=generated, prompts=prompts_of(prompts))


def test_a_folder_pairs_with_a_table_of_prompts_whatever_the_ending(tmp_path):
    reference = opened(tmp_path / "reference", "a/1.png", "a/2.png", "a/\u00e9.png")
    mine = opened(tmp_path / "mine", "a/e\u0301.jpg", "a/1.webp", "a/2.png", first=10)
    path = table(tmp_path / "p.csv", 'Image,Prompt|a/1.png,"one, two"|a/2.jpg,second|a/e\u0301,third')
    sets = paired(reference, mine, prompts=path)
    assert sets.ids == ("a/1", "a/2", "a/\u00e9") and sets.texts == ("one, two", "second", "third")
    assert [part.ids for part in sets.sets] == [sets.ids, sets.ids] and sets.warnings == ()
    assert sets.generated[0].images.name(0) == "mine/a/1.webp"
    assert Image.open(io.BytesIO(sets.reference.images.read(2))).size == (20, 16)


def test_missing_and_extra_images_are_named_and_counted(tmp_path):
    reference = opened(tmp_path / "reference", *(f"{n}.png" for n in range(9)))
    mine = opened(tmp_path / "mine", "0.png", "1.png", "7.png", "8.png", "20.png", first=40)
    sets = paired(reference, mine, prompts={f"{n}.png": f"prompt {n}" for n in range(8)})
    assert sets.ids == ("0", "1", "7")
    assert [line.partition(":")[0] for line in sets.warnings[:3]] == ["reference", "mine", "mine"]
    assert "5 prompts (2, 3, 4 and 2 more)" in sets.warnings[1] and sets.warnings[3].startswith("3 of 8 prompts")
    with pytest.raises(BadInput, match="share no prompt"):
        paired(reference, mine, prompts={"z": "z"})


def test_lines_of_text_go_with_images_in_natural_order_and_must_be_as_many(tmp_path):
    mine = opened(tmp_path / "mine", "10.png", "2.png", "1.png")
    real = opened(tmp_path / "real", "x.png", "y.png", "z.png", first=9)
    path = table(tmp_path / "prompts.txt", "one|two|ten")
    sets = paired(real, mine, prompts=path)
    assert [sets.generated[0].images.name(row) for row in range(3)] == ["mine/1.png", "mine/2.png", "mine/10.png"]
    with pytest.raises(BadInput, match="prompts.txt"):
        paired(real, mine, prompts=table(path, "one|two"))


def test_what_is_odd_in_a_folder_or_a_list_of_prompts_is_said(tmp_path):
    mine = opened(tmp_path / "twice", "1.png", "2.png")
    sets = image_sets.pair(reference=None, generated=[mine], prompts=prompts_of(dict.fromkeys("12", "a")))
    assert "more than once" in sets.warnings[0]
    with pytest.raises(BadInput, match="several images"):
        opened(tmp_path / "same", "1.png", "1.jpg")
    moving = io.BytesIO()
    picture(5).save(moving, "GIF", save_all=True, append_images=[picture(6)])
    odd = {"clear.png": picture(3).convert("RGBA"), "print.jpg": picture(4).convert("CMYK")}
    odd |= {"grey.png": picture(7).convert("L"), "small.png": picture(8, size=(9, 9)), "copy.png": picture(0)}
    put(tmp_path / "mine", odd | {"moving.gif": moving.getvalue()})
    text = "\n".join(opened(tmp_path / "mine", "plain.png").warnings)
    for words in ("with transparency", "CMYK", "animated", "grey", "2 sizes", "1 of 7 images are exact copies"):
        assert words in text


def test_webdataset_shards_pair_by_their_prompts_and_are_never_unpacked(tmp_path):
    (tmp_path / "real").mkdir()
    files = {"a.png": png(picture(1)), "a.txt": b"a dog\n", "b.seg.png": png(picture(9)), "b.jpg": png(picture(2))}
    tar(tmp_path / "real" / "0.tar", files | {"b.json": b'{"prompt": "a cat"}'})
    tar(tmp_path / "real" / "1.tar", {"x/c.png": png(picture(3)), "x/c.txt": b"a cow"})
    real = opened(tmp_path / "real")
    assert real.ids == ("a", "b", "x/c") and real.prompts == ("a dog", "a cat", "a cow")
    assert real.images.read(1) == png(picture(2))
    other = tar(
        tmp_path / "2.tar", {"8.png": png(picture(4)), "8.txt": b"a cow", "9.png": png(picture(5)), "9.txt": b"a dog"}
    )
    sets = image_sets.pair(reference=real, generated=[opened(other)], prompts=None)
    assert "b.seg.png" in real.warnings[0] and "first dot" in real.warnings[0]
    with pytest.raises(BadInput, match=r"no image .*cfg7\.3\.png"):
        opened(tar(tmp_path / "3.tar", {f"cfg7.{at}.png": png(picture(at)) for at in (3, 4)}))
    (tmp_path / "3.tar").unlink()
    assert sets.texts == ("a dog", "a cow") and sets.generated[0].images.read(0) == png(picture(5))
    assert "2.tar: 1 prompt (b) without an image" in sets.warnings
    assert sorted(path.name for path in tmp_path.rglob("*.*")) == ["0.tar", "1.tar", "2.tar"]


def test_hostile_shards_are_refused(tmp_path):
    with tarfile.open(tmp_path / "link.tar", "w") as archive:
        info = tarfile.TarInfo("a.png")
        info.type, info.linkname = tarfile.SYMTYPE, "/etc/passwd"
        archive.addfile(info)
    tar(tmp_path / "twice.tar", {"a.png": png(picture(1)), "a.jpg": png(picture(2))})
    whole = tar(tmp_path / "whole.tar", {"a.png": png(picture(1))}).read_bytes()
    put(tmp_path, {"cut.tar": whole[:700], "zipped.tar": b"\x1f\x8b" + bytes(600)})
    for name, word in (("link", "no image"), ("twice", "two images"), ("cut", "cut.tar"), ("zipped", "zipped.tar")):
        with pytest.raises(BadInput, match=word):
            opened(tmp_path / f"{name}.tar")


def test_tables_of_the_hub_pair_by_prompt_where_row_numbers_mean_nothing(tmp_path):
    for name, order in (("one", (0, 1, 2)), ("two", (2, 0, 1))):
        rows = {"Prompt": [f"prompt {n}" for n in order], "images": [picture(n) for n in order]}
        hub_files.write(tmp_path / "org" / name, {"train": rows}, card=False)
    source = Source(root=tmp_path, offline=True)
    real = image_sets.opened("reference", "hf://datasets/org/one#default/train", source=source, spool=tmp_path)
    mine = image_sets.opened("mine", "hf://datasets/org/two@main", source=source, spool=tmp_path)
    sets = paired(real, mine)
    assert (sets.reference.images.keys == sets.generated[0].images.keys).all() and len(sets.ids) == 3
    assert sets.warnings == ("mine: 3 of 3 images are exact copies of reference images",)
    with pytest.raises(NotHere, match="org/three"):
        opened("hf://datasets/org/three", source=source)
    with pytest.raises(BadInput, match="address"):
        opened("hf://datasets/three", source=source)


def test_images_from_python_are_taken_once_and_refused_by_position(tmp_path):
    part = image_sets.opened("mine", iter([picture(0), np.asarray(picture(1))]), source=SOURCE, spool=tmp_path)
    stored = Image.open(io.BytesIO(part.images.read(1)))
    assert part.ids == ("0", "1") and (np.asarray(stored) == np.asarray(picture(1))).all()
    with pytest.raises(BadInput, match="uint8"):
        image_sets.opened("mine", [picture(0), np.zeros((4, 4, 3))], source=SOURCE, spool=tmp_path)


def test_without_prompts_nothing_is_paired_and_unlike_counts_are_said(tmp_path):
    real = opened(tmp_path / "reference", "1.png", "2.png", "3.png")
    few, many = opened(tmp_path / "few", "q.png", first=30), opened(tmp_path / "many", "r.png", "s.png", first=40)
    sets = paired(real, few, many)
    assert sets.prompts is None and [len(part) for part in sets.sets] == [3, 1, 2]
    assert "few has 1 images and many 2: Fréchet distances fall as N grows" in sets.warnings[0]
    with pytest.raises(BadInput, match="few"):
        paired(real, few, few)
