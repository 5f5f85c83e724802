"""Weights that a visitor asks for: one after another, what fails beside what comes, and an end on demand."""

import pytest

from compute.catalog import shipped
from compute.live.fetching import DownloadProgress
from compute.live.roster import DOWNLOAD, READY, Availability
from compute.types import NotHere
from leaderboard.live.live import Live

ROWS = {row.key: row for row in shipped().models}
CLIP, SIGLIP, TINY = (ROWS[key] for key in ("openai/clip-vit-base-patch32", "google/siglip-base-patch16-224", "tiny"))
SESSION = "0123456789abcdef-0123"


class Fetcher:
    """In the place of the real one: a model that is `here` is not fetched, one of `failing` does not come."""

    def __init__(self, failing=()):
        self.failing, self.here, self.rooms = failing, {TINY.key}, set()

    def availability(self, row):
        return Availability(state=READY if row.key in self.here else DOWNLOAD, bytes=600)

    def fetch(self, row, *, room, needed, stop):
        self.rooms.add(room)
        if not needed():
            return
        yield DownloadProgress()
        if stop():
            raise NotHere(f"{row.key} was stopped")
        if row in self.failing:
            raise NotHere(f"{row.key} did not come")
        self.here.add(row.key)
        yield DownloadProgress(done=500, total=500)


@pytest.fixture
def fetcher():
    return Fetcher()


@pytest.fixture
def live(fetcher, monkeypatch):
    live = Live()
    live.fetcher = fetcher
    monkeypatch.setattr(live.roster, "availability", fetcher.availability)
    return live


def test_missing_weights_come_with_the_catalogues_size_until_the_hub_says_it(live, fetcher):
    assert list(live.download([TINY, CLIP], session=SESSION)) == [
        (CLIP, DownloadProgress(done=0, total=600)),
        (CLIP, DownloadProgress(done=500, total=500)),
    ]
    assert fetcher.rooms == {live.pool.room()}


def test_one_that_fails_leaves_the_others_and_is_told_in_the_end(live, fetcher):
    fetcher.failing = (CLIP,)
    seen = []
    with pytest.raises(NotHere, match=f"^{CLIP.key} did not come$"):
        seen.extend(live.download([CLIP, SIGLIP], session=SESSION))
    assert SIGLIP.key in fetcher.here
    fetcher.failing, fetcher.here = (CLIP, SIGLIP), set()
    with pytest.raises(NotHere, match=f"^{CLIP.key} did not come. {SIGLIP.key} did not come$"):
        list(live.download([CLIP, SIGLIP], session=SESSION))


def test_a_stop_ends_all_of_the_sessions_downloads_and_no_one_elses(live, fetcher):
    mine, others = live.download([CLIP, SIGLIP], session=SESSION), live.download([SIGLIP], session="f" * 20)
    next(mine), next(others)
    live.stop(SESSION)
    live.stop("a session that fetches nothing")
    with pytest.raises(NotHere, match=f"^{CLIP.key} was stopped$"):
        next(mine)
    assert next(others) == (SIGLIP, DownloadProgress(done=500, total=500))
    assert list(live._downloads) == ["f" * 20]
    others.close()
    assert live._downloads == {}  # nothing is kept of those who came and went
