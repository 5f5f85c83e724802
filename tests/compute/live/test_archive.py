"""A visitor's ZIP: files are found as people name them, and whoever made it can neither fill memory nor raise more than
a sentence."""

import tracemalloc
import zipfile

import pytest

from compute.live.archive import Archive
from compute.types import BadInput
from tests.compute.live import zips
from tests.compute.live.zips import changed

PLAIN = {"pairs.csv": b"first,second\n", "a.png": b"one", "more/b.png": b"two", "else/b.png": b"three"}


def test_files_are_found_by_path_by_folder_and_by_base_name():
    pack = Archive(zips.packed(PLAIN))
    assert pack.table() == "pairs.csv"
    assert pack.find("a.png") == pack.find("./a.png") == "a.png" and pack.find("more\\b.png") == "more/b.png"
    assert pack.find("b.png", beside="more/pairs.csv") == "more/b.png"
    assert pack.find("c.png") is None and pack.find("a cat") is None
    with pytest.raises(BadInput, match=r"b.png is in 2 folders of the ZIP \(more/b.png, else/b.png\). Write its"):
        pack.find("b.png")
    assert pack.read("more/b.png", most=3) == b"two"


def test_a_folder_as_systems_pack_it():
    macos, windows = ("__MACOSX/set/._pairs.csv", "__MACOSX/set/._a.png", "set/.DS_Store"), ("set/Thumbs.db",)
    pack = Archive(zips.packed(dict.fromkeys(("set/", "set/pairs.csv", "set/a.png", *macos, *windows), b"x")))
    assert pack.table() == "set/pairs.csv" and pack.find("a.png", beside=pack.table()) == "set/a.png"


def test_names_with_letters_of_any_form_are_one_name():
    composed, apart = "Gr\u00f6\u00dfe.png", "Gro\u0308\u00dfe.png"
    assert Archive(zips.packed({apart: b"x"})).find(composed) == composed
    silent = zips.packed({"Grxxe.png": b"x"}).replace(b"Grxxe.png", b"Gr\xc3\xbce.png")  # UTF-8 that does not say so
    assert Archive(silent).find("Grüe.png") == "Grüe.png"


@pytest.mark.parametrize("path", ["/etc/passwd", "../../secret.png", "C:/windows/a.png"])
def test_paths_that_lead_elsewhere_are_names_and_nothing_more(path):
    pack = Archive(zips.packed({path: b"of the ZIP"}))
    assert pack.read(pack.find(path), most=100) == b"of the ZIP"
    assert Archive(zips.packed(PLAIN)).find(path) is None


@pytest.mark.parametrize(
    "files, sentence",
    [
        ({"a.png": b"x"}, "no CSV"),
        ({"a.csv": b"x", "b/c.CSV": b"x"}, "2 CSV"),
        ({"[Content_Types].xml": b"x", "xl/workbook.xml": b"x"}, "workbook"),
    ],
)
def test_exactly_one_table_must_be_in_it(files, sentence):
    with pytest.raises(BadInput, match=sentence):
        Archive(zips.packed(files)).table()


def test_a_directory_of_a_million_entries_is_refused_before_it_is_read():
    whole = zips.packed({"x": b""})
    start = whole.index(zips.DIRECTORY)
    end = whole.index(b"PK\x05\x06")
    long = whole[:start] + whole[start:end] * 200_000 + whole[end:]
    tracemalloc.start()
    with pytest.raises(BadInput, match="more than 4,000 entries"):
        Archive(long)
    assert tracemalloc.get_traced_memory()[1] < 100_000
    tracemalloc.stop()


def test_a_bomb_gives_no_more_than_is_asked_for():
    bomb = zips.packed({"a.png": bytes(100_000_000)})
    assert len(bomb) < 120_000
    pack = Archive(bomb)
    tracemalloc.start()
    with pytest.raises(BadInput, match="a.png has more than 8 MB when it is unpacked"):
        pack.read("a.png", most=8_000_000)
    assert tracemalloc.get_traced_memory()[1] < 30_000_000
    tracemalloc.stop()


def test_a_stated_size_is_not_believed():
    bomb = zips.packed({"a.png": bytes(20_000_000)})
    small = changed(bomb, "a.png", at=24, value=100, form="<I")
    with pytest.raises(BadInput, match="damaged"):
        Archive(small).read("a.png", most=8_000_000)
    large = changed(zips.packed({"a.png": b"abc"}), "a.png", at=24, value=2**31, form="<I")
    assert Archive(large).read("a.png", most=8_000_000) == b"abc"


WHOLE = zips.packed({"a.png": b"something that can be read", "b.png": b"two"})


@pytest.mark.parametrize(
    "data, sentence",
    [
        (changed(WHOLE, "a.png", at=8, value=0x1), "is encrypted. Pack the ZIP without a password"),
        (changed(WHOLE, "a.png", at=16, value=7, form="<I"), "is damaged in the ZIP"),
        (zips.packed({"a.png": b"x" * 100}, method=zipfile.ZIP_LZMA), "by method 14"),
        (WHOLE.replace(b"a.png", b"c.png", 1), "is damaged"),  # the file's own header says another name
    ],
    ids=["encrypted", "crc", "lzma", "other name"],
)
def test_what_cannot_be_read_is_a_sentence_about_that_file(data, sentence):
    pack = Archive(data)
    with pytest.raises(BadInput, match=f"^a.png .*{sentence}|^a.png {sentence}"):
        pack.read("a.png", most=1000)
    if b"b.png" in data:
        assert pack.read("b.png", most=1000) == b"two"


@pytest.mark.parametrize("data", [WHOLE[:-30], b"PK\x05\x06" + b"\xff" * 18])
def test_what_is_no_whole_zip_is_refused(data):
    with pytest.raises(BadInput, match="damaged or incomplete"):
        Archive(data)


def test_a_long_run_of_combining_marks_is_ignored_before_it_is_sorted():
    name = "a" + "\u0301\u0316" * 10_000 + ".png"
    pack = Archive(zips.packed({"pairs.csv": b"", name: b"x"}))
    assert pack.table() == "pairs.csv" and pack.find(name) is None
