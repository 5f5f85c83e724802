"""A frame of scores as somebody brings it, before its cells are read: its headings, its models, and what is no column.

mteb's frames and pandas' index are known. Of two rows of headings the first names groups of tasks. Names in Unicode's
two forms are one.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from unicodedata import normalize

import numpy as np
import pandas as pd

from compute.analysis.table import shown
from compute.io.column_names import TASKS, has_role
from compute.io.numbers import read_numbers
from compute.types import BadInput, argument, shortened, suggestion

MTEB_TASK = ("task_name", "split", "subset")  # the columns that name a task in mteb's frames, one or more of them
NAMELESS = re.compile(r"(?:Unnamed: \d+(?:_level_\d+)?)?")  # pandas' names of columns without one
# Names of models: gte-large, e5-mistral-7b, org/name.
OF_A_MODEL = re.compile(
    r".+[-_ /](?:v?\d+(?:\.\d+)*[bm]?|base|large|small|xl|instruct|mini|turbo|v\d.*)\b.*|.+/.+", re.I | re.S
)


def named(frame: pd.DataFrame) -> pd.DataFrame:
    """The frame with its columns' names as text, and an index that names models as a column."""
    if frame.columns.nlevels > 1 or frame.index.nlevels > 1:
        raise BadInput("The table has several levels of columns or rows. Flatten it: frame.reset_index()")
    names = [normalize("NFC", str(name).strip()) for name in frame.columns]
    names = ["model" if name == "__index_level_0__" else name for name in names]  # pandas' index
    frame = frame.set_axis(names, axis=1)
    index = frame.index
    title = str(index.name).strip() if index.name is not None else "model"
    if not pd.api.types.is_numeric_dtype(index.dtype) and "model" not in map(str.lower, names) and title not in names:
        frame = frame.reset_index(names=title)
    return frame


def of_mteb(frame: pd.DataFrame) -> pd.DataFrame:
    """A frame of mteb's results with its models as rows, or long, under the names that we use; others as they are."""
    names = [name for name in MTEB_TASK if name in frame.columns]
    if "task_name" not in names:
        return frame
    tasks = frame[names].astype("str").agg(" ".join, axis=1)
    rest = frame.drop(columns=[*names, "is_public"], errors="ignore")
    if not {"model", "model_name"}.isdisjoint(rest.columns):
        return rest.rename(columns={"score": "value"}).assign(task=tasks)
    return rest.set_axis(tasks).T.rename_axis("model").reset_index()


def grouped(frame: pd.DataFrame) -> tuple[pd.DataFrame, dict[str, str]]:
    """Of a table with two rows of headings the frame under the second, and the group of each of its columns.

    The first row is the frame's own: it repeats names, or leaves them out where cells were merged. Names of two groups
    are told apart by them: `en (Retrieval)`.
    """
    above, heads = list(frame.columns), texts(frame.iloc[0]).tolist() if len(frame) else []
    named = {name for name in above[1:] if not NAMELESS.fullmatch(name)}
    if not heads or not named or len(named) == len(above) - 1:
        return frame, {}
    if "" in heads[1:] or not read_numbers(pd.Series(heads)).wrong.keys() >= {*range(1, len(heads))}:
        return frame, {}
    groups = [""]
    for name in above[1:]:
        groups.append(groups[-1] if NAMELESS.fullmatch(name) else name)
    names = [
        f"{head} ({group})" if heads.count(head) > 1 and group else head
        for head, group in zip([heads[0] or above[0], *heads[1:]], groups, strict=True)
    ]
    rows = frame.iloc[1:].set_axis(names, axis=1).reset_index(drop=True)
    first = texts(rows.iloc[0]).tolist() if len(rows) else []
    if first and first[0] and not any(first[1:]):  # pandas' name of the index, in a row of its own
        rows = rows.set_axis([first[0], *names[1:]], axis=1).iloc[1:].reset_index(drop=True)
    return rows, {name: group for name, group in zip(names, groups, strict=True) if group}


