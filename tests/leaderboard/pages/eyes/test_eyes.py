"""Your eyes: how studies are made in turns, and what its routes take and answer."""

import json
from contextlib import nullcontext
from functools import partial
from html import unescape
from types import SimpleNamespace

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

SESSION, METRICS = "a" * 32, ["colour-histogram", "ssim"]
COLOURS = ("red", "orange", "yellow", "green", "blue", "black", "white", "purple")
IMAGES = {f"{colour}.png": png(colour) for colour in COLOURS}
STUDY = Study(
    kind="image",
    contents=list(IMAGES),
    questions=[(at % 8, (at + 1 + at // 8) % 8, (at + 4 + at // 8) % 8) for at in range(24)],
    chance=[0.0] * 24,
    models={"ssim": "SSIM", "<b>hostile</b>": "<b>hostile</b>"},
    picks={"ssim": [0] * 24, "<b>hostile</b>": [1] * 24},
    notes=["<i>note</i>"],
)


def judged(*, count, rater="me", seed=1, choice=0):
    """A rater's first answers."""
    facts = {"time": "2026-01-01T00:00:00Z", "rater": rater, "seed": seed, "choice": choice}
    order = enumerate(studies.ordered(STUDY, seed=seed, early=0)[:count])
    return [facts | dict(zip(("order", "question", "draw", "left"), (at, *each), strict=True)) for at, each in order]


def body(judgments):
    return {"study": STUDY.model_dump(), "judgments": judgments}


@pytest.fixture
def site(monkeypatch, tmp_path):
    """With two metrics and the host's own study, which has no key."""
    live = Live()
    monkeypatch.setattr(live.roster, "usual", lambda mode, kinds: list(map(live.roster.row, METRICS)))
    (tmp_path / "source").mkdir()
    for name, data in IMAGES.items():
        (tmp_path / "source" / name).write_bytes(data)
    settings = EyesSettings(source=str(tmp_path / "source"), rater="ann", seed=3, models=["colour-histogram"])
    study = StudyFolder.created(tmp_path / "eyes", settings)
    study.save(STUDY)
    guard = partial(guarded, snapshot=nullcontext)
    return SimpleNamespace(live=live, study=study, study_key="", guard=guard)


@pytest.fixture
def app(site):
    headers = {"x-likeness-session": SESSION}
    return lambda: TestClient(Starlette(routes=routes.routes(site)), raise_server_exceptions=False, headers=headers)


@pytest.fixture
def turn(site, monkeypatch):
    """The next turn, a step each; of a sender if one is named."""
    monkeypatch.setattr(studies, "TURN", 0.0)
    monkeypatch.setattr(studies, "sender", lambda request: request or "")
    making, usual = studies.Studies(site), {"session": SESSION, "source": "upload", "kind": "image", "seed": 5}
    return lambda sender="", **changes: making.turn(usual | changes, sender)


def ended(turn, **first):
    """What all turns answer, of which the later ones have three early questions."""
    facts = turn(**first)
    again = {name: value for name, value in first.items() if name not in ("file", "study")}
    while facts["state"] == "running":
        facts |= turn(**again, early=3)
    return facts


def test_a_visitor_s_images_become_a_study_before_models_pick_and_are_dropped(site, turn):
    uploads = site.live.uploads
    asked = turn(file=uploads.add_file(SESSION, packed(IMAGES | {"broken.png": b"nothing"})))
    assert asked["state"] == "running" and 0 <= asked["share"] < 1
    while "study" not in asked:
        asked = turn()
    drawn = Study.model_validate(asked["study"])
    assert drawn.questions and not drawn.models and any(note.startswith("broken.png") for note in drawn.notes)
    assert {draw for _, draw, _ in asked["order"]} == {"early", "repeat"}
    facts = ended(turn)
    assert "study" not in facts and facts["order"][:3] == asked["order"][:3] and facts["order"] != asked["order"]
    study = drawn.model_copy(update=facts["picked"])
    assert list(study.models) == METRICS and Study.model_validate_json(uploads.file(SESSION, facts["id"])) == study
    uploads.forget(SESSION)
    with pytest.raises(BadInput, match="Add them again"):
        turn()
    # A browser that was reloaded has the study and sends the images again.
    file = uploads.add_file(SESSION, packed(IMAGES))
    assert ended(turn, file=file, study=asked["study"])["picked"] == facts["picked"] | {"notes": drawn.notes}
    with pytest.raises(BadInput, match="missing"):
        turn(file=uploads.add_file(SESSION, packed({"red.png": b""})), study=asked["study"])


def test_the_models_of_a_folder_are_asked_while_its_questions_are(site, turn):
    site.study.study = None
    site.study.save(Study(**STUDY.model_dump(include={"kind", "contents", "questions"})))
    facts = ended(turn, source="folder")
    assert list(facts["picked"]["models"]) == ["colour-histogram"] and "study" not in facts
    assert StudyFolder.opened(site.study.path, writes=False).study.picks == facts["picked"]["picks"]
    site.study_key = "secret"
    with pytest.raises(BadInput):
        turn(source="folder", key="secre")


def test_the_photographs_study_is_shipped(app):
    first, other = (app().get(f"/eyes/study?kind=text&seed={seed}").json() for seed in (5, 6))
    assert other["key"] == first["key"] and other["order"] != first["order"] and first["study"]["picks"]


@pytest.mark.parametrize("wrong", [{"kind": "video"}, {"seed": -1}, {"seed": "1"}, {"file": "none"}, {"session": "x"}])
def test_a_request_that_no_page_sends_is_refused(turn, wrong):
    with pytest.raises(BadInput):
        turn(**wrong)


def test_a_sender_has_one_study_made_at_a_time_and_one_that_is_not_fed_waits(site, turn):
    def waits(number, address, *, is_first=False):
        session = f"{number:032x}"
        file = site.live.uploads.add_file(session, packed(IMAGES)) if is_first else ""
        facts = turn(address, session=session, file=file)
        return facts["what"] if facts.get("waits") else ""

    def idle(number):
        site.live.uploads.results(f"{number:032x}")[studies.KEY].used -= studies.IDLE

    full = str(studies.MOST_MADE)
    assert waits(1, "a", is_first=True) == "" and "your address" in waits(2, "a", is_first=True)
    assert {waits(at, f"other {at}", is_first=True) for at in range(3, 2 + studies.MOST_MADE)} == {""}
    assert full in waits(50, "b", is_first=True)
    idle(1)
    assert waits(50, "b", is_first=True) == "" and full in waits(1, "a")  # its images are still there
    idle(50)
    assert waits(1, "a") == ""


PAIR = "alternative_1,alternative_2"
TABLES = {
    f"reference,{PAIR}\nred.png,blue.png,green.png\nred.png,blue.png,gone.png\n": (
        "image",
        [("red.png", "blue.png", "green.png")],
    ),
    f"prompt,{PAIR}\na rose,red.png,blue.png\n": ("text", [("a rose", "red.png", "blue.png")]),
    f"prompt,{PAIR}\n{QUALITY_PROMPT},red.png,blue.png\n": ("quality", [("", "red.png", "blue.png")]),
    "prompt,image\na rose,red.png\na rose,a.png\nthe sea,b.png\n": ("text", None),
}


@pytest.mark.parametrize("table", TABLES)
def test_a_table_gives_prompts_or_questions_of_its_own_kind(table):
    folder = {f"folder/{name}": data for name, data in IMAGES.items()}
    found = studies.uploaded(packed(folder | {"folder/manifest.csv": table.encode()}), kind="image")
    kind, questions = TABLES[table]
    placed = questions and [tuple(f"folder/{name}" if name in IMAGES else name for name in row) for row in questions]
    assert (found.kind, found.questions) == (kind, placed) and len(found.images) == len(IMAGES)
    assert list(found.prompts) == (["a rose", "the sea"] if placed is None else [])
    assert all("gone.png" in note for note in found.notes) and len(found.notes) == table.count("gone")


PROMPT = b"prompt\nx\n"
BOUNDS = [{f"{at}.png": b"" for at in range(201)}, {"a.csv": PROMPT, "b.csv": PROMPT}, {"a.csv": b"other\nx\n"}]


@pytest.mark.parametrize("files", BOUNDS, ids=["images", "tables", "columns"])
def test_a_zip_out_of_bounds_is_refused(files):
    with pytest.raises(BadInput):
        studies.uploaded(packed(files), kind="text")


@pytest.mark.parametrize("choice, best, votes", [(0, "SSIM agrees", ",1,0"), (1, "'<b>hostile</b>'", ",0,1")])
def test_a_report_ranks_models_and_hands_out_the_votes(app, choice, best, votes):
    """For which the server got the study before; a command is quoted, as a shell would run it."""
    answers = json.dumps(judged(count=23, choice=choice)).encode()
    study = app().post("/eyes/order?seed=1", json=body([])).json()["id"]
    answer = app().post(f"/eyes/report?study={study}", content=answers).json()
    assert best in unescape(answer["html"]) and "likeness run" in answer["html"] and "--tune" not in answer["html"]
    assert "<b>hostile" not in answer["html"] and "<i>note" not in answer["html"]
    head, *rows = answer["manifest"].splitlines()
    assert head.startswith("name,prompt,alternative_1") and all(row.endswith(votes) for row in rows)
    assert app().post("/eyes/report?study=gone", content=answers).status_code == 404


@pytest.mark.parametrize("path", ["order?seed=1", "judgment", "report?study="])
@pytest.mark.parametrize(
    "sent",
    [
        b"{",
        b"[" * 100_000,
        b"[" + b"1," * MOST_VALUES + b"1]",
        b"\xff",
        b'{"study": {"kind": "image"}}',
        json.dumps(judged(count=5)).encode(),
    ],
)
def test_what_is_not_enough_or_not_of_this_page_gets_a_sentence(app, path, sent):
    study = app().get("/eyes/study").json()["id"] if path.endswith("=") else ""
    answer = app().post(f"/eyes/{path}{study}", content=sent)
    assert answer.status_code == 400 and "Something failed" not in answer.json()["error"]


def test_a_saved_study_goes_on_with_its_rater_or_begins_for_another(site, app):
    site.study = None
    sent = body(judged(count=5, rater="ann", seed=7))
    same, other = (app().post(f"/eyes/order?seed=9{more}", json=sent).json() for more in ("", "&rater=bob"))
    assert (same["rater"], same["seed"], same["source"], "study" in same) == ("ann", 7, "upload", False)
    assert (other["rater"], other["seed"], other["key"]) == ("bob", 9, same["key"])
    paths = ("study", "folder/image?name=a", "photographs/image?name=a", "photographs/image?name=cat.webp")
    *missing, image = (app().get(f"/eyes/{path}") for path in paths)
    assert [each.status_code for each in missing] == [404] * 3 and image.headers["content-type"] == "image/webp"


def test_a_folder_s_study_is_nobody_s_without_its_key_and_its_answers_are_on_disk(site, app):
    site.study_key = "secret"
    (answer,) = judged(count=1, rater="ann", seed=3)
    asked = (
        ("GET", "/eyes/study", {}, None),
        ("GET", "/eyes/folder/image", {"name": "red.png"}, None),
        ("GET", "/eyes/folder/image", {"name": "../eyes/settings.json"}, None),
        ("POST", "/eyes/judgment", {}, answer),
    )
    for given in ({}, {"key": ""}, {"key": "é"}, {"key": "secre"}, {"key": "secret"}):
        known = given.get("key") == "secret"
        found = [app().request(how, path, params=of | given, json=sent) for how, path, of, sent in asked]
        codes = [each.status_code for each in found]
        assert codes == ([200, 200, 404, 200] if known else [404] * 4)
        opened = app().post("/eyes/order", params={"seed": 1} | given, json=body([])).json()
        assert opened["source"] == ("folder" if known else "upload")
    assert (found[1].content, found[1].headers["content-type"]) == (IMAGES["red.png"], "image/png")
    facts = [found[0].json()[name] for name in ("source", "rater", "seed", "judgments")]
    assert facts == ["folder", "ann", 3, []] and found[3].json() == {"stored": 1}
    assert site.study.judgments() == [Judgment(**answer)]
