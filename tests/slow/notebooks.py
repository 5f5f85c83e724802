"""Executes the notebooks of docs/ and writes them with their outputs as pages: python -m tests.slow.notebooks"""

import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import plotly

from tests.browser.conftest import chromium
from tests.serving import ROOT

FOLDER = ROOT / "docs" / "notebooks"
DRAW = """async figure => {
    const made = await Plotly.newPlot(document.body.appendChild(document.createElement('div')), figure);
    return decodeURIComponent((await Plotly.toImage(made, {format: 'svg', width: 760, height: figure.layout.height}))
        .slice('data:image/svg+xml,'.length));
}"""


def executed(path, home):
    """A notebook with its outputs, with this checkout's packages and a results folder of its own."""
    import nbformat  # of tests/slow/requirements.txt, as the next; collecting tests goes without
    from nbclient import NotebookClient

    named = {"LIKENESS_HOME": str(home), "PYTHONPATH": str(ROOT), "PLOTLY_RENDERER": "plotly_mimetype"}
    environment = os.environ | named
    subprocess.run(
        [sys.executable, "-m", "compute", "build"], cwd=ROOT, env=environment, check=True, capture_output=True
    )
    notebook = nbformat.read(path, as_version=4)
    NotebookClient(notebook, timeout=600, resources={"metadata": {"path": str(home)}}).execute(env=environment)
    return notebook


def page(notebook, name):
    """The notebook as Markdown, and its figures, which the page takes from `NAME-NUMBER.svg`."""
    parts, figures = [], []
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            parts.append(cell.source)
            continue
        parts.append(f"```python\n{cell.source}\n```")
        for output in cell.outputs:
            data = output.get("data", {"text/plain": output.get("text", "")})
            if "application/vnd.plotly.v1+json" in data:
                figures.append(data["application/vnd.plotly.v1+json"])
                parts.append(f"![A figure of the results]({name}-{len(figures)}.svg)")
            elif "text/markdown" in data:
                parts.append(data["text/markdown"])
            elif "likeness-result" in data.get("text/html", ""):
                parts.append(re.sub(r"\n\s*\n", "\n", data["text/html"]))
            else:
                parts.append(f"```text\n{data['text/plain'].rstrip()}\n```")
    parts.append(f"[The notebook]({name}.ipynb)")
    return "\n\n".join(parts) + "\n", figures


def write(name):
    """A notebook's page and figures."""
    with tempfile.TemporaryDirectory() as home:
        text, figures = page(executed(FOLDER / f"{name}.ipynb", Path(home)), name)
    (FOLDER / f"{name}.md").write_text(text, encoding="utf-8")
    script = Path(plotly.__file__).parent / "package_data" / "plotly.min.js"
    with chromium() as browser:
        sheet = browser.new_page()
        sheet.add_script_tag(path=script)
        for at, figure in enumerate(figures, start=1):
            drawn = sheet.evaluate(DRAW, json.loads(json.dumps(figure)))
            (FOLDER / f"{name}-{at}.svg").write_text(drawn, encoding="utf-8")


if __name__ == "__main__":
    for path in sorted(FOLDER.glob("*.ipynb")):
        write(path.stem)
