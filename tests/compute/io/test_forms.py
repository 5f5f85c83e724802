"""A table is read by the first form that it fits, and every cell that does not fit its column is named."""

import numpy as np
import pytest

from compute.io import column_names
from compute.io.forms import BLANK, COUNT, NUMBER, SHARE, WHOLE, Form, FormField, read
from compute.io.tables import read_csv
from compute.paths import CATALOG
from compute.types import BadInput

FORMS = (
    Form("rated", (FormField("name", ("model",)), FormField("share", kind=SHARE), FormField("rank", (), WHOLE, True))),
    Form(
        "voted", (FormField("winner", ("chosen",)), FormField("votes", (), COUNT), FormField("note", (), BLANK, True))
    ),
    Form("measured", (FormField("side", least=2), FormField("value", kind=NUMBER))),
)
READ = (
    ("Model,share,rank\n a ,80%,2\nb,0.5,1\n", "rated", {"name": ["a", "b"], "share": [0.8, 0.5], "rank": [2, 1]}),
    ("share,name\n80,a\n5,b\n", "rated", {"share": [0.8, 0.05]}),
    ("votes,chosen,name,note\n2.5,a,x,\n", "voted", {"winner": ["a"], "votes": [2.5], "note": [""]}),
    ("side_1;SIDE_2;side_3;value\na;b;c;-1,5\n", "measured", {"side_3": ["c"], "value": [-1.5]}),
)
FAULTS = (
    ("name,rank\na,1\n", ("'share'", "name (model), share")),
    ("name,share\na,1\n ,2\nb,\n", ("row 2: name is empty", "row 3: share")),
    ("name,share\na,101\nb,1\n", ("row 1: share '101' is not a share",)),
    ("name,share,rank\na,1,1.5\nb,1,-1\n", ("row 1: rank '1.5'", "row 2: rank '-1'", "whole")),
    ("winner,votes\na,-1\nb,many\n", ("row 1: votes '-1'", "row 2: votes 'many'")),
    ("side_1,side_2,value\na,b,inf\n", ("row 1: value 'inf'",)),
    ("winner,Winner,votes\na,b,1\n", ("two columns",)),
    ("winner,votes\n", ("no rows",)),
    ("winner,votes\n" + "a,x\n" * 12, ("And 2 cells more",)),
)


@pytest.mark.parametrize("text, key, columns", READ)
def test_the_first_form_that_fits(text, key, columns, tmp_path):
    (tmp_path / "x.csv").write_text(text)
    found, frame, _ = read(tmp_path / "x.csv", FORMS)
    assert found == key
    for name, values in columns.items():
        np.testing.assert_array_equal(frame[name], values)


def test_numbered_columns_have_no_gap_and_an_end():
    form = Form("many", (FormField("side", least=2),))
    whole = [f"side_{at}" for at in range(1, 10)]
    assert len(form.resolved(whole[:8], {}, title="x")[0]) == 8
    for columns in (whole, [*whole[:2], "side_4"]):
        with pytest.raises(BadInput, match="number"):
            form.resolved(columns, {}, title="x")


@pytest.mark.parametrize("text, words", FAULTS)
def test_every_fault_is_named(text, words, tmp_path):
    (tmp_path / "x.csv").write_text(text)
    with pytest.raises(BadInput, match=r"x\.csv") as error:
        read(tmp_path / "x.csv", FORMS)
    assert all(word in str(error.value) for word in words), error.value


def test_every_name_has_a_role_a_place_and_a_source_once():
    table = read_csv(CATALOG / "column_names.csv")
    roles = {value for name, value in vars(column_names).items() if name.isupper() and isinstance(value, str)}
    assert set(table["role"]) == roles and set(table["match"]) == {"", *column_names.PLACES} and table["source"].all()
    words = [(row.role, column_names.words_of(row.name)) for row in table.itertuples(index=False)]
    assert len(set(words)) == len(words) and all(phrase for _, phrase in words)
    both = {role: {phrase for of, phrase in words if of == role} for role in ("lower", "higher")}
    assert not both["lower"] & both["higher"]
