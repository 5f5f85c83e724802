"""Your eyes: how studies are made in turns, and what its routes take and answer."""

from __future__ import annotations

import json
import time
from contextlib import nullcontext
from functools import partial
from html import unescape
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from compute.eyes.folder import EyesSettings, StudyFolder
from compute.eyes.study import MOST_VALUES, Judgment, Study
from compute.training.examples import QUALITY_PROMPT
from compute.types import BadInput
from leaderboard.live.live import Live
from leaderboard.pages.eyes import routes, studies
from leaderboard.web.errors import guarded
from tests.compute.live.pictures import png
from tests.compute.live.zips import packed

SESSION = "a" * 32
COLOURS = ("red", "orange", "yellow", "green", "blue", "black", "white", "purple")
IMAGES = {f"{colour}.png": png(colour) for colour in COLOURS}
STUDY = Study(
    kind="image",
    contents=list(IMAGES),
    questions=[(at % 8, (at + 1 + at // 8) % 8, (at + 4 + at // 8) % 8) for at in range(24)],
    models={"ssim": "SSIM", "<b>hostile</b>": "<b>hostile</b>"},
    picks={"ssim": [0] * 24, "<b>hostile</b>": [1] * 24},
    notes=["<i>note</i>"],
)


def judged(*, count: int, rater: str = "me", seed: int = 1, choice: int | None = 0) -> list[dict[str, Any]]:
    """A rater's first answers."""
    facts = {"time": "2026-01-01T00:00:00Z", "rater": rater, "seed": seed, "choice": choice}
    order = enumerate(studies.ordered(STUDY, seed=seed, early=0)[:count])
    return [facts | dict(zip(("order", "question", "draw", "left"), (at, *each), strict=True)) for at, each in order]


def body(judgments: list[dict[str, Any]]) -> dict[str, Any]:
    return {"study": STUDY.model_dump(), "judgments": judgments}


def site_of(live: Live, *, study: StudyFolder | None = None, study_key: str = "") -> SimpleNamespace:
    guard = partial(guarded, snapshot=nullcontext)
    return SimpleNamespace(live=live, study=study, study_key=study_key, guard=guard)


def report(app: TestClient, judgments: list[dict[str, Any]]) -> dict[str, Any]:
    """The answer, for which the server got the study before."""
    opened = app.post("/eyes/order?seed=1", json=body([])).json()
    return app.post("/eyes/report", params={"study": opened["id"]}, json=judgments).json()


@pytest.fixture
def client():
    def made(folder: StudyFolder | None = None, key: str = "") -> TestClient:
        site = site_of(Live(), study=folder, study_key=key)
        headers = {"x-likeness-session": SESSION}
        return TestClient(Starlette(routes=routes.routes(site)), raise_server_exceptions=False, headers=headers)

    return made


@pytest.fixture
def live(monkeypatch):
    live = Live()
    metrics = [live.roster.row(key) for key in ("colour-histogram", "ssim")]
    monkeypatch.setattr(live.roster, "usual", lambda mode, kinds: metrics)
    return live


def made(making: studies.Studies, payload: dict[str, Any]) -> dict[str, Any]:
    """What all turns answer."""
    facts = making.turn(payload, None)
    while facts["state"] == "running":
        facts |= making.turn(payload | {"file": ""}, None)
    return facts


def payload(**changes: Any) -> dict[str, Any]:
    return {"session": SESSION, "source": "upload", "kind": "image", "seed": 5} | changes


def test_a_visitor_s_images_become_a_study_in_turns_and_are_dropped(live, monkeypatch):
    monkeypatch.setattr(studies, "TURN", 0.0)
    making = studies.Studies(site_of(live))
    file = live.uploads.add_file(SESSION, packed(IMAGES | {"broken.png": b"nothing"}))
    first = making.turn(payload(file=file), None)
    assert first["state"] == "running" and 0 <= first["share"] < 1
    while "study" not in (asked := making.turn(payload(), None)):
        pass
    drawn = Study.model_validate(asked["study"])
    assert drawn.questions and not drawn.models and any(note.startswith("broken.png") for note in drawn.notes)
    assert {draw for _, draw, _ in asked["order"]} == {"early", "repeat"}
    facts = made(making, payload(early=3))
    assert "study" not in facts and facts["order"][:3] == asked["order"][:3] != facts["order"][:4]
    study = drawn.model_copy(update=facts["picked"])
    assert set(study.models) == {"colour-histogram", "ssim"} and len(study.chance) == len(study.questions)
    assert Study.model_validate_json(live.uploads.file(SESSION, facts["id"])) == study
    with pytest.raises(BadInput, match="Add them again"):
        making.turn(payload(), None)


def test_the_photographs_study_is_shipped(client):
    first, other = (client().get(f"/eyes/study?kind=text&seed={seed}").json() for seed in (5, 6))
    assert other["key"] == first["key"] and other["order"] != first["order"] and first["study"]["picks"]


@pytest.mark.parametrize("wrong", [{"kind": "video"}, {"seed": -1}, {"seed": "1"}, {"file": "none"}, {"session": "x"}])
def test_a_request_that_no_page_sends_is_refused(live, wrong):
    with pytest.raises(BadInput):
        studies.Studies(site_of(live)).turn(payload(**wrong), None)


def test_a_sender_has_one_study_made_at_a_time_and_one_that_is_not_fed_waits(live, monkeypatch):
    monkeypatch.setattr(studies, "TURN", 0.0)
    monkeypatch.setattr(studies, "sender", lambda request: request)
    making = studies.Studies(site_of(live))

    def turn(number: int, address: str, *, is_first: bool = False) -> str:
        session = f"{number:032x}"
        file = live.uploads.add_file(session, packed(IMAGES)) if is_first else ""
        facts = making.turn(payload(session=session, file=file), address)
        return facts["what"] if facts.get("waits") else ""

    def wait(number: int) -> None:
        live.uploads.results(f"{number:032x}")[studies.KEY].used -= studies.IDLE

    full = str(studies.MOST_MADE)
    assert turn(1, "a", is_first=True) == "" and "your address" in turn(2, "a", is_first=True)
    assert {turn(at, f"other {at}", is_first=True) for at in range(3, 2 + studies.MOST_MADE)} == {""}
    assert full in turn(50, "b", is_first=True)
    wait(1)
    assert turn(50, "b", is_first=True) == "" and full in turn(1, "a")  # its images are still there
    wait(50)
    assert turn(1, "a") == ""


PAIR = "alternative_1,alternative_2"
TABLES = {
    f"reference,{PAIR}\nred.png,blue.png,green.png\n": ("image", [("red.png", "blue.png", "green.png")]),
    f"prompt,{PAIR}\na rose,red.png,blue.png\n": ("text", [("a rose", "red.png", "blue.png")]),
    f"{PAIR}\nred.png,blue.png\n": ("quality", [("", "red.png", "blue.png")]),
    f"prompt,{PAIR}\n{QUALITY_PROMPT},red.png,blue.png\n": ("quality", [("", "red.png", "blue.png")]),
    "prompt\na rose\na rose\nthe sea\n": ("text", None),
}


@pytest.mark.parametrize("table", TABLES)
def test_a_table_gives_prompts_or_questions_of_its_own_kind(table):
    folder = {f"folder/{name}": data for name, data in IMAGES.items()}
    found = studies.uploaded(packed(folder | {"folder/manifest.csv": table.encode()}), kind="image")
    kind, questions = TABLES[table]
    placed = questions and [tuple(f"folder/{name}" if name in IMAGES else name for name in row) for row in questions]
    assert (found.kind, found.questions) == (kind, placed) and len(found.images) == len(IMAGES)
    assert list(found.prompts) == (["a rose", "the sea"] if placed is None else [])


@pytest.mark.parametrize(
    "files",
    [
        {f"{at}.png": b"" for at in range(201)},
        {"a.csv": b"prompt\nx\n", "b.csv": b"prompt\nx\n"},
        {"a.csv": b"other\nx\n"},
    ],
    ids=["images", "tables", "columns"],
)
def test_a_zip_out_of_bounds_is_refused(files):
    with pytest.raises(BadInput):
        studies.uploaded(packed(files), kind="text")


def test_a_report_ranks_models_and_hands_out_the_votes(client):
    answer = report(client(), judged(count=23))
    assert "SSIM agrees" in answer["html"] and "likeness run" in answer["html"] and "--tune" not in answer["html"]
    assert "<b>hostile" not in answer["html"] and "<i>note" not in answer["html"]
    other = report(client(), judged(count=23, choice=1))
    assert "--models '<b>hostile</b>'" in unescape(other["html"])  # quoted, as a shell would run it
    head, *rows = answer["manifest"].splitlines()
    assert head.startswith("name,prompt,alternative_1") and all(row.endswith(",1,0") for row in rows)


@pytest.mark.parametrize("path", ["order?seed=1", "judgment"])
@pytest.mark.parametrize(
    "sent",
    [
        b"{",
        b"[" * 100_000,
        b"[" + b"1," * MOST_VALUES + b"1]",
        b"\xff",
        b'{"study": {"kind": "image"}}',
        json.dumps(body(judged(count=5))).encode(),
    ],
)
def test_what_is_not_enough_or_not_of_this_page_gets_a_sentence(client, tmp_path, path, sent):
    answer = client(folder(tmp_path)).post(f"/eyes/{path}", content=sent)
    if path == "order?seed=1" and b"judgments" in sent:
        assert answer.status_code == 200
        return
    assert answer.status_code == 400 and "Something failed" not in answer.json()["error"]


def test_a_saved_study_goes_on_with_its_rater_or_begins_for_another(client):
    sent = body(judged(count=5, rater="ann", seed=7))
    same, other = (client().post(f"/eyes/order?seed=9{more}", json=sent).json() for more in ("", "&rater=bob"))
    assert (same["rater"], same["seed"], same["source"], "study" in same) == ("ann", 7, "upload", False)
    assert (other["rater"], other["seed"], other["key"]) == ("bob", 9, same["key"])


def folder(path: Path) -> StudyFolder:
    """A study of this machine, whose questions are drawn."""
    (path / "source").mkdir()
    for name, data in IMAGES.items():
        (path / "source" / name).write_bytes(data)
    made = StudyFolder.created(path / "eyes", EyesSettings(source=str(path / "source"), rater="ann", seed=3))
    made.save(STUDY)
    return made


def test_a_folder_s_study_is_asked_about_and_its_answers_are_on_disk(client, tmp_path):
    study = folder(tmp_path)
    app = client(study)
    facts = app.get("/eyes/study").json()
    assert (facts["source"], facts["rater"], facts["seed"], facts["judgments"]) == ("folder", "ann", 3, [])
    image = app.get("/eyes/folder/image", params={"name": "red.png"})
    assert (image.content, image.headers["content-type"]) == (IMAGES["red.png"], "image/png")
    assert app.get("/eyes/folder/image", params={"name": "../eyes/settings.json"}).status_code == 404
    (answer,) = judged(count=1, rater="ann", seed=3)
    assert app.post("/eyes/judgment", json=answer).json() == {"stored": 1}
    assert study.judgments() == [Judgment(**answer)] and len(app.get("/eyes/study").json()["judgments"]) == 1


def test_the_host_s_study_is_nobody_s_without_its_key(client, tmp_path):
    study = folder(tmp_path)
    app = client(study, "secret")
    (answer,) = judged(count=1, rater="ann", seed=3)
    asked = (
        ("GET", "/eyes/study", {}, None),
        ("GET", "/eyes/folder/image", {"name": "red.png"}, None),
        ("POST", "/eyes/judgment", {}, answer),
        ("POST", "/eyes/tune", {"model": "ssim"}, None),
    )
    for given in ({}, {"key": ""}, {"key": "é"}, {"key": "secre"}, {"key": "secret"}):
        known = given.get("key") == "secret"
        codes = [app.request(how, path, params=of | given, json=sent).status_code for how, path, of, sent in asked]
        assert codes == ([200, 200, 200, 400] if known else [404] * 4)  # nothing is tuned that is not in the study
        opened = app.post("/eyes/order", params={"seed": 1} | given, json=body([])).json()
        assert opened["source"] == ("folder" if known else "upload")
    assert study.judgments() == [Judgment(**answer)]


def test_without_a_folder_there_is_none(client):
    paths = ("study", "folder/image?name=a", "photographs/image?name=a", "photographs/image?name=cat.webp")
    *missing, image = (client().get(f"/eyes/{path}") for path in paths)
    assert [each.status_code for each in missing] == [404] * 3 and image.headers["content-type"] == "image/webp"


def test_the_button_tunes_as_the_command_does(client, tmp_path):
    study = StudyFolder.created(tmp_path / "eyes", EyesSettings(source=str(tmp_path)))
    study.save(STUDY.model_copy(update={"models": {"tiny": "Tiny"}, "picks": {"tiny": [0] * len(STUDY.questions)}}))
    app = client(study)
    assert "tiny" in app.post("/eyes/tune?model=ssim").json()["error"]
    facts = app.post("/eyes/tune?model=tiny").json()
    deadline = time.monotonic() + 60
    while facts["running"] and time.monotonic() < deadline:
        time.sleep(0.2)
        facts = app.post("/eyes/tune").json()
    assert "200" in facts["lines"][-1] and not facts["running"]  # too few answers, as the command says
