"""The training examples as conversations for tuning multi-modal language models (UniSim-LL-N, appendix B.2).

The layout is LLaVA's: a list of entries with `id`, `image` (paths below one folder) and `conversations`, in which an
`<image>` stands for each image in turn. The tuning itself is left to existing trainers.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from compute.content import decoding
from compute.content.items import Column
from compute.io.files import DRAFT, draft_of, refusal, replacing, words_beside, write_text
from compute.progress import Progress
from compute.training.examples import Example, Examples, naming, taken, text
from compute.types import BadInput, CannotWrite

VERSION = 1  # of the templates: raise it when a wording changes
# The paper's numbers of samples (appendix B.2): at most so many of a task.
COUNTS = {"image-choice": 120_000, "image-for-text": 300_000, "text-for-image": 300_000, "quality": 120_000}
FILE, RECORD, TOKEN = "instructions.json", "record.json", "<image>"
# Questions with {reference}, {first}, {second} where contents stand, each with its answers for either one, by task.
TEMPLATES: dict[str, list[tuple[str, list[str]]]] = {
    task: [(each["question"], each["answers"]) for each in rows] for task, rows in words_beside(__file__).items()
}


def export(
    sets: Sequence[Examples],
    folder: Path,
    *,
    seed: int,
    counts: Mapping[str, int],
    leaks: str,
) -> dict[str, Any]:
    """Writes `instructions.json`, images under `images/` by content key, and `record.json`, which it returns.

    At most `counts` examples of each task, none twice, drawn by the seed. Of a task's conversations half have the first
    alternative as the right answer, with every template. The file is streamed, and there whole or not at all; a second
    call writes only the images that are missing. `leaks` says in the record what was compared. Raises BadInput for
    examples that cannot be read, and for a folder with something that no export wrote; CannotWrite.
    """
    names = set(os.listdir(folder)) if folder.is_dir() else set()
    if foreign := sorted(name for name in names - {FILE, RECORD, "images"} if not DRAFT.fullmatch(name)):
        raise BadInput(f"{folder} holds {foreign[0]}, which this command did not write. Name an empty or a new folder")
    tasks: dict[str, list[Examples]] = {}
    for part in sets:
        tasks.setdefault(part.task, []).append(part)
    numbers = {task: min(sum(map(len, parts)), counts[task]) for task, parts in tasks.items()}
    images: set[str] = set()

    def store(column: Column, row: int) -> str:
        with naming(column, row):
            form = (decoding.opened(column.read(row)).format or "image").lower()
        key = column.keys[row].decode()
        name = f"images/{key[:2]}/{key}.{'jpg' if form == 'jpeg' else form}"
        if name not in images and not (folder / name).is_file():
            (folder / name).parent.mkdir(exist_ok=True)
            draft = draft_of(folder / name)
            draft.write_bytes(column.read(row))
            os.replace(draft, folder / name)
        images.add(name)
        return name

    bar = Progress().bar("Writing conversations", total=sum(numbers.values()), unit="conversation")
    try:
        (folder / "images").mkdir(parents=True, exist_ok=True)
        with replacing(folder / FILE) as draft, draft.open("w", encoding="utf-8") as file, bar as done:
            written = Counter(dict.fromkeys(numbers, 0))
            for at in range(sum(numbers.values())):  # spread evenly, so that the file's beginning is a sample
                task = min(numbers, key=lambda name: (written[name] + 1) / numbers[name])
                (example,), number = taken(tasks[task], [written[task]], seed=seed), written[task]
                written[task] += 1
                text = json.dumps(conversation(example, number, store), ensure_ascii=False)
                file.write(f"{',' if at else '['}\n{text}")
                done(1)
            file.write("\n]\n")
    except OSError as error:
        raise CannotWrite(refusal(folder / FILE, error)) from error
    record = {
        "file": FILE,
        "version": VERSION,
        "seed": seed,
        "counts": numbers,
        "datasets": {task: [part.dataset for part in parts] for task, parts in tasks.items()},
        "images": len(images),
        "leaks": leaks,
    }
    write_text(folder / RECORD, json.dumps(record, indent=2) + "\n")
    return record


def conversation(example: Example, number: int, store: Callable[[Column, int], str]) -> dict[str, Any]:
    """Returns the `number`-th entry of its task: the right answer is the first alternative at even numbers, and every
    template comes at as many even as odd ones. `store` gives the path of an image."""
    part, row = example
    templates = TEMPLATES[part.task]
    (question, answers), answer = templates[number // 2 % len(templates)], number % 2
    reference, *alternatives = part.columns
    first, second = alternatives if part.data.answer[row] == answer else alternatives[::-1]
    columns = {"reference": reference, "first": first, "second": second}
    used = [name for name in columns if f"{{{name}}}" in question]
    used.sort(key=lambda name: question.index(f"{{{name}}}"))
    shown = {
        name: TOKEN if columns[name].modality == "image" else text(columns[name], row).replace(TOKEN, "image").strip()
        for name in used
    }
    return {
        "id": f"{part.task}-{part.dataset}-{number}",
        "image": [store(columns[name], row) for name in used if columns[name].modality == "image"],
        "conversations": [
            {"from": "human", "value": question.format(**shown)},
            {"from": "gpt", "value": answers[answer]},
        ],
    }
