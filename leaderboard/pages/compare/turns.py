"""What sections whose work is done in turns answer to the browser: JSON, and a sentence for an error."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from leaderboard.web.errors import explain
from leaderboard.web.redact import redact_paths

FAILED = "failed"  # a state besides those of the work


def answered(payload: Any, answer: Callable[[dict[str, Any]], dict[str, Any]], *, action: str) -> str:
    """The answer as JSON with the payload's `turn`, so that two answers are never equal.

    An error becomes a sentence; `action` names in the log what failed.
    """
    payload = payload if isinstance(payload, dict) else {}
    try:
        facts = answer(payload)
    except Exception as error:
        facts = {"state": FAILED, "message": redact_paths(explain(error, action=action))}
    number = payload.get("turn")
    text = json.dumps(facts | {"turn": number if isinstance(number, int) else 0}, ensure_ascii=False)
    return text.replace("<", "\\u003c")  # so that Gradio reads no markup
