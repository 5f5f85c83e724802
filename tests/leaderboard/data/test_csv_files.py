"""CSV that a spreadsheet opens without running anything."""

from __future__ import annotations

import pandas as pd

from leaderboard.data.csv_files import csv_bytes, safe_csv


def test_texts_and_headings_are_quoted_and_numbers_are_not():
    frame = pd.DataFrame({"=name": ["=1", "plain", None], "value": [-8.1, 2.0, None], "printed": ["-8.1", "-", "@x"]})
    assert csv_bytes(frame).decode() == "'=name,value,printed\n'=1,-8.1,-8.1\nplain,2.0,-\n,,'@x\n"


def test_a_file_is_changed_only_where_it_must_be():
    harmless = b'a,"b ""c"""\r\n-8.1,-\r\n'
    assert safe_csv(harmless) == harmless
    assert safe_csv(b'a,"b\nc"\n+ HPDv2,"=1,2"\n') == b'a,"b\nc"\n\'+ HPDv2,"\'=1,2"\n'
