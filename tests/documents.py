"""Runs what the documentation shows. Blocks marked `bash` and `python` run here; `sh` and `py` need weights, a network,
a server or minutes. A block with a title is written as the file of that name first."""

import re
import runpy
import shlex

from typer.testing import CliRunner

BLOCK = re.compile(r'^```(\w+)(?: title="([^"]+)")?\n(.*?)^```', re.MULTILINE | re.DOTALL)


def run(page, folder, monkeypatch):
    """Runs a page's blocks in the folder, in their order; how many commands and scripts there were."""
    from compute import paths
    from compute.__main__ import app

    monkeypatch.chdir(folder)
    monkeypatch.syspath_prepend(folder)
    monkeypatch.setattr(paths, "RESULTS", folder / "results")
    monkeypatch.setattr(paths, "DATABASE", folder / "likeness.duckdb")
    blocks = BLOCK.findall(page.read_text(encoding="utf-8"))
    for _, title, text in blocks:
        if title:
            (folder / title).write_text(text, encoding="utf-8")
    count = 0
    for language, _, text in blocks:
        if language == "python":
            script = folder / f"block_{count}.py"
            script.write_text(text, encoding="utf-8")
            runpy.run_path(str(script))
            count += 1
        for line in re.findall(r"^likeness (.*)$", text, re.MULTILINE) if language == "bash" else ():
            words = shlex.split(line, comments=True)
            place = ["--results", str(folder / "results")] if words[0] in ("run", "frechet") else []
            result = CliRunner().invoke(app, [*words, *place])
            assert result.exit_code == 0, f"{line}\n{result.output[-2000:]}{result.exception!r}"
            count += 1
    return count
