"""The Parti-Prompts arena in one table: prompt, generator, image, votes.

Layouts, as far as they are public: the generations are data sets of the hub, one a generator
(`diffusers-parti-prompts/<generator>`), Parquet with the columns Prompt, Category, Challenge, Note, images (bytes and
path), model_name and seed, in the order of the 1,632 prompts. How the votes were published is not documented; the forms
that are read here are assumptions (`_votes`), and a table in none of them is refused with its columns.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from compute.content import decoding
from compute.io import forms
from compute.io.files import replacing
from compute.io.forms import BLANK, WHOLE, Form, FormField
from compute.tasks import parquet
from compute.tasks.generators.sources import repeated, some
from compute.types import BadInput

ORGANISATION = "diffusers-parti-prompts"
GENERATORS = ("sd-v1-5", "sd-v2.1", "if-v-1.0", "karlo-v1")  # of the arena that the paper's Table 2 rests on
PROMPT, IMAGES, SEED = "Prompt", "images", "seed"
ABOUT = ("Category", "Challenge", "Note")
CHOSEN = FormField("result", ("selected", "choice", "winner", "model", "generator", "model_name"), BLANK)
COUNTS = FormField("votes", ("count", "num_votes"), WHOLE, optional=True)
POSITIONS = FormField("id", ("index", "question", "question_id", "prompt_id", "row"), WHOLE)
FORMS = (
    Form("by text", (FormField("prompt", kind=BLANK), CHOSEN, COUNTS)),
    Form("by row", (POSITIONS, CHOSEN, COUNTS)),
)
BLOCK = 200  # rows of images in memory


def write(
    path: Path, *, generations: Mapping[str, parquet.Table], votes: Sequence[Path] = ()
) -> tuple[dict[str, int], list[str]]:
    """Writes the table of these generators' data sets to `path` (.parquet), a row an image. Returns how many rows,
    prompts and votes, and what to know.

    Columns: prompt, generator, image {bytes, path}, votes (null where there are none at all), category, challenge, note
    and seed. Memory holds BLOCK images. Raises BadInput for a data set of another layout, an image that is none, and
    votes that name none of the generators.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    prompts = {name: _prompts(name, table) for name, table in generations.items()}
    counted, notes = _votes(votes, prompts) if votes else (Counter(), [])
    schema = pa.schema(
        [
            ("prompt", pa.string()),
            ("generator", pa.string()),
            ("image", pa.struct([("bytes", pa.binary()), ("path", pa.string())])),
            ("votes", pa.int64()),
            ("category", pa.string()),
            ("challenge", pa.string()),
            ("note", pa.string()),
            ("seed", pa.int64()),
        ]
    )
    rows = 0
    with replacing(path) as draft, pq.ParquetWriter(draft, schema) as writer:
        for name, table in generations.items():
            about = {column: table.values(column)[0] for column in (*ABOUT, SEED) if column in table.columns}
            images, own = table.rows(IMAGES), prompts[name]
            for start in range(0, len(own), BLOCK):
                block = range(start, min(start + BLOCK, len(own)))
                writer.write_table(
                    pa.Table.from_pylist(
                        [
                            {
                                "prompt": own[at],
                                "generator": name,
                                "image": {"bytes": _image(images[at], f"{name}, row {at}"), "path": None},
                                "votes": counted[name, own[at]] if votes else None,
                                **{key.lower(): values[at] for key, values in about.items()},
                            }
                            for at in block
                        ],
                        schema=schema,
                    )
                )
            rows += len(own)
    every = dict.fromkeys(text for texts in prompts.values() for text in texts)
    without = {name: [text for text in every if text not in texts] for name, texts in prompts.items()}
    lines = [f"{name}: {some(missing, noun='prompt')} without an image" for name, missing in without.items() if missing]
    return {"rows": rows, "prompts": len(every), "votes": counted.total()}, [*lines, *notes]


def _prompts(name: str, table: parquet.Table) -> list[str]:
    (texts,) = table.values(PROMPT)
    if not all(isinstance(text, str) and text.strip() for text in texts):
        raise BadInput(f"{name}: a prompt is empty")
    if twice := repeated(texts):
        raise BadInput(f"{name}: {some(twice, noun='prompt')} appear more than once, so their votes are ambiguous")
    return [text.strip() for text in texts]


def _votes(paths: Sequence[Path], prompts: Mapping[str, list[str]]) -> tuple[Counter[tuple[str, str]], list[str]]:
    """Votes by generator and prompt, and what could not be placed.

    Assumed of a table of votes (`compute.io.tables`): a row a vote, or a row a count in a column of COUNTS; the
    generator in one of CHOSEN; the prompt as text in `prompt`, or by its row among the first generator's prompts in a
    column of POSITIONS. Raises BadInput naming the columns there are.
    """
    known, first = {name: set(texts) for name, texts in prompts.items()}, next(iter(prompts.values()))
    counted = Counter()
    others = Counter()
    lost = 0
    for path in paths:
        _, frame, _ = forms.read(path, FORMS)
        if "prompt" not in frame:
            frame["prompt"] = [first[row] if row < len(first) else "" for row in frame["id"].astype(int)]
        counts = frame["votes"].astype(int) if "votes" in frame else [1] * len(frame)
        for name, prompt, votes in zip(frame["result"], frame["prompt"], counts, strict=True):
            if name not in known:
                others[name] += votes
            elif prompt in known[name]:
                counted[name, prompt] += votes
            else:
                lost += votes
    if not counted:
        raise BadInput(
            f"No vote is for one of {', '.join(prompts)}; the votes name {some(others, noun='generator')}. Are these "
            "the generators' names in the votes?"
        )
    notes = []
    if others:
        notes.append(f"{others.total():,} votes for {some(others, noun='generator')} that are not read, skipped")
    if lost:
        notes.append(f"{lost:,} votes for prompts that their generator does not have, skipped")
    return counted, notes


def _image(data: Any, name: str) -> bytes:
    if not isinstance(data, bytes):
        raise BadInput(f"{name}: there is no image")
    try:
        decoding.opened(data)
    except BadInput as error:
        raise BadInput(f"{name}: {error}") from error
    return data
