"""Made judges behind an endpoint: what speaks against each is said, and nothing against a good one."""

import re
from random import Random
from types import SimpleNamespace

import numpy as np
import pytest

from compute.engine.checking import judge
from compute.tasks.mini import choices
from tests.compute.commands import command, done
from tests.compute.models import chat_server

check = command("judge check endpoint:Made")


@pytest.fixture
def verdict(tmp_path, monkeypatch):
    """The last line about a judge that answers so; a choice is a question with its images."""
    monkeypatch.setenv("LIKENESS_ANSWERS", str(tmp_path / "answers"))

    def of(choice, rating=None):
        def reply(parts, usual=chat_server.reply):
            text = "".join(part.get("text", "") for part in parts)
            if "Options:" in text:
                images = [chat_server._image(part["image_url"]["url"]) for part in parts if "image_url" in part]
                return choice(text, images)
            return rating(text) if rating else usual(parts)

        monkeypatch.setattr(chat_server, "reply", reply)
        with chat_server.running() as server:
            monkeypatch.setenv("LIKENESS_ENDPOINT", server.url)
            *_, last = done(check("--results", tmp_path / "results")).output.splitlines()
            return last

    return of


def truth():
    """A function that gives the right option, A with blank images: what each caption shows is looked up."""
    shown = {}
    for task, rows in judge.TASKS.items():
        data = choices.choice(task)
        for row in rows.tolist():
            right = data.alternatives[data.answer[row]]
            text, image = (data.reference, right) if task == "image-for-text" else (right, data.reference)
            shown.setdefault(text.read(row), []).append(small(judge.decoding.decode(image.read(row))))

    def option(text, images):
        said = re.search("reference caption: (.+)[.] which of", text)
        captions = [said[1]] if said else re.search("caption 1: (.+), caption 2: (.+) \n", text).groups()
        far = [
            min((np.abs(each - small(image)).mean() for each in shown.get(caption, ())), default=255)
            for caption in captions
            for image in images
        ]
        return int(np.argmin(far)) if min(far) < 9 else 0

    return option


def small(image):
    return np.asarray(image.resize((16, 16)), float)


def test_a_good_judge_has_no_problem(verdict):
    option = truth()
    assert verdict(lambda *shown: "AB"[option(*shown)]).endswith(
        "(100% right, 50% with blank images): no problem found"
    )


def test_one_that_is_right_in_seven_of_ten_reads_images_but_not_in_both_orders(verdict):
    option = truth()

    def choice(text, images):
        lot = Random(text + "".join(str(small(image).sum()) for image in images))
        return "AB"[option(text, images) ^ (lot.random() > 0.7)]

    said = verdict(choice)
    assert 60 < int(re.search(r"(\d+)% right", said)[1]) < 80
    assert "both orders" in said and "images;" not in said and "option" not in said


def test_a_judge_that_cannot_be_asked_is_reported_and_stops_nothing():
    lines = []
    judge.check_once(SimpleNamespace(row=SimpleNamespace(key="own/gone")), report=lines.append)
    assert [line.partition(" ")[0] for line in lines] == ["own/gone"]


@pytest.mark.parametrize(
    "choice, rating, against",
    [
        (lambda text, images: "A", lambda text: "Score: 5", ["depend", "first option", "both orders", "unrelated"]),
        (lambda text, images: "B", None, ["depend", "second option", "both orders"]),
        (lambda text, images: "BA"[len(text) % 2], None, ["depend", "both orders"]),
        (lambda text, images: "5", lambda text: "5", ["choices cannot be read", "scores cannot be read"]),
    ],
    ids=["same", "second", "length", "unreadable"],
)
def test_what_speaks_against_a_judge(verdict, choice, rating, against):
    said = verdict(choice, rating).partition("): ")[2].split("; ")
    assert len(said) == len(against) and all(words in each for words, each in zip(against, said, strict=True))
