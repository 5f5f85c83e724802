"""How often one may ask, and who is told apart from whom."""

import pytest
from starlette.requests import Request

from leaderboard.web.visitors import Rate, visitor
from tests.leaderboard.live.test_uploads import Clock


def request(*headers, client="10.0.0.5"):
    return Request(
        {
            "type": "http",
            "headers": [(b"x-forwarded-for", one.encode()) for one in headers],
            "client": client and (client, 1234),
        }
    )


def test_asking_in_vain_costs_nothing_and_rest_fills_up_to_the_burst_only():
    clock = Clock()
    rate = Rate(a_minute=60, burst=2, clock=clock)
    assert [rate.allow("a") for _ in range(50)] == [0, 0] + [1] * 48  # seconds a token takes
    assert rate.allow("b") == 0  # another visitor waits for nobody
    clock.now = 1.0
    assert rate.allow("a") == 0
    clock.now = 1e6
    assert [rate.allow("a") > 0 for _ in range(3)] == [False, False, True]


@pytest.mark.parametrize(
    "headers, expected",
    [
        (["8.8.8.8"], "8.8.8.8"),
        (["1.1.1.1, 8.8.8.8"], "8.8.8.8"),
        (["8.8.8.8, 10.1.2.3"], "8.8.8.8"),  # the Space's own inner proxies
        (["8.8.8.8:4711"], "8.8.8.8"),
        (["::ffff:8.8.8.8"], "8.8.8.8"),
        (["[2606:4700:4700::2222]:443"], "2606:4700:4700::/64"),
        ([], "10.0.0.5"),
        (["unknown, <script>"], "10.0.0.5"),
    ],
    ids=ascii,
)
def test_behind_a_space_s_proxy_the_last_address_counts(headers, expected, monkeypatch):
    monkeypatch.setenv("SYSTEM", "spaces")
    assert visitor(request(*headers)) == expected
    monkeypatch.delenv("SYSTEM")
    assert visitor(request(*headers)) == "10.0.0.5"


@pytest.mark.parametrize("client", [None, "testclient"])
def test_a_visitor_without_an_address_has_a_name_too(client):
    assert visitor(request(client=client)) == "unknown"
