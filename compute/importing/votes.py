"""Answers of judges of pairs with people's votes: read from tables of any program, and stored as Parquet.

A collection is a folder with `votes.parquet`, whose rows are those of the database's table `votes` without the origin,
which is the folder's name.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from compute.database import store
from compute.importing.collection import refusal
from compute.io import forms
from compute.io.forms import BLANK, Form, FormField
from compute.io.tables import read_table
from compute.io.votes import ANSWERS, FIRST, SECOND, answer
from compute.types import BadInput, DatabaseError, counted, shortened

FILES = "*/votes.parquet"
COLUMNS = ["task", "judge", "item", "human", "answer"]
TASK, JUDGE = FormField("task", optional=True), FormField("judge", optional=True)
BESIDE = Form(  # a row per answer, with people's vote: GenAI-Bench, Multimodal RewardBench
    "beside people's votes",
    (
        TASK,
        JUDGE,
        FormField("item", ("idx", "id")),
        FormField("answer", ("model_vote", "output"), BLANK),
        FormField("human", ("human_vote", "label"), BLANK),
    ),
)
ROWS = Form(  # a row per vote, of people and judges: LMArena, MT-bench
    "a row a vote",
    (TASK, FormField("judge"), FormField("question_id"), FormField("turn", optional=True), FIRST, SECOND)
    + (FormField("winner", (), BLANK),),
)
OTHER = {"first": "second", "second": "first"}


class Votes(NamedTuple):
    """The result of reading: a row per answer, with COLUMNS; `answer` is None if it is not a vote. `sentence`
    summarises it.
    """

    rows: pd.DataFrame
    sentence: str


def read(path: Path, *, task: str, judge: str = "", people: Sequence[str] = ()) -> Votes:
    """Returns the answers in a table with a row per answer and people's vote, or with a row per vote.

    `task` and `judge` apply to rows that do not name theirs. `people`: the names whose rows are people's votes in a
    table with a row per vote; * matches any letters. Of repeated answers the first is used. Questions on which people's
    votes differ are skipped, as are answers to questions without any. Raises BadInput.
    """
    names = {name for form in (BESIDE, ROWS) for field in form.fields for name in (*field.names(), *field.aliases)}
    table = read_table(path, columns=names)
    key, frame, notes = forms.read(table, (BESIDE, ROWS))
    fields = next(form for form in (BESIDE, ROWS) if form.key == key).columns(list(table.frame.columns))
    if not judge and ("judge" not in frame or (frame["judge"] == "").any()):
        raise BadInput(f"{path.name} does not say whose answers it has. Name the judge: --judge NAME")
    frame = pd.DataFrame({"task": task, "judge": judge, **frame}).replace({"task": {"": task}, "judge": {"": judge}})
    sides: dict[str, str] = {}

    def voted(votes: pd.Series) -> pd.Series:
        read = {text: _vote(text) for text in votes.unique()}
        sides.update({text: said for text, said in read.items() if said in OTHER and "[[" not in text})
        return votes.map(read)

    if key == BESIDE.key:
        given = f"people's votes are {fields['human']}, answers {fields['answer']}"
        frame = frame.assign(human=voted(frame["human"]), answer=voted(frame["answer"]))
    else:
        given = f"people's votes are the rows of {fields['judge']} {', '.join(people)}"
        frame = _joined(frame, people=people, voted=voted, title=path.name)
    question = ["task", "item"]
    agreed = frame.groupby(question)["human"].transform("nunique") == 1
    sound = frame[agreed & frame["human"].notna()]
    rows = sound.drop_duplicates([*question, "judge"])[COLUMNS].reset_index(drop=True)
    if rows.empty:
        raise BadInput(f"{path.name} has no answer beside a vote of people: {given}")
    return Votes(
        rows=rows.astype(object).where(rows.notna(), None),
        sentence=f"{path.name}: {given} ({'; '.join(f'{text} is the {side}' for text, side in sides.items())}); "
        f"{counted(len(rows), 'answer')} of {counted(rows['judge'].nunique(), 'judge')} to "
        f"{counted(len(rows[question].drop_duplicates()), 'question')}, {rows['answer'].isna().sum():,} of them "
        f"unreadable; {counted(len(frame) - len(sound), 'row')} skipped, because people's votes are missing, "
        f"unreadable or differ; {len(sound) - len(rows):,} repeated{''.join(f'. {note}' for note in notes)}",
    )


def _vote(text: str) -> str | None:
    """Returns a vote of ANSWERS, or the verdict [[A]], [[B]] or [[C]] in a reply; None if it is neither."""
    verdicts = [kind for kind, mark in zip(("a", "b", "tie"), "ABC", strict=True) if f"[[{mark}]]" in text]
    try:
        return answer(verdicts[0] if len(verdicts) == 1 else text)
    except BadInput:
        return None


def _joined(
    frame: pd.DataFrame, *, people: Sequence[str], voted: Callable[[pd.Series], pd.Series], title: str
) -> pd.DataFrame:
    """Returns the rows of judges with people's votes on the same two answers, in the judge's order."""
    is_human = frame["judge"].map(lambda name: any(fnmatchcase(name, each) for each in people))
    if is_human.all() or not is_human.any():
        some = shortened(", ".join(frame["judge"].unique()), 200)
        raise BadInput(f"Say which of {title}'s judges are people, and which are not: --people NAME. It has: {some}")
    named = frame["winner"].where(frame["winner"] != frame["second"], "model_b")
    vote = voted(named.where(frame["winner"] != frame["first"], "model_a"))
    turned = frame["first"] > frame["second"]
    low, high = (frame[one].where(~turned, frame[other]) for one, other in (("first", "second"), ("second", "first")))
    question = frame["question_id"] + (" turn " + frame["turn"] if "turn" in frame else "")
    item, pair = question + ": " + frame["first"] + ", " + frame["second"], question + ": " + low + ", " + high
    frame = frame.assign(item=item, pair=pair, turned=turned, vote=vote)
    theirs = frame[is_human & vote.notna()]
    theirs = theirs.assign(human=theirs["vote"].where(~theirs["turned"], theirs["vote"].replace(OTHER)))
    human = theirs.groupby("pair")["human"].agg(lambda votes: votes.iloc[0] if votes.nunique() == 1 else None)
    own = frame[~is_human].rename(columns={"vote": "answer"})
    shown = own["pair"].map(human)
    return own.assign(human=shown.where(~own["turned"], shown.replace(OTHER)))


def save(votes: Votes, *, folder: Path, name: str, replace: bool) -> Path:
    """Writes a collection of votes. Raises BadInput if the name exists, unless `replace`."""
    path = folder / name / FILES.removeprefix("*/")
    if path.exists() and not replace:
        raise BadInput(f"There are votes called {name}. Replace them with --replace, or choose another --name")
    store.write_parquet(path, frame=votes.rows)
    return path


def every(*folders: Path) -> tuple[pd.DataFrame, list[str]]:
    """Returns all collections of votes in the database's format, and why some are skipped."""
    found, problems = [], []
    for path in sorted(path for folder in folders for path in folder.glob(FILES)):
        try:
            frame = store.read_parquet(path)
            if list(frame.columns) != COLUMNS or {*frame["human"], *frame["answer"].dropna()} - {*ANSWERS}:
                raise ValueError("a column or an answer is unknown or missing")
            found.append(frame.assign(origin=path.parent.name))
        except (ValueError, DatabaseError) as error:
            problems.append(refusal(path.parent.name, error))
    return pd.concat(found) if found else pd.DataFrame(), problems
