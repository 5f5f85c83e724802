"""The catalogue's facts about models beside those of the public results' model_meta.json."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator

import pytest

from compute import paths
from compute.catalog import shipped
from compute.importing.model_meta import SOURCE, ModelMeta, model_row
from compute.io.files import validated
from compute.io.tables import read_csv
from compute.types import Model

SHIPPED = paths.ASSETS / "imported" / "mteb.json"
SNAPSHOT = paths.ROOT.parent / "shared" / "data" / "mteb-results" / "results"
NUMBERS = ("parameters_m", "memory_mb", "embed_dim", "max_tokens")
OTHERS = ("license", "released", "open_weights", "late_interaction", "instructions", "modalities", "languages")
FACTS = (*NUMBERS, *OTHERS, "trained_on")


def stated() -> Iterator[Model]:
    """A model's row as its model_meta.json has it: with the shipped results, else in the snapshot they are made of."""
    if SHIPPED.is_file():
        files = json.loads(SHIPPED.read_text(encoding="utf-8"))["models"]
    else:
        files = {path.parts[-3]: json.loads(path.read_text()) for path in SNAPSHOT.glob("*/*/model_meta.json")}
    for folder, content in files.items():
        yield model_row(validated(content, ModelMeta), folder, catalog=shipped())


def agree(fact: str, own: object, other: object) -> bool:
    if other is None or other == "" or other == ():  # the file does not state it
        return True
    if fact in NUMBERS:
        return own is not None and math.isclose(own, other, rel_tol=0.005)
    if fact == "trained_on":  # the catalogue may know of more
        return set(other) <= set(own)
    return set(own) == set(other) if isinstance(other, tuple) else own == other


@pytest.mark.skipif(not (SHIPPED.is_file() or SNAPSHOT.is_dir()), reason="no model_meta.json is here")
def test_rows_differ_from_the_public_facts_only_where_a_note_says_why() -> None:
    rows = {row.key: row for row in shipped().models}
    differences = {
        (model.key, fact): f"{getattr(rows[model.key], fact)!r}, the file says {getattr(model, fact)!r}"
        for model in stated()
        for fact in FACTS
        if model.key in rows and not agree(fact, getattr(rows[model.key], fact), getattr(model, fact))
    }
    notes = read_csv(paths.CATALOG / "notes.csv")
    kept = set(notes.loc[notes["metric"].isin(FACTS), ["model", "metric"]].itertuples(index=False, name=None))
    new = [f"{key}, {fact}: {values}" for (key, fact), values in differences.items() if (key, fact) not in kept]
    assert not new, "Correct the row, or say why in notes.csv:\n" + "\n".join(new)
    assert not kept - set(differences), "notes of a difference that is none any more"


def test_the_rows_that_have_a_public_file_name_it_as_their_source() -> None:
    described = {model.key for model in stated()}
    named = {row.key for row in shipped().models if row.facts_from == SOURCE}
    assert named and (not described or named == described & {row.key for row in shipped().models})
