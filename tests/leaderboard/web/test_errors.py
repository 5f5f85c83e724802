"""The boundary for errors: a sentence of ours as it is; any other failure is one sentence, its cause in the log."""

import inspect
import json
from contextlib import nullcontext

import pytest
from starlette.requests import Request

from compute.types import BadInput
from leaderboard.web.errors import FAILED, caught, explain, guarded

REQUEST = Request({"type": "http", "method": "GET", "path": "/x", "headers": [], "query_string": b""})
CASES = [(BadInput("No such suite. Choose another"), "No such suite. Choose another"), (KeyError("secret"), FAILED)]


@pytest.mark.parametrize("error, sentence", CASES)
def test_a_sentence_for_every_error(error, sentence, caplog):
    assert explain(error, action="The comparison") == sentence
    logged = "" if isinstance(error, BadInput) else "The comparison failed"
    assert [record.getMessage() for record in caplog.records] == [logged][: bool(logged)]
    assert all(record.exc_info[1] is error for record in caplog.records)


@pytest.mark.parametrize("error, sentence", CASES)
def test_a_handler_shows_the_sentence(error, sentence):
    @caught(lambda said: [said, None])
    def handler(value, *, fail):
        if fail:
            raise error
        return ["", value]

    assert handler(3, fail=False) == ["", 3] and handler(3, fail=True) == [sentence, None]
    assert list(inspect.signature(handler).parameters) == ["value", "fail"]


@pytest.mark.parametrize("error, sentence", CASES)
def test_a_generator_yields_the_sentence_last(error, sentence):
    @caught(str)
    def stream():
        yield "first"
        raise error

    assert inspect.isgeneratorfunction(stream) and list(stream()) == ["first", sentence]


@pytest.mark.parametrize("error, sentence", CASES)
def test_a_route_answers_with_the_sentence(error, sentence):
    def answer(_):
        raise error

    found = guarded(answer, snapshot=nullcontext)(REQUEST)
    assert found.status_code == (400 if isinstance(error, BadInput) else 500)
    assert json.loads(found.body) == {"error": sentence} and "cache-control" not in found.headers
