"""Parameters of an address: read without trust, written without defaults."""

from urllib.parse import parse_qsl

import pytest

from leaderboard.web.parameters import LONGEST, Choice, Number, parse, query

SUITE = Choice(key="suite", default="a", choices=("a", "b/c", "d e"))
TASKS = Choice(key="tasks", default=("x",), choices=("x", "y/1", "z"), most=2)
SHARE = Number(key="share", default=0.5, low=0, high=1)
COUNT = Number(key="count", default=3, low=1, high=9, whole=True)
ALL = (SUITE, TASKS, SHARE, COUNT)
DEFAULTS = {"suite": "a", "tasks": ["x"], "share": 0.5, "count": 3}


@pytest.mark.parametrize(
    "values",
    [
        DEFAULTS,
        {**DEFAULTS, "suite": "b/c"},
        {**DEFAULTS, "suite": "d e", "tasks": ["z", "y/1"]},
        {**DEFAULTS, "tasks": []},
        {**DEFAULTS, "share": 0.125, "count": 9},
        {**DEFAULTS, "share": 0.0},
    ],
    ids=str,
)
def test_what_is_written_is_read_again(values):
    text = query(ALL, values)
    assert parse(ALL, dict(parse_qsl(text, keep_blank_values=True))) == (values, "")


def test_defaults_are_not_written_and_slashes_stay_readable():
    assert query(ALL, DEFAULTS) == ""
    assert query(ALL, {**DEFAULTS, "suite": "b/c", "tasks": ["y/1", "z"]}) == "suite=b/c&tasks=y/1,z"


@pytest.mark.parametrize(
    "key, text",
    [
        ("suite", "nowhere"),
        ("suite", ""),
        ("suite", "b/c" * LONGEST),
        ("tasks", "x,nowhere"),
        ("tasks", "x,y/1,z"),
        ("share", "1.0001"),
        ("share", "nan"),
        ("share", "half"),
        ("count", "0"),
        ("count", "__import__('os')"),
    ],
)
def test_nonsense_gives_the_default_and_a_sentence_without_it(key, text):
    values, note = parse(ALL, {key: text})
    assert values == DEFAULTS
    assert key in note and note.endswith(".") and "default" in note
    assert "<" not in note and "nowhere" not in note


MODEL = Choice(key="model", default="lab/alpha", choices=("lab/alpha", "lab/beta", "other/gamma"), noun="model")
MODELS = Choice(key="models", default=(), choices=MODEL.choices, noun="model")
SUITES = Choice(key="suites", default=("mieb",), choices=("mieb", "mieb-lite"), least=1, noun="suite")
JUDGE = Choice(key="judge", default="", choices=("", "gpt-4o"), noun="judge")
LANGUAGES = Choice(key="of", default=(), choices=("deu", "swa"), spellings={"swh": "swa", "de": "deu"}, most=2)
LANGUAGE = Choice(
    key="language", default="", choices=("", "swa"), noun="language", spellings={"swahili": "swa", "xx": "none"}
)
NAMES = {"SigLIP 224 px": "a/one", "SigLIP 384 px": "a/two", "DINOv2": "b/three"}
TITLED = Choice(key="titled", default=(), choices=tuple(NAMES.values()), noun="model", spellings=NAMES)


@pytest.mark.parametrize(
    "parameter, text, value, note",
    [
        (MODEL, "lab/beta", "lab/beta", ""),
        (MODEL, "lab/betta", None, "No model 'lab/betta'. Did you mean 'lab/beta'? Choose a model."),
        (MODEL, "zzz", None, "No model 'zzz'. Choose a model."),
        (MODEL, "", None, "Choose a model."),
        (MODEL, "lab/alpha,lab/beta", None, "No model 'lab/alpha,lab/beta'. Did you mean 'lab/alpha'? Choose a model."),
        (MODELS, "", [], ""),
        (MODELS, "lab/beta,lab/beta", ["lab/beta"], ""),
        (MODELS, "lab/beta,gamme", ["lab/beta"], "No model 'gamme'. Did you mean 'other/gamma'? The others are shown."),
        (MODELS, "Lab/Beta,gamma", ["lab/beta", "other/gamma"], "'gamma' is read as 'other/gamma'."),
        (MODELS, "p,q,r,s,t", None, "No model 'p'. No model 'q'. No model 'r'. 2 more do not exist. Choose a model."),
        (SUITES, "mieb lite,MIEB", ["mieb-lite", "mieb"], "'mieb lite' is read as 'mieb-lite'."),
        (SUITES, "", ["mieb"], "Nothing is chosen under suites; the default is shown instead."),
        (JUDGE, "", "", ""),  # that is offered, and names nothing
        (JUDGE, "gpt-5o", None, "No judge 'gpt-5o'. Did you mean 'gpt-4o'? Choose a judge."),
        (LANGUAGES, "swh,DE,swa", ["swa", "deu"], ""),
        (LANGUAGES, "swh,klingon", [], "The address has an unknown value for of; the default is shown instead."),
        (LANGUAGE, "swa", "swa", ""),
        (LANGUAGE, "Swahili", "swa", ""),
        (
            TITLED,
            "siglip 384 PX,siglip",
            ["a/two"],
            "No model 'siglip'. Did you mean 'SigLIP 224 px' or 'SigLIP 384 px'? The others are shown.",
        ),
    ],
    ids=str,
)
def test_nothing_stands_in_place_of_a_thing_that_does_not_exist(parameter, text, value, note):
    assert parse((parameter,), {parameter.key: text}) == ({parameter.key: value}, note)


def test_without_a_key_the_default_is_shown():
    assert parse((MODEL, MODELS, SUITES), {}) == ({"model": "lab/alpha", "models": [], "suites": ["mieb"]}, "")
    assert parse(ALL, {"utm_source": "x", "__theme": "dark"}) == (DEFAULTS, "")
    assert parse((LANGUAGE,), {"language": "xx"})[0] == {"language": None}, "it is spelled, but not among the choices"


def test_a_name_is_quoted_and_cut():
    _, note = parse((MODEL,), {"model": "<script>" + "y" * 5000})
    assert len(note) < 200 and "'<script>y" in note
