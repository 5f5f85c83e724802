"""Tables that are refused, of every form that people bring: each names its file, the row and what is wrong."""

import re

import pytest

from compute.engine.generators import people
from compute.tasks.image_sets import prompts_of
from compute.tasks.own import read
from compute.tasks.pairbench import manifest, whatsup
from compute.types import BadInput
from tests.compute.tasks.files import put, table

READERS = {
    "own": lambda path: read(path).check(),
    "people": lambda path: people.read(path, generated=("a", "b")),
    "relations": whatsup.read,
    "prompts": prompts_of,
    "pairs": manifest.read,
}
TABLES = (
    ("own", "image,label|0.png,cat|1.png,cat|2.png,cat", "'cat' in every row"),
    ("own", "image,label|0.png,|1.png,|2.png,", "label is empty in every row"),
    ("own", "reference,alternative_1,alternative_2,answer|0.png,1.png,a text,1", "alternative_2 texts"),
    ("own", "reference,alternative_1,alternative_2,anwser|0.png,1.png,2.png,2", "choices"),
    ("own", "reference,alternative_1,alternative_2,alternative_4,answer|0.png,1.png,2.png,3.png,2", "'alternative_3'"),
    ("own", "reference,alternative_1,alternative_2,alternative_9,answer|0.png,1.png,2.png,3.png,2", "at most 8"),
    ("own", "first,second,score|a,b,3|a,b,3|a,b,3|a,b,3", "3 in every row"),
    ("own", "first,second,score|a,b,3|a,c,4", "three pairs"),
    ("own", "first,second,score|a,b,3|a,c,4|a,d,x", "row 3: score is 'x'"),
    ("own", "first,second,score|a,b,3|a,c,4|a,d,inf", "row 3: score is 'inf'"),
    ("own", "item,label|images/0,a|images/1,b", "images/0 does not exist"),
    ("own", "item,label|a cat,a|0.png,b|a dog,b", "row 2: item is '0.png', the file of an image"),
    ("own", "member_1,member_2,member_3,odd|a,b,c,1", "row 1: member_1 is 'a'"),
    ("own", "image,caption|0.png,a|1.png,a", "two captions"),
    ("own", "anchor,positive,negative|0.png,1.png,a text", "negative texts"),
    ("own", "image,label,prompt|0.png,a,x|1.png,b,y|2.png,a,z", "row 3: prompt"),
    ("own", "image,label,promt|0.png,a,b|1.png,c,d", "Did you mean 'prompt'?"),
    ("own", "image,label,label|0.png,a,b", "two columns 'label'"),
    ("own", "a,b|1,2", "a, b"),
    ("own", "image,label", "no rows"),
    ("own", "image,label,split|0.png,a,train|1.png,b,train", "split test"),
    ("own", "image,label,split|0.png,a,train|1.png,b,test", "one class"),
    ("own", "image,label,split|0.png,a,train|1.png,b,train|2.png,c,test|3.png,a,test", "row 3: label is 'c'"),
    ("own", "image,label,split|0.png,a,train|1.png,b,train|2.png,b,test|3.png,a,tset", "'tset'"),
    ("own", "prompt,alternative_1,alternative_2,votes_1,votes_2|a,0.png,1.png,-1,2", "row 1: votes_1 is '-1'"),
    ("own", "prompt,alternative_1,alternative_2,votes_1,votes_2|a,0.png,1.png,2,2", "more votes"),
    ("own", "prompt,alternative_1,alternative_2,votes_1,votes_2,votes_3|a,0.png,1.png,2,1,1", "votes for 3"),
    ("people", "generator,colour|a,red", "rank"),
    ("people", "generator,rate|a,1|a,2", "row 2"),
    ("people", "generator,rate|a,120|b,1", "share"),
    ("people", "generator,elo|a,high", "row 1"),
    ("people", "generator,rate|a,1,2", "row 1 has 3"),
    ("people", "winner,loser|a,a", "itself"),
    ("people", "winner,loser,votes|a,b,-1", "negative"),
    ("people", "first,second,choice|a,b,c", "choice"),
    ("prompts", "id,words|1,a", "column"),
    ("prompts", "id,caption|1.png,a|1.jpg,b", "more than once"),
    (
        "relations",
        "image_path,caption_options|0.png,two dogs",
        "row 1: 'two dogs' does not state two objects and their relation",
    ),
    ("relations", "image_path,caption_options|9.png,A cup left of a plate.", "row 1: there is no image 9.png in "),
    (
        "relations",
        "image_path,caption_options|0.png,A cup on a box|0.png,A cup on a box",
        "row 2: 0.png appears twice in the table",
    ),
    ("relations", "image_path,caption_options", "has no rows"),
    ("relations", "x|y", "no column 'image_path'"),
)
FILES = (
    ("own", "notes.txt", "a", ".csv"),
    ("own", "cut.parquet", "PAR1 and no more", "damaged"),
    ("own", "nested.jsonl", [{"text": "a", "label": {"a": 1}}, {"text": "b", "label": {"a": 2}}], "label holds"),
    ("relations", "a.json", "{{", "not JSON"),
    ("relations", "b.parquet", "{{", "not a Parquet file"),
    ("pairs", "other.parquet", "PAR1 not really", "Parquet"),
    ("pairs", "bare.parquet", {"split": ["r"]}, "manifest"),
    *((reader, "none.csv", None, "none.csv") for reader in ("own", "people", "relations", "prompts", "pairs")),
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return put(tmp_path_factory.mktemp("tables"), {f"{at}.png": at for at in range(4)})


@pytest.mark.parametrize("reader, text, words", TABLES)
def test_a_table_names_what_is_wrong(folder, reader, text, words):
    with pytest.raises(BadInput, match=re.escape(words)) as error:
        READERS[reader](table(folder / "table.csv", text))
    assert "table.csv" in str(error.value)


@pytest.mark.parametrize("reader, name, content, words", FILES)
def test_a_file_that_is_no_such_table_is_named(folder, reader, name, content, words):
    with pytest.raises(BadInput, match=re.escape(words)) as error:
        READERS[reader](put(folder, {name: content} if content else {}) / name)
    assert name in str(error.value)
