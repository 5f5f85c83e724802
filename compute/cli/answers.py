"""likeness answers: counts judges' stored answers and how many are invalid."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Annotated


def answers(
    *,
    drop_invalid: Annotated[bool, "Drop the invalid ones, so that they are asked again. Not while a run asks."] = False,
) -> Iterator[str]:
    """Counts judges' stored answers and the invalid ones: empty ones, which providers gave for failures,
    and those that were cut or lack a score or option."""
    from compute.io.files import write_text
    from compute.models.judges import answer_log
    from compute.procedures.shared import replies

    root, dropped = answer_log.usual_root(), 0
    for folder in sorted(root.glob("*/")):
        count, problems = 0, Counter[str]()
        for file in sorted(folder.glob("*/*.jsonl")):
            read = [(text, replies.problem_of(line) if line else "damaged") for text, line in answer_log.lines(file)]
            count += len(read)
            wrong = [problem for _, problem in read if problem]
            problems.update(wrong)
            if drop_invalid and wrong:
                write_text(file, "".join(f"{text}\n" for text, problem in read if not problem))
        invalid = problems.total()
        reasons = f" ({', '.join(f'{number:,} {problem}' for problem, number in problems.items())})" if invalid else ""
        what = "dropped" if drop_invalid else "invalid"
        yield f"{folder.name.replace('__', '/')}: {count:,} answers, {invalid:,} {what}{reasons}"
        dropped += invalid if drop_invalid else 0
    if dropped:
        yield "They are asked again by the next run; where that is stored already: run --again"
    if not root.exists():
        yield f"No judge has answered yet: there is no folder {root}"
