"""suite.toml: what it may state, what is wrong with it by table, and the suite that follows."""

from dataclasses import replace

import pytest

from compute.catalog import shipped
from compute.catalog.own import suite_records
from compute.catalog.own.suite_file import parse
from compute.cli import task
from compute.engine.workspace import RunSettings, own_suites, suite_of_file
from compute.types import BadInput, LikenessError
from tests.compute.tasks.files import put

WHOLE = """
title = "Animals & words"
description = "Ours."
aggregate = "category-mean"
weights = { "Words" = 2, "Zero-shot Classification" = 0.5 }

[[tasks]]
file = "labels.csv"
title = "Kinds"

[[tasks]]
file = "questions.csv"
category = "Words"
columns = { reference = "word" }
shape = "choices"

[[tasks]]
file = "sub/labels.csv"
shape = "clustering"
title = "Groups"
category = "Words"
"""


LABELS = "text,label\na cat,cat\na dog,dog\n"


@pytest.fixture
def folder(tmp_path):
    """Two manifests of texts, one of them in a folder of its own too."""
    questions = "word,alternative_1,alternative_2,answer\na,b,a,2\n"
    return put(tmp_path, {"labels.csv": LABELS, "questions.csv": questions, "sub/labels.csv": f"{LABELS}a fox,dog\n"})


def written(folder, text):
    path = folder / "suite.toml"
    path.write_text(text, encoding="utf-8")
    return path


def made(folder, text=WHOLE):
    return suite_of_file(written(folder, text), RunSettings(results=folder / "results", offline=True))


def test_a_suite_with_weights_and_categories(folder):
    result = made(folder)
    assert result.suite.key == result.name == "own-animals-words" and result.suite.title == "Own suite: Animals & words"
    assert result.suite.aggregate == "category-mean"
    assert result.suite.category_weights == {"Words": 2.0, "Zero-shot Classification": 0.5}
    assert [(task.key, task.title, task.category, task.n_items) for task in result.tasks] == [
        ("own/animals-words/kinds", "Kinds", "Zero-shot Classification", 2),
        ("own/animals-words/questions", "questions", "Words", 1),
        ("own/animals-words/groups", "Groups", "Words", 3),
    ]
    assert result.suite.description.startswith("Ours.") and "Words 2" in result.suite.description
    assert suite_records.record(result, results=folder) == result
    assert suite_records.recorded(folder) == ([result], [])


def test_other_weights_are_the_same_suite_and_another_title_is_not(folder):
    first = suite_records.record(made(folder), results=folder)
    heavier = suite_records.record(made(folder, WHOLE.replace('"Words" = 2', '"Words" = 3')), results=folder)
    assert heavier.suite.key == first.suite.key and heavier.tasks == first.tasks
    assert suite_records.recorded(folder)[0] == [heavier]
    other = suite_records.record(made(folder, WHOLE.replace("Animals", "Plants")), results=folder)
    assert other.suite.key == "own-plants-words" and len(suite_records.recorded(folder)[0]) == 2


def test_tasks_of_the_catalogue_are_part_of_it(folder):
    text = (
        '[[tasks]]\nfile = "labels.csv"\n\n[[tasks]]\ntask = "mini/odd-one-out"\n\n[[tasks]]\ntask = "mieb/cifar10"\n'
    )
    result = suite_records.record(made(folder, text), results=folder)
    assert result.shared == ("mini/odd-one-out", "mieb/cifar10") and suite_records.recorded(folder) == ([result], [])
    catalog, problems = suite_records.extended(shipped(), [result])
    assert not problems
    assert [task.key for task in catalog.tasks if "own-suite" in task.suites] == [
        *(task.key for task in shipped().tasks if task.key in result.shared),
        "own/suite/labels",
    ]
    assert catalog.task("mini/odd-one-out").suites[:-1] == shipped().task("mini/odd-one-out").suites
    gone = replace(result, shared=("mini/gone",))
    catalog, (problem,) = suite_records.extended(shipped(), [gone])
    assert catalog == shipped() and "'mini/gone'" in problem


def test_a_suite_of_shipped_tasks_alone(folder):
    """One's own choice of published tasks, with weights: it is shown before any run is made."""
    text = 'weights = { "IQA" = 4 }\n[[tasks]]\ntask = "unisim/nights"\n\n[[tasks]]\ntask = "unisim/kadid-10k"\n'
    result = suite_records.record(made(folder, text), results=folder)
    assert not result.tasks and result.suite.benchmark == "own" and suite_records.recorded(folder) == ([result], [])
    assert suite_records.with_runs([result], tasks=set()) == ([result], [])
    drawn = made(folder, '[[tasks]]\ntask = "mini/odd-one-out"\n')
    assert drawn.suite.benchmark == "own-synthetic" and drawn.suite.title == "Own suite: suite (synthetic)"


