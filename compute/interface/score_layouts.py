"""Reads scores in the layouts that programs and boards write, as one frame: a row per model, or long.

Sources are frames (pandas, polars, mteb), dictionaries, files (`compute.io.tables`, JSON, Markdown) and folders of
them, a file per model. Results of lm-evaluation-harness, OpenCompass, CLIP_benchmark, DataComp and wandb are recognised
by their columns. Of several measures of a task one counts: the main one according to the file, else the first one for
which lower is not better.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any
from unicodedata import normalize

import numpy as np
import pandas as pd

from compute.analysis.table import shown
from compute.io.column_names import MAIN, SUM, has_role, higher_is_better
from compute.io.files import parse_json
from compute.io.forms import Form, FormField
from compute.io.numbers import NO_NUMBER, read_numbers
from compute.io.tables import TableFile, is_table, read_lines, read_table
from compute.types import BadInput

MODELS = ("model", "method", "models", "model_name", "arch")
SCORES = "scores"  # the title of a table without a file
LONG = Form(
    "long",
    (
        FormField("model", MODELS[1:]),
        FormField("task", ("scenario", "dataset", "benchmark")),
        FormField("value", ("score", "mean", "result")),
        FormField("stderr", ("std_err", "std", "se"), optional=True),
        FormField("n", optional=True),
        FormField("category", optional=True),
        FormField("higher_is_better", optional=True),
    ),
)
LM_EVAL = Form(
    "lm-eval", (FormField("tasks", ("task",)), FormField("version"), FormField("metric"), FormField("value"))
)
OPENCOMPASS = Form("OpenCompass", tuple(map(FormField, ("dataset", "version", "metric", "mode"))))
MEASURES = Form("measures", (FormField("model", MODELS[1:]), FormField("dataset", ("task",))))
WANDB = Form("wandb", tuple(map(FormField, ("name", "state", "created", "runtime"))))
OF_OPENVLM = "META"  # the facts of a model in OpenVLM.json
OF_WANDB = ("state", "notes", "user", "tags", "created", "runtime", "sweep", "_step", "_runtime", "_timestamp")
MTEB_TASK = ("task_name", "split", "subset")  # the columns that name a task in mteb's frames, one or more of them
NAMELESS = re.compile(r"(?:Unnamed: \d+(?:_level_\d+)?)?")  # pandas' names of columns without one
RULE = re.compile(r"[\s|:-]*-[\s|:-]*")  # below the heading of a table in Markdown
CELL, EDGES = re.compile(r"(?<!\\)\|"), re.compile(r"^\||(?<!\\)\|$")
STRONG = re.compile(r"(?<!\w)__(\S|\S.*?\S)__(?!\w)")  # not inside a name: org__model
MARKS = re.compile(r"\*\*|<br ?/?>|</?(?:b|u|strong)>|`|!?\[(?=[^\]]*\]\()|\]\([^)]*\)")
OF_MODEL = re.compile(r"""(?:pretrained|model|model_name|model_path)=["']?([^,"')\s]+)""")


TableOfScores = Annotated[  # Any: objects that convert themselves to frames, like mteb's results
    pd.DataFrame | Path | str | Any | Mapping[str, Any] | Sequence[Mapping[str, Any]],
    "CSV, TSV, Excel, JSON, JSON Lines, Parquet or Markdown: a row a model and a column a task, or the columns model, "
    "task, value and optionally stderr, n, category, higher_is_better; or a folder, a file a model.",
]


def opened(scores: TableOfScores) -> TableFile:
    """Returns the frame of any supported source. Raises BadInput."""
    if isinstance(scores, str | Path):
        return _of_path(Path(scores))
    frame = _of_object(scores, SCORES) if isinstance(scores, Mapping | list) else scores
    for method in ("to_dataframe", "to_pandas"):
        if hasattr(frame, method):
            frame = getattr(frame, method)()
    if not isinstance(frame, pd.DataFrame):
        raise BadInput(
            f"scores is a {type(scores).__name__}; give a frame of pandas or polars, a dictionary of columns, the path "
            "of a table, or mteb's results"
        )
    return TableFile(title=SCORES, frame=frame)


def laid_out(given: TableFile, *, model: str, transpose: bool) -> tuple[TableFile, dict[str, str]]:
    """Returns what was `opened` with columns under their names and known layouts as a long table.

    Also returns the group of each task, if the table has two rows of headings. Raises BadInput.
    """
    if transpose:
        return replace(given, frame=named(given.frame)), {}
    frame, groups = _grouped(named(given.frame))
    frame, nameless = _without_nameless(named(frame), model=model)
    if model not in MTEB_TASK:
        frame = _of_mteb(frame)
    frame, notes = _known(frame)
    return replace(given, frame=frame, notes=(*given.notes, *nameless, *notes)), groups


# ---- sources as frames


def _of_path(path: Path) -> TableFile:
    if not path.is_dir():
        return _of_file(path)
    every = [file for file in sorted(path.rglob("[!.]*")) if file.is_file() and not file.name.startswith("samples_")]
    files = [file for file in every if is_table(file) or file.suffix == ".json"]
    files = files or [file for file in every if file.suffix == ".md"]
    if not files:
        raise BadInput(f"{path} holds no table: no file ends in .csv, .json, .jsonl, .md or another ending of tables")
    bases = [file.stem for file in files]
    names = bases if len({*bases}) == len(files) else [file.parent.name for file in files]
    read = [_of_file(file, name) for file, name in zip(files, names, strict=True)]
    frames = [
        one.frame if LONG.columns(list(map(str, one.frame))).get("model") else one.frame.assign(model=name)
        for one, name in zip(read, names, strict=True)
    ]
    notes = dict.fromkeys(note for one in read for note in one.notes)
    said = f"Read: {len(files):,} files of {path.name}, such as {files[0].relative_to(path)}."
    return TableFile(
        title=SCORES, frame=pd.concat(frames, ignore_index=True), comma=read[0].comma, notes=(said, *notes)
    )


def _of_file(path: Path, name: str = "") -> TableFile:
    """Reads a file; `name` is the model of a file that names none."""
    if path.suffix.lower() == ".json":
        try:
            content = parse_json("\n".join(read_lines(path)), name=path.name)
        except ValueError as error:
            raise BadInput(f"{path.name} cannot be read as JSON ({error})") from error
        return TableFile(title=SCORES, frame=_of_object(content, path.name, model=name or path.stem))
    if path.suffix.lower() == ".md":
        return _of_markdown(path)
    file = read_table(path, repeated=True)
    frame = file.frame
    for column in frame.columns[frame.dtypes.map(pd.api.types.is_object_dtype)]:  # of objects, in JSON
        inner = pd.json_normalize([cell if isinstance(cell, Mapping) else {} for cell in frame[column]])
        frame = frame.drop(columns=column).join(inner[[key for key in inner if key not in frame]])
    return replace(file, frame=frame)


def _of_object(content: Any, title: str, *, model: str = "") -> pd.DataFrame:
    """Converts records, columns, scores by model and task, results of lm-evaluation-harness, or
    OpenVLM's to a frame.
    """
    try:
        if isinstance(content, Mapping) and isinstance(content.get("results"), Mapping):
            results = content["results"]
            if not any(isinstance(one, Mapping) and OF_OPENVLM in one for one in results.values()):
                return pd.DataFrame(_of_lm_eval(content, model))
            rows = [
                (name, task, metric, parts[task][metric], None)
                for name, parts in results.items()
                for task in parts
                for metric in (_scored(parts[task]) if task != OF_OPENVLM else ())
            ]
            return pd.DataFrame(rows, columns=["model", "task", "metric", "value", "way"])
        by_model = isinstance(content, Mapping) and "model" not in LONG.columns(list(content))
        if by_model and content and all(isinstance(one, Mapping) for one in content.values()):
            return pd.DataFrame.from_dict(content, orient="index").rename_axis("model").reset_index()
        frame = pd.DataFrame(content)
    except (ValueError, TypeError, AttributeError) as error:
        raise BadInput(
            f"{title} is not a table ({error}). Give a list for each column, or an object for each row"
        ) from error
    if frame.empty:
        raise BadInput(f"{title} has no rows")
    return frame


def _of_lm_eval(content: Mapping[str, Any], model: str) -> Iterator[dict[str, Any]]:
    """Yields a row per measure of a task; parts of a group that has a score are skipped."""
    settings = content.get("config") or {}
    found = OF_MODEL.search(str(settings.get("model_args", "")))
    name = content.get("model_name") or (found[1] if found else model)
    results, ways = content["results"], content.get("higher_is_better") or {}
    parts = {
        part
        for group, of in (content.get("group_subtasks") or {}).items()
        for part in of
        if _scored(results.get(group))
    }
    for task, measures in results.items():
        for key in _scored(measures) if task not in parts else ():
            metric, _, kind = key.partition(",")
            error = measures.get(f"{metric}_stderr,{kind}" if kind else f"{metric}_stderr")
            error = error if isinstance(error, int | float) else np.nan
            way = (ways.get(task) or {}).get(metric)
            metric = key if kind not in ("", "none") else metric
            yield {"model": name, "task": task, "metric": metric, "value": measures[key], "stderr": error, "way": way}


def _scored(measures: Mapping[str, Any] | None) -> list[str]:
    """Returns the keys of a task's measures, without their errors."""
    return [
        key
        for key, value in (measures or {}).items()
        if isinstance(value, int | float) and "_stderr" not in key and key != "sample_len"
    ]


def _of_markdown(path: Path) -> TableFile:
    """Reads the first table of a text, or all of lm-evaluation-harness, each for the model in the line above."""
    tables = [(above, frame) for above, frame in _tables(read_lines(path)) if len(frame)]
    if not tables:
        raise BadInput(f"{path.name} has no table in Markdown")
    if LM_EVAL.missing([*tables[0][1]]):
        said = f"{path.name}: only the first of {len(tables)} tables is read."
        return TableFile(title=path.name, frame=tables[0][1], notes=(said,) * (len(tables) > 1))
    measures = [
        _of_harness(frame, found[1] if (found := OF_MODEL.search(above)) else above or path.stem)
        for above, frame in tables
        if not LM_EVAL.missing([*frame])
    ]
    return TableFile(title=path.name, frame=pd.concat(measures, ignore_index=True))


def _tables(lines: Sequence[str]) -> Iterator[tuple[str, pd.DataFrame]]:
    """Yields the tables of a text, each with the last line above it that is not part of a table."""
    above, rows = "", []
    for line, after in zip([*lines, ""], [*lines[1:], "", ""], strict=True):
        if CELL.search(line) and (rows or RULE.fullmatch(after)):
            rows.append(line)
            continue
        if rows:
            yield above, _in_markdown(rows)
        above, rows = line.strip(" #*:") or above, []


def _of_harness(table: pd.DataFrame, model: str) -> pd.DataFrame:
    """Returns a row per measure of a task; a task is named once, and parts of a group begin with a dash."""
    at = LM_EVAL.columns([*table])
    tasks, metrics = table[at["tasks"]].replace("", np.nan).ffill(), table[at["metric"]]
    filters = table.get("Filter", pd.Series("", table.index)).replace("none", "")
    ways = [False if "↓" in row else True if "↑" in row else None for row in table.to_numpy().tolist()]
    rows = pd.DataFrame({"model": model, "task": tasks, "value": table[at["value"]], "way": ways})
    rows = rows.assign(metric=(metrics + "," + filters).str.rstrip(","), stderr=table.get("Stderr", ""))
    return rows[~tasks.str.startswith("- ") & (metrics != "alias")]


def _in_markdown(lines: Sequence[str]) -> pd.DataFrame:
    """Returns the lines of a table as a frame, without markup for bold type, links and code."""
    head, _, *rows = [
        [plain(cell.replace(r"\|", "|")) for cell in CELL.split(EDGES.sub("", line.strip()))] for line in lines
    ]
    return pd.DataFrame([[*row, *[""] * len(head)][: len(head)] for row in rows], columns=head, dtype="str")


def plain(cell: str) -> str:
    """Returns a cell without Markdown markup."""
    return STRONG.sub(r"\1", MARKS.sub("", cell)).strip()


# ---- known layouts


def _known(frame: pd.DataFrame) -> tuple[pd.DataFrame, list[str]]:
    """Returns a frame in a known layout as a long or a wide one, and how it was read."""
    names = list(frame.columns)
    if {"model", "task", "metric", "value", "way"} <= {*names}:
        return _main_measures(frame, kept=["model"])
    if not OPENCOMPASS.missing(names):
        return _of_opencompass(frame, OPENCOMPASS.columns(names))
    if not WANDB.missing(names):
        skipped = [name for name in names if name.lower() in OF_WANDB]
        return frame.drop(columns=skipped), [f"Skipped, as wandb's own: {shown(skipped)}."]
    if not MEASURES.missing(names) and LONG.missing(names) == ["value"]:
        columns = MEASURES.columns(names)
        model, task = columns["model"], columns["dataset"]
        measures = [
            name
            for name in names
            if name not in columns.values() and (has_role(name, MAIN) or higher_is_better(name) is not None)
        ]
        if measures and frame[model].duplicated().any() and not pd.api.types.is_numeric_dtype(frame[task]):
            others = [name for name in names if name not in measures and name.lower() not in (task.lower(), "task")]
            long = frame.melt([*others, task], measures, var_name="metric")
            return _main_measures(long.rename(columns={task: "task"}), kept=others)
    return frame, []


def _of_opencompass(frame: pd.DataFrame, columns: Mapping[str, str]) -> tuple[pd.DataFrame, list[str]]:
    """Returns a long table of the main measures, with the model columns as rows; rows without a score are headings."""
    dataset, metric = columns["dataset"], columns["metric"]
    models = [name for name in frame if name not in columns.values()]
    frame = frame[~frame[models].apply(lambda cells: texts(cells).str.lower().isin(NO_NUMBER)).all(axis=1)]
    means = texts(frame[metric]).map(lambda name: has_role(name.replace("naive", ""), SUM))
    whole = [name for name in frame[dataset][means] if any(name in other for other in frame[dataset] if other != name)]
    frame = frame[~(means & frame[dataset].isin(whole))]
    long = frame.melt([dataset, metric], models, var_name="model").rename(columns={dataset: "task", metric: "metric"})
    long, notes = _main_measures(long, kept=["model"])
    return long, [*notes, *[f"Skipped, as means of others: {shown(whole)}."] * bool(whole)]


def _main_measures(frame: pd.DataFrame, *, kept: Sequence[str]) -> tuple[pd.DataFrame, list[str]]:
    """Returns the main measure of every task, as a long table with the columns `kept`, and a note about the others."""
    frame = frame[~texts(frame["value"]).str.lower().isin(NO_NUMBER)]
    told = zip(frame["metric"], frame.get("way", [None] * len(frame)), strict=True)
    way = {metric: said if isinstance(said, bool) else higher_is_better(metric) for metric, said in told}
    chosen = {
        task: min(dict.fromkeys(metrics), key=lambda metric: (not has_role(metric, MAIN), way[metric] is False))
        for task, metrics in frame.groupby("task", sort=False)["metric"]
    }
    others = [metric for metric in dict.fromkeys(frame["metric"]) if metric not in chosen.values()]
    frame = frame[frame["metric"] == frame["task"].map(chosen)].reset_index(drop=True)
    ways = frame["metric"].map(way)
    long = frame[[*kept, "task", "value", *({"stderr"} & {*frame})]]
    if ways.isna().any():
        lower = ways.eq(False)
        long = long.assign(task=long["task"].where(~lower, long["task"] + " (" + frame["metric"] + " ↓)"))
    else:
        long = long.assign(higher_is_better=ways.astype("str"))
    said = f"One measure of a task counts: {shown(dict.fromkeys(chosen.values()))}."
    return long, [f"{said} Not used: {shown(others)}." if others else said]


# ---- headings


def named(frame: pd.DataFrame) -> pd.DataFrame:
    """Returns the frame with column names as text, and an index that names models as a column."""
    if frame.columns.nlevels > 1 or frame.index.nlevels > 1:
        raise BadInput("The table has several levels of columns or rows. Flatten it: frame.reset_index()")
    names = [normalize("NFC", plain(str(name))) for name in frame.columns]
    names = ["model" if name == "__index_level_0__" else name for name in names]  # pandas' index
    frame = frame.set_axis(names, axis=1)
    index = frame.index
    title = str(index.name).strip() if index.name is not None else "model"
    if not pd.api.types.is_numeric_dtype(index.dtype) and "model" not in map(str.lower, names) and title not in names:
        frame = frame.reset_index(names=title)
    return frame


def _of_mteb(frame: pd.DataFrame) -> pd.DataFrame:
    """Returns a frame of mteb's results with models as rows, or long, under our names; other frames unchanged."""
    names = [name for name in MTEB_TASK if name in frame.columns]
    if "task_name" not in names:
        return frame
    tasks = frame[names].astype("str").agg(" ".join, axis=1)
    rest = frame.drop(columns=[*names, "is_public"], errors="ignore")
    if not {"model", "model_name"}.isdisjoint(rest.columns):
        return rest.rename(columns={"score": "value"}).assign(task=tasks)
    return rest.set_axis(tasks).T.rename_axis("model").reset_index()


def _grouped(frame: pd.DataFrame) -> tuple[pd.DataFrame, dict[str, str]]:
    """Returns the frame under the second of two rows of headings, and the group of each of its columns.

    The first row is the frame's own: it repeats names, or omits them for merged cells. Names that occur in two groups
    get the group appended: `en (Retrieval)`.
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
    if first and first[0] and not any(first[1:]):  # pandas' name of the index, in a separate row
        rows = rows.set_axis([first[0], *names[1:]], axis=1).iloc[1:].reset_index(drop=True)
    return rows, {name: group for name, group in zip(names, groups, strict=True) if group}


def _without_nameless(frame: pd.DataFrame, *, model: str) -> tuple[pd.DataFrame, list[str]]:
    """Returns the frame without unnamed columns, such as pandas' index, and a note about them.

    The first column stays if it names the models.
    """
    nameless = np.array([NAMELESS.fullmatch(name) is not None for name in frame.columns])
    if len(nameless) and not any(name.lower() == "model" or name == model for name in frame.columns[1:]):
        nameless[0] &= pd.to_numeric(frame.iloc[:, 0].astype(object), errors="coerce").notna().all()
    if not nameless.any():
        return frame, []
    where = ", ".join(str(at + 1) for at in np.flatnonzero(nameless))
    return frame.loc[:, ~nameless], [f"Skipped because it has no name: column {where} of the table."]


def texts(cells: pd.Series) -> pd.Series:
    """Returns cells as texts, including empty ones."""
    return cells.astype("str").str.strip().str.normalize("NFC").fillna("")
