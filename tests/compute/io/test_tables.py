"""Tables as programs and people write them: the same cells from every form, one sentence for what cannot be read."""

import gzip
import os

import openpyxl
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from rich.cells import cell_len

from compute.io import tables
from compute.io.numbers import has_decimal_comma, read_numbers
from compute.io.tables import read_lines, read_table
from compute.types import BadInput


@pytest.mark.parametrize(
    "name, data, cells",
    [
        ("a.csv", b"model,x\n", {"model": [], "x": []}),
        ("a.csv", b"sep=;\r\nmodel;x, y\r\na;1\r\n", {"model": ["a"], "x, y": ["1"]}),
        ("a.csv", b"model;x;y, in m\na;1;2,5\n", {"model": ["a"], "x": ["1"], "y, in m": ["2,5"]}),
        ("a.csv", b"\n \nmodel\tx\r\n,\t\r\n\t\n\t1\n", {"model": [",", ""], "x": ["", "1"]}),
        ("a.tsv", b"model\tx, y, z and w\na\tb\n", {"model": ["a"], "x, y, z and w": ["b"]}),
        ("a.csv", "\ufeffmodel\rü\r".encode(), {"model": ["ü"]}),
        ("a.csv", b'"model\nor name",x\n"a ""b""\n; c",1', {"model\nor name": ['a "b"\n; c'], "x": ["1"]}),
        ("a.csv", b'a, "b"\n1, "2, 3"\n', {"a": ["1"], "b": ["2, 3"]}),
        ("a.csv", b"model,x,,\na,1,,\n", {"model": ["a"], "x": ["1"]}),
        ("a.csv", "a;b\né;“\n".encode("cp1252"), {"a": ["é"], "b": ["“"]}),
        ("a.csv", "a;b\né;1\n".encode("utf-16"), {"a": ["é"], "b": ["1"]}),
        ("a.txt", "a\tb\né\t1\n".encode("utf-16-le"), {"a": ["é"], "b": ["1"]}),
        ("a.csv.gz", gzip.compress(b"a,b\n1,2\n", mtime=0), {"a": ["1"], "b": ["2"]}),
        ("a.csv", "a,b\nx\u2028y,\x0c1\n".encode(), {"a": ["x\u2028y"], "b": ["\x0c1"]}),
        ("a.json", b' [{"a": "x"},\n {"b": 2, "a": null}]', {"a": ["x", None], "b": [None, 2]}),
        ("a.json", b'{"a": 1}\n{"a": 2}\n', {"a": [1, 2]}),
        ("a.json", '{"a": "x\u2028y"}\n\n{"a": "z"}\n'.encode(), {"a": ["x\u2028y", "z"]}),
        ("a.jsonl", '{"a": "x\u2028y"}\n\n{"a": null, "b": 2}\n'.encode(), {"a": ["x\u2028y", None], "b": [None, 2]}),
    ],
)
def test_forms_of_a_table(name, data, cells, tmp_path):
    (tmp_path / name).write_bytes(data)
    for table in (read_table(tmp_path / name), read_table(data, name=name)):
        assert list(table.frame) == list(cells) and (table.rows() if len(table.frame) else []) == [
            dict(zip(cells, row, strict=True)) for row in zip(*cells.values(), strict=True)
        ]
        assert bool(table.notes) == (b"\xe9;" in data and b"\x00" not in data), "an encoding that is a guess is said"


def test_blank_lines_take_no_frames(monkeypatch):
    """Eight million of them, which a visitor may send, took twelve seconds."""
    made, texts = [], tables._texts

    def made_of(rows, width):
        made.append(rows)
        return texts(rows, width)

    monkeypatch.setattr(tables, "_texts", made_of)
    assert read_table(b"a\n" + b"\n" * 5_000 + b"1\n", name="a.csv").frame["a"].tolist() == ["1"]
    assert made == [[["1"]]]


