"""Uploads stay in memory, in their own session, within bounds, and for a while."""

import base64
import io
from dataclasses import dataclass
from functools import partial

import numpy as np
import pytest
from PIL import Image

from compute.content import decoding
from compute.live import batch, inputs
from compute.live.questions import Answer
from compute.types import BadInput, Model
from leaderboard.live import uploads as module
from leaderboard.live.live import Live
from leaderboard.live.uploads import RecentlyUsed, Uploads
from leaderboard.pages.try_it.batch import PairScoring
from tests.compute.live import zips
from tests.compute.live.pictures import png
from tests.serving import wait

ONE, OTHER = "a" * 32, "00000000-1111-4222-8333-444444444444"


@dataclass
class Clock:
    now: float = 0.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def made(clock, monkeypatch):
    """Makes uploads with other limits, where nothing counts beside contents."""

    def make(**limits):
        for name, value in {"LEAST": 0, "ENTRY": 0, **limits}.items():
            monkeypatch.setattr(module, name, value)
        return Uploads(clock=clock)

    return make


def file(shade, *, side=10):
    return png(f"#{shade:02x}0000", (side, side))


def kept(uploads, session, shades):
    return [uploads.add_image(session, file(shade))["key"] for shade in shades]


def there(uploads, session, keys):
    def is_there(key):
        try:
            return uploads.image(session, key) is not None
        except BadInput as error:
            assert str(error) == "The image is no longer available. Add it again"
            return False

    return [is_there(key) for key in keys]


def test_an_image_comes_back_as_it_was_read(made):
    uploads = made()
    found = uploads.add_image(ONE, file(7, side=500))
    assert (found["width"], found["height"], found["note"]) == (500, 500, "")
    head, _, small = found["thumbnail"].partition(",")
    assert head == "data:image/webp;base64" and Image.open(io.BytesIO(base64.b64decode(small))).size == (256, 256)
    image = uploads.image(ONE, found["key"])
    assert image.content.getpixel((0, 0)) == (7, 0, 0) and image.key.decode() == found["key"]
    assert uploads.add_image(ONE, file(7, side=500)) == found and uploads.nbytes == 4 * 500 * 500


def test_no_image_library_reads_an_upload_in_the_server(made, monkeypatch):
    """Uploads, a program's pair and a table's images alike: what would read them in this process is not called."""

    def read(*_, **__):
        pytest.fail("read in the server")

    data = file(7)
    table = batch.read(zips.packed({"pairs.csv": b"first,second\na.png,a cat\n", "a.png": data}))
    for owner, name in ((Image, "open"), (decoding, "opened"), (decoding, "rgb"), (inputs, "image")):
        monkeypatch.setattr(owner, name, read)
    assert made().add_image(ONE, data)["width"] == 10
    assert table.question(table.rows[0]).inputs[0].content.size == (10, 10)
    question, _ = Live().pair([("image", data), ("text", "a cat")], ["tiny"])
    assert question.inputs[0].content.size == (10, 10)


def test_a_session_sees_only_its_own(made):
    uploads = made()
    (key,) = kept(uploads, ONE, range(1))
    table = uploads.add_file(ONE, b"a,b")
    for ask in (
        lambda: uploads.image(OTHER, key),
        lambda: uploads.file(OTHER, table),
        lambda: uploads.image(ONE, table),
    ):
        with pytest.raises(BadInput, match="is no longer available"):
            ask()
    uploads.results(OTHER)["made"] = 1
    assert "made" not in uploads.results(ONE)
    uploads.forget(OTHER)
    assert uploads.image(ONE, key) and uploads.file(ONE, table) == b"a,b"
    uploads.forget(ONE)
    assert len(uploads) == 0 and uploads.nbytes == 0 and "made" not in uploads.results(OTHER)
    uploads.forget("never seen")


@pytest.mark.parametrize("session", ["", "a" * 65, "../" * 10, "a" * 31 + "\n"])
def test_an_id_that_the_page_cannot_have_made_is_refused(made, session):
    uploads = made()
    for ask in (partial(uploads.add_image, data=file(0)), partial(uploads.add_file, data=b"a"), uploads.results):
        with pytest.raises(BadInput, match="Reload it"):
            ask(session)
    assert len(uploads) == 0


def test_the_longest_unused_images_go_and_the_last_one_always_stays(made):
    uploads = made(IMAGES=1200)
    keys = kept(uploads, ONE, range(3))
    uploads.image(ONE, keys[0])
    keys += kept(uploads, ONE, range(3, 4))
    assert there(uploads, ONE, keys) == [True, False, True, True] and uploads.nbytes == 1200
    large = uploads.add_image(ONE, file(9, side=50))["key"]
    assert there(uploads, ONE, [*keys, large]) == [False] * 4 + [True]


