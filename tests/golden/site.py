"""A running app as a browser and a program use it: what pages show, and what routes and endpoints answer."""

import base64
import csv
import io
import json
import re
import tempfile
import uuid
from contextlib import contextmanager
from unittest.mock import patch

import duckdb
import httpx
import numpy as np

from leaderboard.api.routes import METHODS, PATHS

MEMORY = {"LIKENESS_MODEL_MEMORY_MB": "10000"}


class Site:
    """A running app, as a browser and a program use it."""

    def __init__(self, url):
        self.client = httpx.Client(base_url=url, timeout=120)
        self.session = uuid.uuid4().hex

    def page(self, key, query=""):
        """What the page shows, from its top to its bottom: markup, figures, and what can be chosen."""
        config = self.client.get("/config", params={"page": key}).json()
        props = {component["id"]: component["props"] for component in config["components"]}
        for event in config["dependencies"]:
            if not any(trigger == "load" for _, trigger in event["targets"]) or not event["backend_fn"]:
                continue
            data = [props[at].get("value") for at in event["inputs"]]
            body = {"data": data, "fn_index": event["id"], "session_hash": self.session}
            answer = self.client.post(f"/gradio_api/run/predict?{query}", json=body)
            assert answer.status_code == 200, f"{key}?{query}: {answer.text[:300]}"
            for at, value in zip(event["outputs"], answer.json()["data"], strict=True):
                update = isinstance(value, dict) and value.get("__type__") == "update"
                props[at] |= {k: v for k, v in value.items() if k != "__type__"} if update else {"value": value}
        kinds = {component["id"]: component["type"] for component in config["components"]}
        return [found for at in ordered(config["layout"]) if (found := shown(kinds[at], props[at]))]

    def document(self, address):
        """What a route answers: JSON as it is, a table by rows, else its lines."""
        answer = self.client.get(address)
        kind = answer.headers.get("content-type", "")
        if answer.status_code != 200:
            return [answer.status_code, answer.text[:300]]
        if "json" in kind:
            return answer.json()
        return table(answer.text) if "csv" in kind else lines(answer.text)

    def export(self, suite, form):
        """The first five rows of a board with every column, as a file."""
        board = self.client.get(f"/data/board/{suite}").json()
        columns = [column["key"] for column in board["columns"]]
        body = {"rows": [row["id"] for row in board["rows"][:5]], "columns": columns, "query": "", "format": form}
        answer = self.client.post(f"/export/board/{suite}", json=body)
        if form == "parquet":
            return parquet(answer.content)
        return table(answer.text) if form == "csv" else answer.json() if form == "json" else lines(answer.text)

    def call(self, name, **values):
        """A function's answer by API v1, in a list."""
        path = PATHS[name].replace(":path", "")
        address, query = f"/api/v1/{path.format(**values)}", {k: v for k, v in values.items() if f"{{{k}}}" not in path}
        sends = name in METHODS
        answer = self.client.post(address, json=values) if sends else self.client.get(address, params=query)
        return [answer.json()["result"]]

    def compared(self, question, models):
        """The markup of the answers to a press of Compare."""
        config = self.client.get("/config", params={"page": "try"}).json()
        event = next(
            e for e in config["dependencies"] if any(trigger == "compare" for _, trigger in e["targets"]) and e["queue"]
        )
        payload = {**question, "session": self.session, "models": models, "judges": [], "pressed": True}
        body = {
            "fn_index": event["id"],
            "trigger_id": event["targets"][0][0],
            "session_hash": self.session,
            "data": [None] * len(event["inputs"]),
            "event_data": payload,
        }
        self.client.post("/gradio_api/queue/join", json=body).raise_for_status()
        markup = ""
        with self.client.stream("GET", f"/gradio_api/queue/data?session_hash={self.session}") as stream:
            for line in stream.iter_lines():
                message = json.loads(line[6:]) if line.startswith("data: ") else {}
                if message.get("msg") in ("process_generating", "process_completed"):
                    markup = patched(markup, (message["output"].get("data") or [[]])[0])
                if message.get("msg") == "process_completed":
                    break
        return lines(markup)


def patched(before, now):
    """A text after a message: once it was sent whole, Gradio sends the steps from the one before."""
    if isinstance(now, str):
        return now
    for action, path, new in now:
        assert action in ("replace", "append") and not path, now
        before = new if action == "replace" else before + new
    return before


@contextmanager
def site(database):
    """The app on a database, without what it makes ahead."""
    from leaderboard import server

    with tempfile.TemporaryDirectory() as folder, patch.dict("os.environ", {"GRADIO_TEMP_DIR": folder} | MEMORY):
        with patch.object(server, "_warm", lambda *_: None):
            blocks, launch = server.build(database)
        _, url, _ = blocks.launch(prevent_thread_lock=True, quiet=True, server_name="127.0.0.1", **launch)
        try:
            yield Site(url)
        finally:
            blocks.close(verbose=False)


def ordered(node):
    """The components of a layout, from the top."""
    for child in node.get("children") or []:
        yield child["id"]
        yield from ordered(child)


def shown(kind, props):
    """What a component shows; nothing for a box around others, and where it is hidden."""
    if props.get("visible") is False or kind in ("column", "row", "form", "group", "tab", "tabs", "accordion"):
        return props.get("label") if kind in ("tab", "accordion") else None
    value = props.get("value")
    if kind in ("html", "markdown"):
        template = str(props.get("html_template") or "")
        return lines(value if isinstance(value, str) and value else template.replace("${value}", ""))
    if kind == "plot":
        return {"figure": figure(value)} if value else None
    return {"control": kind} | {k: props[k] for k in ("label", "value", "choices", "info") if props.get(k)}


def figure(value):
    """A figure's traces and layout with numbers in place of bytes, without its template."""
    found = decoded(json.loads(value["plot"]))
    found["layout"].pop("template", None)
    return found


def decoded(value):
    """plotly's arrays of bytes as lists of numbers."""
    if isinstance(value, dict):
        if "bdata" in value:
            array = np.frombuffer(base64.b64decode(value["bdata"]), value["dtype"])
            return array.reshape([int(n) for n in str(value.get("shape", array.size)).split(",")]).tolist()
        return {key: decoded(each) for key, each in value.items()}
    return [decoded(each) for each in value] if isinstance(value, list) else value


def lines(markup):
    """Markup with a tag a line, without scripts and styles."""
    markup = re.sub(r"<script\b.*?</script>|<style\b.*?</style>", "", markup, flags=re.DOTALL)
    return [line for part in re.split(r"(<[^>]+>)|\n", markup) if part and (line := " ".join(part.split()))]


def table(text):
    return list(csv.reader(io.StringIO(text)))


def parquet(content):
    with tempfile.NamedTemporaryFile(suffix=".parquet") as file:
        file.write(content)
        file.flush()
        found = duckdb.sql(f"FROM '{file.name}'")
        return [list(found.columns), *map(list, found.fetchall())]
