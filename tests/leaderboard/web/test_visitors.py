"""How often one may ask, and who is told apart from whom."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from starlette.requests import Request

from leaderboard.web.visitors import Rate, visitor
from tests.leaderboard.live.test_uploads import Clock


def request(*headers: str, client: str | None = "10.0.0.5") -> Request:
    return Request(
        {
            "type": "http",
            "headers": [(b"x-forwarded-for", one.encode()) for one in headers],
            "client": client and (client, 1234),
        }
    )


def test_a_burst_and_then_one_by_one() -> None:
    clock = Clock()
    rate = Rate(a_minute=30, burst=3, clock=clock)
    assert [rate.allow("a") for _ in range(3)] == [0, 0, 0]
    assert rate.allow("a") == 2.0  # seconds a token takes
    clock.now = 0.5
    assert rate.allow("a") == 1.5
    assert rate.allow("b") == 0  # another visitor waits for nobody
    clock.now = 2.0
    assert rate.allow("a") == 0 and rate.allow("a") == 2.0


def test_asking_in_vain_costs_nothing_and_rest_fills_up_to_the_burst_only() -> None:
    clock = Clock()
    rate = Rate(a_minute=60, burst=2, clock=clock)
    assert [rate.allow("a") > 0 for _ in range(50)] == [False, False] + [True] * 48
    clock.now = 1.0
    assert rate.allow("a") == 0
    clock.now = 1e6
    assert [rate.allow("a") > 0 for _ in range(3)] == [False, False, True]


def test_only_so_many_visitors_are_kept_the_latest() -> None:
    rate = Rate(a_minute=60, burst=1, most=100, clock=Clock())
    assert not any(rate.allow(str(number)) for number in range(1000))
    assert len(rate._buckets) == 100 and rate.allow("999") > 0 and rate.allow("0") == 0


def test_many_threads_get_no_more_than_there_is() -> None:
    rate = Rate(a_minute=60, burst=50, clock=Clock())
    with ThreadPoolExecutor(16) as pool:
        assert sum(wait == 0 for wait in pool.map(lambda _: rate.allow("a"), range(400))) == 50


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        (["8.8.8.8"], "8.8.8.8"),
        (["1.1.1.1, 8.8.8.8"], "8.8.8.8"),
        (["1.1.1.1", "8.8.8.8"], "8.8.8.8"),
        (["8.8.8.8, 10.1.2.3"], "8.8.8.8"),  # the Space's own inner proxies
        (["8.8.8.8:4711"], "8.8.8.8"),
        (["::ffff:8.8.8.8"], "8.8.8.8"),
        (["10.1.2.3"], "10.1.2.3"),
        (["2606:4700:4700::1111"], "2606:4700:4700::/64"),
        (["[2606:4700:4700::2222]:443"], "2606:4700:4700::/64"),
        ([], "10.0.0.5"),
        ([""], "10.0.0.5"),
        (["unknown, <script>"], "10.0.0.5"),
        (["8.8.8.8, garbage"], "8.8.8.8"),
        (["," * 5000], "10.0.0.5"),
        (["8.8.8.8, fe80::1%eth0"], "8.8.8.8"),
    ],
    ids=ascii,
)
def test_behind_a_space_s_proxy_the_last_address_counts(headers: list[str], expected: str) -> None:
    assert visitor(request(*headers), proxied=True) == expected


def test_a_forged_address_changes_nothing() -> None:
    rate = Rate(a_minute=1, burst=1, clock=Clock())
    waits = [rate.allow(visitor(request(f"9.9.9.{number}, 8.8.8.8"), proxied=True)) for number in range(20)]
    assert waits[0] == 0 and all(waits[1:])
    waits = [rate.allow(visitor(request(f"9.9.9.{number}"), proxied=False)) for number in range(20)]
    assert waits[0] == 0 and all(waits[1:])


def test_where_it_runs_says_whether_there_is_a_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SYSTEM", raising=False)
    assert visitor(request("8.8.8.8")) == "10.0.0.5"
    monkeypatch.setenv("SYSTEM", "spaces")
    assert visitor(request("8.8.8.8")) == "8.8.8.8"


@pytest.mark.parametrize("client", [None, "testclient"])
def test_a_visitor_without_an_address_has_a_name_too(client: str | None) -> None:
    assert visitor(request(client=client), proxied=False) == "unknown"