def test_workbooks_show_cells_as_their_sheet_does(tmp_path):
    path = tmp_path / "book.xlsx"
    with pd.ExcelWriter(path) as book:
        pd.DataFrame().to_excel(book, sheet_name="empty", index=False)
        pd.DataFrame({"Read me first": ["Scores of May", "By us"]}).to_excel(book, sheet_name="note", index=False)
        frame = pd.DataFrame({"model": ["a", "b"], "x": [0.5, 0.25], "n": [3, None], "yes": [True, False]})
        frame.to_excel(book, sheet_name="scores", index=False, startrow=2)
        book.sheets["scores"]["B4"].number_format = "0.0%"
    table = read_table(path)
    assert table.rows() == [
        {"model": "a", "x": "50%", "n": "3", "yes": "true"},
        {"model": "b", "x": "0.25", "n": "", "yes": "false"},
    ]
    assert "'scores'" in table.notes[0] and "'empty', 'note'" in table.notes[0]


def test_a_formula_without_a_value_is_named(tmp_path):
    book = openpyxl.Workbook()
    for row in (["model", "x"], ["a", None], ["b", "=1+1"]):
        book.active.append(row)
    book.save(tmp_path / "a.xlsx")
    with pytest.raises(BadInput, match="B3"):
        read_table(tmp_path / "a.xlsx")


@pytest.mark.parametrize("name", ["a[12].parquet", "a*.parquet", "a?.parquet", "a[1]/b.parquet"])
def test_a_path_names_one_parquet_file(name, tmp_path):
    for path, cell in (
        (tmp_path / "a1.parquet", "other"),
        (tmp_path / "a1/b.parquet", "other"),
        (tmp_path / name, "own"),
    ):
        path.parent.mkdir(exist_ok=True)
        pq.write_table(pa.table({"x": [cell]}), path)
    assert read_table(tmp_path / name).rows() == [{"x": "own"}]


def test_printed_columns_are_as_wide_as_a_terminal_shows_them():
    lines = tables.markdown([["model", "x"], ["日本", "1"], ["a|b", "2"], ["cafe\u0301", "3"]])
    assert [cell_len(line) for line in lines] == [13] * 5 and lines[2].startswith("| 日本  |")
    assert [line.replace(r"\|", "").count("|") for line in lines] == [3] * 5, "no name adds a column"


def test_images_stay_in_a_parquet_file(tmp_path):
    pq.write_table(
        pa.table({"image": [b"1"], "Label": ["a"], "hub": [{"bytes": b"", "path": ""}]}), tmp_path / "a.parquet"
    )
    table = read_table(tmp_path / "a.parquet")
    assert table.rows() == [{"Label": "a"}] and table.stored == ("image", "hub")
    assert list(read_table(tmp_path / "a.parquet", columns=["label"]).frame) == ["Label"]


def bomb(path):
    """9 GB of one text in 100 KB."""
    pq.write_table(pa.table({"model": pa.DictionaryArray.from_arrays([0] * 9000, ["x" * (1 << 20)])}), path)
    return path


def test_what_unpacks_to_too_much_is_refused_unread(tmp_path):
    with pytest.raises(BadInput, match="9,437 MB"):
        read_table(bomb(tmp_path / "a.parquet"))
    for name, data, words in (
        ("a.csv", b"a," * 900_000 + b"\n" + b"1," * 900_000, "10,000 columns"),
        ("a.csv", b"a" * (1 << 21), "heading"),
        ("a.csv", b"a,b\n" + b"1" * 200_000 + b",2\n", "131,072 characters"),
        ("a.csv.gz", gzip.compress(b"a,b\n" + b"1,2\n" * 300_000, mtime=0), "1 MB"),
        ("a.csv", b"a,b\n" + b"1,2\n" * 11, "10 rows"),
        ("a.jsonl", b'{"a": 1}\n' * 11, "10 rows"),
    ):
        with pytest.raises(BadInput, match=words):
            read_table(data, name=name, most_bytes=1 << 20 if ".gz" in name else 1 << 28, most_rows=10)