def test_all_sessions_together_the_longest_unused_first(made, clock):
    uploads = made(ALL=1200)
    sessions = [f"{number:032x}" for number in range(4)]
    for number, session in enumerate(sessions[:3]):
        clock.now = number
        kept(uploads, session, range(1))
    uploads.results(sessions[0])
    (key,) = kept(uploads, sessions[3], range(1))
    first = [there(uploads, session, [key])[0] for session in sessions]
    assert first == [True, False, True, True] and uploads.nbytes == 1200
    uploads.results(sessions[0])["made"] = np.zeros(300, np.uint8)  # what models made counts too
    uploads.results(sessions[0])
    assert uploads.nbytes <= 1200 and len(uploads) == 2


def test_who_has_most_makes_room_and_nobody_else(made, clock):
    uploads = made(ALL=2000)
    key = uploads.add_image(ONE, file(0), owner="192.0.2.1")["key"]
    others = [f"{number:032x}" for number in range(40)]
    for number, session in enumerate(others):
        clock.now = number
        uploads.add_image(session, file(1), owner="192.0.2.2")
    assert there(uploads, ONE, [key]) == [True] and uploads.nbytes == 2000
    assert len(uploads) == 5 and len(uploads.results(others[-1])) == 0
    few = made(ALL=599, LEAST=100)
    few.add_file(ONE, b"a,b", owner="192.0.2.1")
    for session in others:
        few.results(session)  # of visitors who uploaded nothing
    assert len(few) == 5 and ONE in few._sessions


def test_half_an_hour_without_use_ends_a_session(made, clock):
    uploads = made()
    (key,) = kept(uploads, ONE, range(1))
    kept(uploads, OTHER, range(1))
    clock.now = 1700
    assert there(uploads, ONE, [key]) == [True]
    clock.now = 1801
    uploads.sweep()
    assert len(uploads) == 1 and there(uploads, ONE, [key]) == [True]
    clock.now += 1801
    assert there(uploads, ONE, [key]) == [False] and len(uploads) == 0


def test_it_ends_also_when_nobody_asks_any_more(made, clock):
    uploads = made(SWEEP=0.01)
    kept(uploads, ONE, range(1))
    clock.now = 1801
    wait(lambda: not len(uploads))


def test_files_are_kept_as_they_are(made):
    uploads = made(FILES=20)
    keys = [uploads.add_file(ONE, bytes([number]) * 10) for number in range(3)]
    assert uploads.file(ONE, keys[2]) == b"\2" * 10 and uploads.nbytes == 20
    with pytest.raises(BadInput, match="no longer available"):
        uploads.file(ONE, keys[0])
    with pytest.raises(BadInput, match="empty"):
        uploads.add_file(ONE, b"")


@pytest.mark.parametrize(
    "entry, words",
    [
        (None, "neither"),
        ({"kind": "image", "key": ["x"]}, "neither"),
        ({"kind": "image", "key": "../app.py"}, "no longer available"),
        ({"kind": "text", "text": " "}, "is empty"),
        ({"kind": "example", "key": "../cat"}, "no example"),
    ],
    ids=ascii,
)
def test_a_request_s_nonsense(made, entry, words):
    with pytest.raises(BadInput, match=words):
        made().input(ONE, entry, index=3)


def test_what_was_made_is_bounded():
    memory = RecentlyUsed(3 * module.ENTRY + 500)
    for number in range(4):
        memory[number] = ""
    assert list(memory) == [1, 2, 3] and memory[1] == ""
    memory[4] = ""
    assert sorted(memory) == [1, 3, 4], "2 was the least recently used"
    memory["array"] = [{"parts": (np.zeros(9000, np.uint8),)}]
    assert list(memory) == ["array"] and 9000 <= memory.currsize < 11_000


def test_all_that_is_kept_counts():
    """About: a judge's answer, and a table, whose rows count twice."""
    memory = RecentlyUsed()
    memory["reply", "judge", "key"] = Answer(
        row=Model(key="judge", title="Judge"), replies=("y" * 100_000, "z" * 100_000)
    )
    assert 200_000 <= memory.currsize < 400_000
    memory.clear()
    table = "first,second\n" + f"{'a' * 30_000},b\n" * 100
    memory["table"] = PairScoring(batch=batch.read(table.encode()), models=(Model(key="m", title="M", kind="encoder"),))
    assert 3_000_000 <= memory.currsize < 7_000_000