def without_nameless(frame: pd.DataFrame, *, model: str) -> tuple[pd.DataFrame, list[str]]:
    """The frame without columns that have no name, such as pandas' index, and a note of them. The first stays where it
    names the models."""
    nameless = np.array([NAMELESS.fullmatch(name) is not None for name in frame.columns])
    if len(nameless) and not any(name.lower() == "model" or name == model for name in frame.columns[1:]):
        nameless[0] &= pd.to_numeric(frame.iloc[:, 0].astype(object), errors="coerce").notna().all()
    if not nameless.any():
        return frame, []
    where = ", ".join(str(at + 1) for at in np.flatnonzero(nameless))
    return frame.loc[:, ~nameless], [f"Skipped, as without a name: column {where} of the table."]


def model_column(frame: pd.DataFrame, model: str) -> str:
    """The column that names the models: `model`, or the first one of text. Raises BadInput."""
    has = f"The table has the columns {shown(frame.columns)}"
    if model:
        if model not in frame.columns:
            raise BadInput(f"No column {model!r} of models.{suggestion(model, frame.columns)} {has}")
        return model
    for name in frame.columns:
        if name.lower() == "model":
            return name
    first = frame.columns[0]
    if pd.to_numeric(frame[first].astype(object), errors="coerce").notna().any():
        raise BadInput(
            f"Which column names the models? Name it 'model', or say which it is ({argument('model')}). {has}"
        )
    rows, others = texts(frame[first]), list(frame.columns[1:])
    models = [sum(OF_A_MODEL.fullmatch(name) is not None for name in names) for names in (rows, others)]
    if has_role(first, TASKS) or (models[1] > len(others) / 2 and models[0] <= len(rows) / 3):
        raise BadInput(
            f"The table looks transposed: its rows seem to be tasks ({shown(rows, 2)}), its columns models "
            f"({shown(others, 2)}). If so, read it with {argument('transpose', True)}; if {first!r} names the models, "
            f"with {argument('model', first)}"
        )
    return first


def texts(cells: pd.Series) -> pd.Series:
    """Cells as texts, empty ones too."""
    return cells.astype("str").str.strip().str.normalize("NFC").fillna("")


def filled(frame: pd.DataFrame, column: str, noun: str) -> pd.Series:
    """The texts of a column that names the models, or tasks. Raises BadInput for an empty one."""
    names = texts(frame[column])
    empty = np.flatnonzero(names == "")
    if len(empty):
        raise BadInput(f"Row {empty[0] + 1} has no {noun} in the column {column!r}. Name it, or remove the row")
    return names


def told_apart(names: pd.Series, others: pd.DataFrame, *, tasks: pd.Series | None = None) -> tuple[pd.Series, str]:
    """The models' names, with those of a second column where rows repeat and it tells them apart: the first one of text
    that does; empty where rows do not repeat. Raises BadInput, naming two rows that are the same."""
    on = pd.DataFrame({"model": names, "task": "" if tasks is None else tasks})
    twice = on.duplicated(keep=False)
    if not twice.any():
        return names, ""
    for column in others.columns:
        second = texts(others[column])
        both = (names + " " + second).str.strip()
        if pd.to_numeric(second, errors="coerce").isna().all() and not on.assign(model=both).duplicated().any():
            return both, column
    model, task = on[twice].iloc[0]
    first, second = on.index[(on["model"] == model) & (on["task"] == task)][:2]
    where = f" on {shortened(task)!r}" if task else ""
    raise BadInput(f"Rows {first + 1} and {second + 1} are both {shortened(model)!r}{where}. Leave one, or rename it")


def check_names(names: Sequence[str], known: Sequence[str], *, what: str) -> None:
    """Raises BadInput for a name that is not known, with the nearest one."""
    if isinstance(names, str):
        raise BadInput(f"{what} needs a list of names, got the text {shortened(names)!r}: write [{names!r}]")
    for name in names:
        if name not in known:
            raise BadInput(
                f"No column or task {shortened(str(name))!r} ({what}).{suggestion(str(name), known)} The table has: "
                f"{shown(known)}"
            )