def test_what_is_no_table_is_a_sentence(tmp_path):
    for name, data, words in (
        ("a.csv", b"", "no columns"),
        ("a.csv", b"a,b,a\n1,2,3\n", "two columns 'a'"),
        ("a.csv", b'a,b\n1,2\n"3,4\n', "line 3"),
        ("a.csv", b'a,b\n"1"2,3\n', "line 2"),
        ("a.csv", b"\x89PNG\x00\x00", "not text"),
        ("a.csv", b"\xff\xfe\x00", "damaged"),
        ("a.csv.gz", gzip.compress(b"a,b\n" * 99, mtime=0)[:-9], "unpacked"),
        ("a.jsonl", b'{"a": 1}\n[2]\n', "row 2"),
        ("a.jsonl", b'{"a": 1}\n{"a": "b"}\n', "row 2: a is a text, in earlier rows a number"),
        ("a.json", b'[{"a": 1}', "is not JSON"),
        ("a.json", b'[{"a": 1}, 2]', "row 2"),
        ("a.parquet", b"PAR1", "damaged"),
        ("a.xlsx", b"PK\x03\x04", "damaged"),
        ("a.doc", b"a,b\n", "not a table"),
    ):
        (tmp_path / name).write_bytes(data)
        with pytest.raises(BadInput, match=f"{name}.*{words}") as caught:
            read_table(tmp_path / name)
        assert "\n" not in str(caught.value)
    pipes = [tmp_path / "pipe.csv", tmp_path / "pipe.parquet"]
    for path in pipes:
        os.mkfifo(path)
        with pytest.raises(BadInput, match="regular"):
            tables.check_unpacked(path, [], most_bytes=1)
    for path in (tmp_path, tmp_path / "none.csv", *pipes):
        with pytest.raises(BadInput, match=path.name):
            read_table(path)


def test_rows_of_another_width_are_named_together_or_left_out():
    data = b"a,b\n1\n1,2\n1,2,3\n\n"
    with pytest.raises(BadInput, match="row 1 has 1, row 3 has 3"):
        read_table(data, name="a.csv")
    table = read_table(data, name="a.csv", uneven=True)
    assert table.uneven == ((1, ["1"]), (3, ["1", "2", "3"])) and table.rows() == [{"a": "1", "b": "2"}]


def test_only_line_feeds_end_a_line(tmp_path):
    (tmp_path / "a.txt").write_bytes("\ufeffa\u2028b\r\n\r\nc\x85d\n \n\n".encode())
    assert read_lines(tmp_path / "a.txt") == ["a\u2028b", "", "c\x85d"]


@pytest.mark.parametrize(
    "cells, separator, values",
    [
        (["1,204", "1,187"], False, [1204, 1187]),
        (["1,204", "1,187"], True, [1.204, 1.187]),
        (["1,204", "1,187"], None, None),
        (["0,85", "1.204,5", "1.204"], None, [0.85, 1204.5, 1204]),
        (["0.85", "1,204", "1 204", "1'204.5"], True, [0.85, 1204, 1204, 1204.5]),
        (["0,936"], False, [0.936]),
        (["−0.5", "+2", ".5", "1e-3", "85.1 %", "n/a"], None, [-0.5, 2, 0.5, 0.001, 85.1, float("nan")]),
        (["0.85 ± 0.02", "1 +/- 1", "2 (0.5)", "3 (±1)"], None, [0.85, 1, 2, 3]),
        (["1_000", "70.1 (3)", "x"], None, None),
        (["84.1", "84,1"], True, None),
    ],
)
def test_numbers(cells, separator, values):
    column = pd.Series(cells)
    read = read_numbers(column, comma=has_decimal_comma([column], separator=separator))
    if values is None:
        assert read.wrong
    else:
        assert not read.wrong
        pd.testing.assert_series_equal(pd.Series(read.values), pd.Series(values, dtype=float))