def test_the_engine_takes_the_file_for_a_suites_key(folder):
    path = written(folder, WHOLE)
    catalog, key, files = own_suites(
        RunSettings(results=folder / "results"), suite=str(path), warn=lambda problem: pytest.fail(problem)
    )
    assert key == "own-animals-words" and catalog.suite(key).category_weights["Words"] == 2
    assert len(files) == 3 and (folder / "results" / "suites" / f"{key}.json").is_file()
    with pytest.raises(BadInput, match="suite.toml"):
        own_suites(RunSettings(data=folder / "labels.csv", results=folder), suite=str(path), warn=print)


TASK = '[[tasks]]\nfile = "labels.csv"\n'


WRONG = (
    ("title = \n", "TOML"),
    ("", "0 tasks"),
    ("tasks = 3", "tasks is 3"),
    (f'titel = "x"\n{TASK}', "'title'"),
    (f'title = " "\n{TASK}', "title"),
    (f'aggregate = "categorymean"\n{TASK}', "'category-mean'"),
    (f"[weights]\nWords = 0\n{TASK}", "Words"),
    (f"[weights]\nWords = inf\n{TASK}", "Words"),
    (f"[weights]\nZero-shot-Classification = 2\n{TASK}", "Did you mean 'Zero-shot Classification'"),
    (f"{TASK}colums = {{}}\n", "'columns'"),
    (f"{TASK}columns = {{ item = 3 }}\n", "columns"),
    (f'{TASK}task = "mini/shapes"\n', "either"),
    ('[[tasks]]\ntitle = "T"\n', "either"),
    ('[[tasks]]\ntask = "mini/shapes"\ncategory = "C"\n', "category"),
    ('[[tasks]]\ntask = "mini/shape"\n', "'mini/shapes'"),
    ('[[tasks]]\ntask = "cfred/hpdv2"\n', "mean"),
    ('[[tasks]]\ntask = "mini/shapes"\n' * 2, "twice"),
    (f"{TASK}\n{TASK}", "task 2 (labels.csv)"),
    ('[[tasks]]\nfile = "gone.csv"\n', "gone.csv"),
    ('[[tasks]]\nfile = "questions.csv"\ntitle = "Q"\nshape = "choises"\n', "task 1 (Q)"),
)


def test_what_is_wrong_is_named(folder):
    for text, words in WRONG:
        with pytest.raises(LikenessError) as raised:
            made(folder, text)
        assert words in str(raised.value) and "\n" not in str(raised.value), text


def test_files_that_cannot_be_read(folder):
    with pytest.raises(BadInput, match=r"gone\.toml"):
        parse(folder / "gone.toml")
    path = folder / "latin.toml"
    for content in ('title = "Vögel"'.encode("latin-1"), b"a = " + b"[" * 5000):
        path.write_bytes(content)
        with pytest.raises(BadInput, match=r"latin\.toml"):
            parse(path)


def test_nothing_is_read_out_of_its_folder_unless_the_user_says_so(folder):
    """Links are judged by where they lead: a suite may come from anyone."""
    inner, away = (put(folder / name, {"labels.csv": LABELS}) for name in ("mine", "away"))
    (inner / "inner").mkdir()
    for name, target in (("linked", away), ("linked.csv", away / "labels.csv")):
        (inner / name).symlink_to(target)
    (inner / "inner" / "manifest.csv").symlink_to(away / "labels.csv")

    def key(*images):
        settings = RunSettings(images=images, results=folder / "results", dry_run=True)
        return own_suites(settings, suite=str(path), warn=print)[1]

    for text in (
        'file = "../away/labels.csv"',
        f'file = "{away.as_posix()}/labels.csv"',
        'file = "linked.csv"',
        'file = "linked"',
        'file = "inner"',
        'file = "labels.csv"\nimages = ["linked"]',
    ):
        path = written(inner, f"[[tasks]]\n{text}\n")
        with pytest.raises(BadInput, match="--images"):
            key()
        assert key(away) == "own-suite"
        assert list(task.check(str(path), images=[away]))[-1].startswith("Run it: ")
