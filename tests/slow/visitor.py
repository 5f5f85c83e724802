"""A visitor without a browser: plain requests from an address of its own, uploads, and Gradio's events."""

from __future__ import annotations

import http.client
import json
import socket
import time
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

PATIENCE = 120.0  # seconds until an answer counts as missing


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What came back: `status` is 0 where nothing did, and 200 for an event that ended with a sentence."""

    what: str
    status: int
    seconds: float
    body: bytes = field(default=b"", repr=False)

    @property
    def sentence(self) -> str:
        """The error in the answer; empty where there is none."""
        try:
            content = json.loads(self.body)
        except ValueError:
            return ""
        return str(content.get("error") or "") if isinstance(content, dict) else ""


@dataclass(frozen=True, kw_only=True)
class Event:
    """An event of the pages: its number, what triggers it, and the values of its controls when the page opens."""

    number: int
    trigger: int | None
    values: list[Any]


class Visitor:
    """Requests of one address; on loopback all of 127.0.0.0/8 is there to choose from."""

    def __init__(self, port: int, address: str = "127.0.0.1", *, patience: float = PATIENCE) -> None:
        self.port, self.address, self.patience = port, address, patience
        self.session = uuid.uuid4().hex

    def request(
        self, method: str, path: str, *, body: bytes = b"", headers: Mapping[str, str] | None = None, what: str = ""
    ) -> Answer:
        """One request on a connection of its own."""
        link = http.client.HTTPConnection(
            "127.0.0.1", self.port, timeout=self.patience, source_address=(self.address, 0)
        )
        what, began = what or f"{method} {path}", time.perf_counter()
        try:
            link.request(method, path, body=body or None, headers=dict(headers or {}))
            answer = link.getresponse()
            content = answer.read()
            seconds = time.perf_counter() - began
            return Answer(what=what, status=answer.status, seconds=seconds, body=content)
        except (OSError, http.client.HTTPException):
            return Answer(what=what, status=0, seconds=time.perf_counter() - began)
        finally:
            link.close()

    def get(self, path: str) -> Answer:
        return self.request("GET", path)

    def send_json(self, path: str, value: Any, *, what: str = "") -> Answer:
        """A POST of a value as JSON."""
        body = json.dumps(value).encode()
        return self.request("POST", path, body=body, headers={"content-type": "application/json"}, what=what)

    def upload(self, content: bytes, *, to: str = "input", what: str = "") -> Answer:
        """Sends an image (`input`) or a table (`file`) into this visitor's session."""
        headers = {"x-likeness-session": self.session}
        return self.request("POST", f"/live/{to}", body=content, headers=headers, what=what or f"upload to {to}")

    def leave(self) -> Answer:
        """Ends the visit, as a page does that is closed; the next request begins another."""
        session, self.session = self.session, uuid.uuid4().hex
        return self.request("POST", "/live/forget", body=session.encode(), what="leaving")

    def call(self, name: str, *values: Any, what: str = "") -> Answer:
        """Calls an endpoint for programs and waits for its result; its sentence where it refuses."""
        began, what = time.perf_counter(), what or name
        posted = self.send_json(f"/gradio_api/call/{name}", {"data": list(values)}, what=what)
        if posted.status != 200:
            return posted
        path = f"/gradio_api/call/{name}/{json.loads(posted.body)['event_id']}"
        kind, data = "", b""
        answer = self.get(path)
        for line in answer.body.splitlines():
            if line.startswith(b"event: "):
                kind = line[7:].decode()
            elif line.startswith(b"data: ") and kind in ("complete", "error"):
                data = line[6:]
        seconds = time.perf_counter() - began
        return Answer(what=what, status=answer.status if data else 0, seconds=seconds, body=data)

    def call_tool(self, name: str, **values: Any) -> Answer:
        """Calls an endpoint as a tool of MCP."""
        sent = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": name, "arguments": values}}
        headers = {"content-type": "application/json", "accept": "application/json, text/event-stream"}
        return self.request(
            "POST", "/gradio_api/mcp/", body=json.dumps(sent).encode(), headers=headers, what=f"tool {name}"
        )

    def events(self) -> dict[str, Event]:
        """The pages' events by what triggers them: an event of a component's own, or the text of a button."""
        config = json.loads(self.get("/config").body)
        props = {component["id"]: component["props"] for component in config["components"]}
        found: dict[str, Event] = {}
        for number, event in enumerate(config["dependencies"]):
            values = [props.get(control, {}).get("value") for control in event["inputs"]]
            for component, name in event["targets"]:
                label = props.get(component, {}).get("value") if name == "click" else name
                known = found.get(str(label))
                if known is None or event["queue"]:  # of several listeners, the one that does the work
                    found[str(label)] = Event(number=event.get("id", number), trigger=component, values=values)
        return found

    def join(self, event: Event, *, data: Any = None) -> Answer:
        """Puts an event into the queue under this visitor's session."""
        return self.send_json(
            "/gradio_api/queue/join",
            {
                "fn_index": event.number,
                "trigger_id": event.trigger,
                "session_hash": self.session,
                "data": event.values,
                "event_data": data,
            },
            what="event",
        )

    def connect(self) -> socket.socket:
        """A bare connection."""
        return socket.create_connection(
            ("127.0.0.1", self.port), timeout=self.patience, source_address=(self.address, 0)
        )

    def begin(self, path: str, *, length: int, sent: bytes) -> socket.socket:
        """A POST that states a length and sends only some of it."""
        link = self.connect()
        head = f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1:{self.port}\r\nContent-Length: {length}\r\n"
        head += f"X-Likeness-Session: {self.session}\r\n"
        link.sendall(head.encode() + b"\r\n" + sent)
        return link
