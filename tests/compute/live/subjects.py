"""Models for the tests of live questions: shipped rows, loaded once, and a judge that says what it is given."""

from functools import cache

from compute import models
from compute.catalog import shipped
from compute.content.messages import Picture, Reply
from compute.features.subject import MemoryStore, Subject
from compute.types import Model
from tests.compute.models.checkpoints import CPU

ROWS = {row.key: row for row in shipped().models}
JUDGE = Model(key="judge", title="Judge", kind="mllm", abilities=("choose", "score_pair"), modalities=("image", "text"))


@cache
def loaded(key):
    return models.load(ROWS[key], hardware=CPU)


def subject(row, *, model=None):
    """A row, or the shipped one of a key, in memory; with its own model unless one is given."""
    row = ROWS[row] if isinstance(row, str) else row
    return Subject(row, MemoryStore(), load=lambda row, hardware: model or loaded(row.key))


class Judge:
    """Says the next of its replies to each question, and remembers the questions."""

    def __init__(self, *replies):
        self.replies, self.questions = list(replies), []

    def reply(self, questions):
        self.questions += questions
        return [Reply(item=question.item, text=self.replies.pop(0)) for question in questions]

    def shown(self):
        """The keys of each question's images, in their order."""
        return [[part.key for part in each.parts if isinstance(part, Picture)] for each in self.questions]
