"""Training examples as conversations for tuning multimodal language models (UniSim-LL-N, appendix B.2).

The layout is LLaVA's: a list of entries with `id`, `image` (paths below one folder) and `conversations`, in which each
`<image>` stands for the next image. Existing trainers do the tuning.
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

VERSION = 1  # of the templates: increase it when a wording changes
# The paper's numbers of samples (appendix B.2), as maxima per task.
COUNTS = {"image-choice": 120_000, "image-for-text": 300_000, "text-for-image": 300_000, "quality": 120_000}
FILE, RECORD, TOKEN = "instructions.json", "record.json", "<image>"
# Questions with {reference}, {first}, {second} as placeholders, each with its answers for either alternative, by task.
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

    At most `counts` distinct examples of each task are drawn by the seed. In half of a task's conversations, with every
    template, the first alternative is correct. The file is streamed and written whole or not at all; a second call
    writes only missing images. `leaks` is the record's statement of what was compared. Raises BadInput for unreadable
    examples and for a folder with files that no export wrote; CannotWrite.
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
            for at in range(sum(numbers.values())):  # spread evenly, so that the beginning of the file is a sample
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
    """Returns the `number`-th entry of its task. The first alternative is correct at even numbers, and every template
    has as many even as odd numbers. `store` returns the path of an image.
    """
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
