"""What a stranger reads who wants to contribute: links, paths and commands, issue forms, licence and citation."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from compute.catalog import shipped
from compute.database import store
from compute.tables import read_csv
from compute.types import ABILITIES, KINDS

ROOT = Path(__file__).resolve().parents[1]
TEXT = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
README = (ROOT / "README.md").read_text(encoding="utf-8")
FORMS = ROOT / ".github" / "ISSUE_TEMPLATE"
LINES = 70  # of CONTRIBUTING.md: one page
LINK = re.compile(r"\]\(([^)#]+)(?:#([^)]*))?\)")
TABLE = "published/unisim-table-2.csv"


def anchors(path: Path) -> set[str]:
    """The names of a file's headings, as links have them."""
    headings = re.findall(r"^#+ (.+?)(?: <!--.*)?$", path.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("text", [TEXT, README], ids=["CONTRIBUTING", "README"])
def test_every_link_leads_to_a_file_and_a_heading_there(text: str) -> None:
    links = [link for link in LINK.findall(text) if not link[0].startswith("http")]
    assert len(links) >= 5
    for path, heading in links:
        assert (ROOT / path).exists(), path
        assert not heading or heading in anchors(ROOT / path), f"{path}#{heading}"


def test_the_readme_leads_to_all_of_them() -> None:
    assert {"CONTRIBUTING.md", "LICENSE", "CITATION.cff", "SECURITY.md"} <= {path for path, _ in LINK.findall(README)}


def test_it_is_one_page_and_every_path_in_it_exists() -> None:
    assert len(TEXT.splitlines()) <= LINES
    paths = re.findall(r"`((?:assets|compute|leaderboard|tests|\.ci)/[\w./-]*)`", TEXT)
    assert len(paths) > 15 and [path for path in paths if not (ROOT / path).exists()] == []


def commands() -> list[str]:
    """Every command of the page: those of its blocks, and those within sentences."""
    blocks = re.findall(r"```bash\n(.*?)```", TEXT, re.DOTALL)
    lines = [line.partition(" #")[0].strip() for block in blocks for line in block.splitlines()]
    return [*lines, *re.findall(r"`((?:python|ruff|pip) [^`]+)`", TEXT)]


def test_pytest_finds_the_tests_that_it_names() -> None:
    named = [shlex.split(command)[3:] for command in commands() if command.startswith("python -m pytest ")]
    assert len(named) >= 2
    paths = sorted({path for words in named for path in words})
    assert [path for path in paths if not ((ROOT / path).is_file() or list((ROOT / path).glob("test_*.py")))] == []


def test_every_command_is_one_that_there_is() -> None:
    """The rest of them: modules that exist, files that can be installed from, programs that the tests require."""
    required = (ROOT / "tests" / "requirements.txt").read_text(encoding="utf-8")
    for command in commands():
        match shlex.split(command):
            case ["pip", "install", "-r", path]:
                assert (ROOT / path).is_file()
            case ["pip", "install", "-e", ".", *names]:
                assert names and all(re.search(rf"^{name}\b", required, re.MULTILINE) for name in names)
            case ["python", "-m", "compute", word, *_]:
                assert word in ("build", "list")  # run in the copy below
            case ["python", "-m", "pytest", *_]:
                pass  # above
            case ["python", "-m", module]:
                assert (ROOT / (module.replace(".", "/") + ".py")).is_file() and "__main__" in module_text(module)
            case ["python", "app.py"]:
                assert (ROOT / "app.py").is_file()
            case ["ruff", *_]:
                assert re.search(r"^ruff\b", required, re.MULTILINE)
            case other:
                pytest.fail(f"no test knows {other}")


def module_text(module: str) -> str:
    return (ROOT / (module.replace(".", "/") + ".py")).read_text(encoding="utf-8")


# ---- its two recipes, followed in a copy


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("contribution")
    for name in ("compute", "assets"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__", "*.duckdb*"))
    yield folder


def python(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    bare = {name: value for name, value in os.environ.items() if not name.startswith("LIKENESS_")}
    return subprocess.run([sys.executable, *words], cwd=folder, env=bare, capture_output=True, text=True, timeout=240)


def test_a_corrected_figure_is_on_the_board_after_a_build(copy: Path) -> None:
    """The first score of the named table; `tables.csv` has its source as the board names it."""
    assert f"`UniSim-Bench Table 2` is `assets/{TABLE}`" in TEXT
    listed = read_csv(copy / "assets" / "published" / "tables.csv")
    assert dict(zip(listed["key"], listed["source"], strict=True))[Path(TABLE).stem] == "UniSim-Bench Table 2"
    path = copy / "assets" / TABLE
    header, first, *rest = path.read_text(encoding="utf-8").splitlines()
    figure = next(cell for cell in first.split(",") if re.fullmatch(r"\d\d\.\d", cell))
    changed = "12.3" if figure != "12.3" else "12.4"
    before = printed(copy)
    path.write_text("\n".join([header, first.replace(f",{figure}", f",{changed}", 1), *rest, ""]), encoding="utf-8")
    after = printed(copy)
    assert len(after) == len(before)
    assert after.count(changed) == before.count(changed) + 1 and after.count(figure) == before.count(figure) - 1


def printed(folder: Path) -> list[str]:
    """The printed figures of Table 2 in a database built anew."""
    ended = python(folder, "-m", "compute", "build")
    assert ended.returncode == 0, ended.stderr
    connection = store.connect(folder / "assets" / "likeness.duckdb")
    try:
        rows = connection.execute(
            "SELECT printed FROM leaderboard_scores WHERE source = 'UniSim-Bench Table 2'"
        ).fetchall()
    finally:
        connection.close()
    return [value for (value,) in rows]


def test_the_line_of_a_model_is_all_that_it_takes(copy: Path) -> None:
    (line,) = re.findall(r"```csv\n(.*)\n```", TEXT)
    with (copy / "assets" / "catalog" / "models.csv").open("a", encoding="utf-8") as file:
        file.write(line + "\n")
    ended = python(copy, "-m", "compute", "list", "models")
    assert ended.returncode == 0 and "my-org/my-clip" in ended.stdout, ended.stderr


# ---- issue forms


def fields(form: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {field["attributes"]["label"]: field for field in form["body"] if field["type"] != "markdown"}


@pytest.fixture(scope="module", params=["wrong-figure.yml", "add-model.yml"])
def form(request: pytest.FixtureRequest) -> dict[str, Any]:
    return yaml.safe_load((FORMS / request.param).read_text(encoding="utf-8"))


def test_a_form_is_as_forms_are_written(form: dict[str, Any]) -> None:
    """Source: GitHub, syntax for issue forms."""
    assert {"name", "description", "body"} <= set(form) <= {"name", "description", "title", "labels", "body"}
    kinds = {"markdown", "input", "textarea", "dropdown", "checkboxes"}
    assert {field["type"] for field in form["body"]} <= kinds
    named = [field for field in form["body"] if field["type"] != "markdown"]
    assert len({field["id"] for field in named}) == len(fields(form)) == len(named)
    for field in named:
        assert (field["type"] in ("dropdown", "checkboxes")) == ("options" in field["attributes"]), field["id"]
    assert any(field.get("validations", {}).get("required") for field in named)
    assert form["name"] in TEXT


def test_a_wrong_figure_is_reported_with_the_fields_of_the_claims_page() -> None:
    script = (ROOT / "leaderboard" / "pages" / "claims" / "card.js").read_text(encoding="utf-8")
    lines = script[script.index("export function report(") :].partition("join(")[0]
    written = re.findall(r"^\s*['`]([A-Z][^:$`']*): ", lines, re.MULTILINE)
    assert "Claim" in written and "What is wrong" in written
    form = yaml.safe_load((FORMS / "wrong-figure.yml").read_text(encoding="utf-8"))
    assert set(fields(form)) == set(written) - {"Computed as", "Verdict", "Note"}


def test_a_model_is_proposed_in_the_catalogues_words() -> None:
    found = fields(yaml.safe_load((FORMS / "add-model.yml").read_text(encoding="utf-8")))
    assert found["Kind"]["attributes"]["options"] == list(KINDS)
    assert found["What it does"]["attributes"]["options"] == list(ABILITIES)


# ---- licence and citation


@pytest.fixture(scope="module")
def citation() -> dict[str, Any]:
    return yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))


def test_the_licence_is_the_whole_text_and_named_alike_everywhere(citation: dict[str, Any]) -> None:
    text = (ROOT / "LICENSE").read_text(encoding="utf-8")
    assert text.strip().startswith("Apache License") and text.count("\n") == 201
    assert [int(number) for number in re.findall(r"^   (\d)\. [A-Z]", text, re.MULTILINE)] == list(range(1, 10))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    front = yaml.safe_load(README.split("---\n", 2)[1])
    card = yaml.safe_load((ROOT / "assets" / "tiny" / "README.md").read_text(encoding="utf-8").split("---\n", 2)[1])
    assert project["license"] == citation["license"] == "Apache-2.0"
    assert front["license"] == card["license"] == "apache-2.0"
    assert all((ROOT / path).is_file() for path in project["license-files"])


def test_the_citation_has_what_version_1_2_0_of_the_format_requires(citation: dict[str, Any]) -> None:
    """Source: Citation File Format, schema guide 1.2.0."""
    assert citation["cff-version"] == "1.2.0" and citation["type"] in ("software", "dataset")
    assert citation["title"] and citation["message"]
    assert citation["authors"] == [{"name": "Likeness contributors"}]
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert citation["version"] == project["version"] and project["authors"] == citation["authors"]
    for reference in citation["references"]:
        assert {"type", "title", "authors"} <= set(reference)
        assert all(set(author) == {"family-names", "given-names"} for author in reference["authors"])


def test_the_citation_names_the_papers_of_the_catalogue(citation: dict[str, Any]) -> None:
    papers = [row for row in shipped().benchmarks if row.bibtex]
    assert [(one["title"], one["url"]) for one in citation["references"]] == [(row.paper, row.url) for row in papers]
    for reference, row in zip(citation["references"], papers, strict=True):
        listed = re.search(r"author = \{(.*)\}", re.sub(r"\{\\.(\w)\}", r"\1", row.bibtex))[1]
        assert listed == " and ".join(
            unaccented(f"{one['family-names']}, {one['given-names']}") for one in reference["authors"]
        )
        assert f"year = {{{reference['year']}}}" in row.bibtex and reference["journal"] in row.bibtex


def unaccented(name: str) -> str:
    return "".join(sign for sign in unicodedata.normalize("NFD", name) if not unicodedata.combining(sign))
