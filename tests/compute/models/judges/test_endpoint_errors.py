"""What a failed request means, apart from any server; the loopback server's faults are in test_endpoint.py."""

from __future__ import annotations

import time

from compute.models.judges.endpoint_errors import Address, retry_after


def test_retry_after_is_seconds_or_a_date() -> None:
    later = time.strftime("%a, %d %b %Y %H:%M:%S GMT", time.gmtime(time.time() + 30))
    assert retry_after({"retry-after": "2.5"}) == 2.5
    assert 25 < retry_after({"retry-after": later}) <= 30
    assert [retry_after({"retry-after": value}) for value in ("", "soon", "-3")] == [0, 0, 0]


def test_an_address_with_a_password_is_not_told() -> None:
    address = Address("https://me:secret@host:8443/v1?token=hidden", "")
    assert address.shown == "https://host:8443/v1"
    said = address.without_secrets(ValueError("for https://me:secret@host:8443/v1?token=hidden: secret, token=hidden"))
    assert "secret" not in said
    assert "hidden" not in said


def test_a_long_message_is_cut_to_one_line() -> None:
    said = Address("http://host/v1", "").without_secrets(ValueError("many\nlines " * 100))
    assert len(said) == 300
    assert "\n" not in said
