"""The catalogue's facts about models beside those of the public results' model_meta.json, and of mteb itself."""

import json
import math

import pytest
from mteb.models.model_implementations import MODEL_REGISTRY

from compute import paths
from compute.catalog import shipped
from compute.importing.mteb import ModelMeta, model_row
from compute.io.files import validated
from compute.io.tables import read_csv

SHIPPED = paths.ASSETS / "imported" / "mteb.json"
SNAPSHOT = paths.ROOT.parent / "shared" / "data" / "mteb-results" / "results"
NUMBERS = ("parameters_m", "memory_mb", "embed_dim", "max_tokens")
OTHERS = ("license", "released", "open_weights", "late_interaction", "instructions", "modalities", "languages")
FACTS = (*NUMBERS, *OTHERS, "trained_on")


def stated():
    """A model's row as its model_meta.json has it: with the shipped results, else in the snapshot they are made of."""
    if SHIPPED.is_file():
        files = json.loads(SHIPPED.read_text(encoding="utf-8"))["models"]
    else:
        files = {path.parts[-3]: json.loads(path.read_text()) for path in SNAPSHOT.glob("*/*/model_meta.json")}
    for folder, content in files.items():
        yield model_row(validated(content, ModelMeta), folder, catalog=shipped())


def agree(fact, own, other):
    if other is None or other == "" or other == ():  # the file does not state it
        return True
    if fact in NUMBERS:
        return own is not None and math.isclose(own, other, rel_tol=0.005)
    if fact == "trained_on":  # the catalogue may know of more
        return set(other) <= set(own)
    return set(own) == set(other) if isinstance(other, tuple) else own == other


def noted():
    """The models and facts that notes.csv explains a difference of."""
    notes = read_csv(paths.CATALOG / "notes.csv")
    return set(notes.loc[notes["metric"].isin(FACTS), ["model", "metric"]].itertuples(index=False, name=None))


def mteb_says(row):
    """The facts that mteb's own metadata state of a row's model and the row does not agree with. A row of a metric is
    more than the model that it uses; of several lengths of vectors the row has one."""
    names = {name.lower(): name for name in MODEL_REGISTRY}
    key = next((key for key in (row.key, row.weights.lower(), row.options.get("mteb")) if key in names), None)
    meta = MODEL_REGISTRY[names[key]] if key and row.kind != "metric" else None
    if meta is None:
        return
    dimensions = meta.embed_dim if isinstance(meta.embed_dim, list) else [meta.embed_dim]
    parameters = None if "parameters" in row.options else meta.n_parameters  # it says what is counted
    if parameters and not math.isclose(row.parameters_m or 0, parameters / 1e6, rel_tol=0.03):
        yield "parameters_m", parameters / 1e6
    if meta.embed_dim and row.embed_dim not in dimensions:
        yield "embed_dim", meta.embed_dim
    if meta.license and row.license.lower() != meta.license.lower():
        yield "license", meta.license
    if meta.release_date and row.released != meta.release_date:
        yield "released", meta.release_date


def test_rows_differ_from_mteb_only_where_a_note_says_why():
    kept = noted()
    rows = shipped().models
    new = [
        f"{row.key}, {fact}: {getattr(row, fact)!r}, mteb says {value!r}"
        for row in rows
        for fact, value in mteb_says(row)
        if (row.key, fact) not in kept
    ]
    assert not new, "Correct the row, or say why in notes.csv:\n" + "\n".join(new)
    assert {row.key: row for row in rows}["jinaai/jina-clip-v2"].license == "cc-by-nc-4.0"


@pytest.mark.skipif(not (SHIPPED.is_file() or SNAPSHOT.is_dir()), reason="no model_meta.json is here")
def test_rows_differ_from_the_public_facts_only_where_a_note_says_why():
    rows = {row.key: row for row in shipped().models}
    differences = {
        (model.key, fact): f"{getattr(rows[model.key], fact)!r}, the file says {getattr(model, fact)!r}"
        for model in stated()
        for fact in FACTS
        if model.key in rows and not agree(fact, getattr(rows[model.key], fact), getattr(model, fact))
    }
    kept, of_mteb = noted(), {(row.key, fact) for row in rows.values() for fact, _ in mteb_says(row)}
    new = [f"{key}, {fact}: {values}" for (key, fact), values in differences.items() if (key, fact) not in kept]
    assert not new, "Correct the row, or say why in notes.csv:\n" + "\n".join(new)
    assert not kept - set(differences) - of_mteb, "notes of a difference that is none any more"
