"""Which names the app answers under, from where it listens and what its operator names."""

import pytest

from compute.types import BadInput
from leaderboard.web.access import LOOPBACK, access, host_name, is_loopback


@pytest.mark.parametrize("address", ["127.0.0.1", "127.3.2.1", "localhost", "::1", "[::1]"])
def test_on_loopback_only_its_own_names(address):
    assert is_loopback(address) and access(listens_on=address).is_local
    assert access(listens_on=address).hosts == LOOPBACK | {host_name(address)}


@pytest.mark.parametrize("address", ["0.0.0.0", "::", "192.168.1.4", "board.example.org"])
def test_elsewhere_any_name_unless_some_are_listed(address):
    assert access(listens_on=address).hosts is None and not access(listens_on=address).is_local
    hosts = access(listens_on=address, hosts="Board.example.org").hosts
    assert hosts | {address} == LOOPBACK | {"board.example.org", address}


@pytest.mark.parametrize("address, answers", [("192.168.1.4", True), ("0.0.0.0", False), ("::", False)])
def test_the_address_it_listens_on_is_answered(address, answers):
    """Gradio asks itself under that address when it starts."""
    assert (address in access(listens_on=address, hosts="board.example.org").hosts) == answers


def test_a_proxys_whole_address_names_its_host():
    assert access(listens_on="127.0.0.1", root_path="https://Board.example.org/likeness").named == {"board.example.org"}
    for proxy in ({"root_path": "/likeness"}, {"hosts": "board.example.org"}, {"hub": True}):
        assert not access(listens_on="127.0.0.1", **proxy).is_local
    assert access(listens_on="127.0.0.1", root_path="/likeness").hosts == LOOPBACK


def test_the_hubs_page_frames_a_space_and_others_that_are_listed():
    assert access(listens_on="0.0.0.0").frame_hosts == ()
    assert access(listens_on="0.0.0.0", hub=True).frame_hosts == ("https://huggingface.co",)
    found = access(listens_on="0.0.0.0", hub=True, frame_hosts="https://a.example https://*.b.example:8443")
    assert found.frame_hosts == ("https://huggingface.co", "https://a.example", "https://*.b.example:8443")


@pytest.mark.parametrize("source", ["https://a.example;script-src", "*", "'unsafe-inline'", "javascript:", "a\tb;c"])
def test_what_is_no_host_stays_out_of_the_policy(source):
    with pytest.raises(BadInput, match="LIKENESS_FRAME_HOSTS names"):
        access(listens_on="127.0.0.1", frame_hosts=source)


@pytest.mark.parametrize("name", ["http://a.example", "a b/c"])
def test_a_name_that_is_none_is_refused(name):
    with pytest.raises(BadInput, match="LIKENESS_HOSTS names"):
        access(listens_on="127.0.0.1", hosts=name)


@pytest.mark.parametrize(
    "host, name",
    [
        ("localhost:7860", "localhost"),
        ("LOCALHOST.", "localhost"),
        ("[::1]:7860", "::1"),
        ("[::0:1]", "::1"),
        ("::1", "::1"),
        ("evil.example:80", "evil.example"),
        ("localhost:80@evil.example", None),
        ("127.0.0.1:80:80", None),
        ("[::1", None),
        ("a/b", None),
        ("", None),
    ],
)
def test_the_name_in_a_host_header(host, name):
    assert host_name(host) == name
