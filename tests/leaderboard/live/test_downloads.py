"""Weights that a visitor asks for: one after another, what fails beside what comes, and an end on demand."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from compute.catalog import shipped
from compute.live.models.fetching import DownloadProgress
from compute.live.models.states import DOWNLOAD, READY, State
from compute.types import Model, NotHere
from leaderboard.live import live as module
from leaderboard.live.live import Live

ROWS = {row.key: row for row in shipped().models}
CLIP, SIGLIP, TINY = (ROWS[key] for key in ("openai/clip-vit-base-patch32", "google/siglip-base-patch16-224", "tiny"))
SESSION = "0123456789abcdef-0123"


class Fetcher:
    """In the place of the real one: a model that is `here` is not fetched, one of `failing` does not come."""

    def __init__(self, failing: tuple[Model, ...] = ()) -> None:
        self.failing, self.here, self.rooms = failing, {TINY.key}, set()

    def state(self, row: Model) -> State:
        return State(state=READY if row.key in self.here else DOWNLOAD, bytes=600)

    def fetch(
        self, row: Model, *, room: int, needed: Callable[[], bool], stop: Callable[[], bool]
    ) -> Iterator[DownloadProgress]:
        self.rooms.add(room)
        if not needed():
            return
        yield DownloadProgress()
        if stop():
            raise NotHere(f"{row.key} was stopped")
        if row in self.failing:
            raise NotHere(f"{row.key} did not come")
        self.here.add(row.key)
        yield DownloadProgress(here=500, whole=500)


@pytest.fixture
def fetcher(monkeypatch: pytest.MonkeyPatch) -> Fetcher:
    fetcher = Fetcher()
    monkeypatch.setattr(module, "_fetcher", lambda: fetcher)
    monkeypatch.setattr(module._roster(), "state", fetcher.state)
    return fetcher


def test_what_is_lacking_comes_and_its_size_is_the_catalogues_until_the_hub_says_it(fetcher: Fetcher) -> None:
    assert list(Live().fetch([TINY, CLIP], session=SESSION)) == [
        (CLIP, DownloadProgress(here=0, whole=600)),
        (CLIP, DownloadProgress(here=500, whole=500)),
    ]
    assert fetcher.rooms == {module._pool().room()}


def test_one_that_fails_leaves_the_others_and_is_told_in_the_end(fetcher: Fetcher) -> None:
    fetcher.failing = (CLIP,)
    seen = []
    with pytest.raises(NotHere, match=f"^{CLIP.key} did not come$"):
        seen.extend(Live().fetch([CLIP, SIGLIP], session=SESSION))
    assert SIGLIP.key in fetcher.here
    fetcher.failing, fetcher.here = (CLIP, SIGLIP), set()
    with pytest.raises(NotHere, match=f"^{CLIP.key} did not come. {SIGLIP.key} did not come$"):
        list(Live().fetch([CLIP, SIGLIP], session=SESSION))


def test_no_folder_of_the_host_is_told(fetcher: Fetcher, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(row: Model, **_: object) -> Iterator[DownloadProgress]:
        raise NotHere(f"Fetch it: curl -L -o {Path.home()}/.cache/torch/hub/a.pth https://x.org/a.pth")
        yield

    monkeypatch.setattr(fetcher, "fetch", refused)
    with pytest.raises(NotHere, match="^Fetch it: curl -L -o a.pth https://x.org/a.pth$"):
        list(Live().fetch([CLIP], session=SESSION))


def test_a_stop_ends_all_of_the_sessions_downloads_and_no_one_elses(fetcher: Fetcher) -> None:
    live = Live()
    mine, others = live.fetch([CLIP, SIGLIP], session=SESSION), live.fetch([SIGLIP], session="f" * 20)
    next(mine), next(others)
    live.stop(SESSION)
    live.stop("a session that fetches nothing")
    with pytest.raises(NotHere, match=f"^{CLIP.key} was stopped$"):
        next(mine)
    assert next(others) == (SIGLIP, DownloadProgress(here=500, whole=500))
    assert list(live._fetching) == ["f" * 20]
    others.close()
    assert live._fetching == {}  # nothing is kept of those who came and went
