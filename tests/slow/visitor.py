"""A visitor without a browser: plain requests from an address of its own, uploads, and Gradio's events."""

import contextlib
import http.client
import json
import socket
import time
import uuid
from dataclasses import dataclass, field

PATIENCE = 120.0  # seconds until an answer counts as missing
JSON = {"content-type": "application/json"}


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What came back: `status` is 0 where nothing did, and 200 for an event that ended with a sentence."""

    status: int
    seconds: float
    body: bytes = field(default=b"", repr=False)


class Visitor:
    """Requests of one address; on loopback all of 127.0.0.0/8 is there to choose from."""

    def __init__(self, port, address="127.0.0.1"):
        self.port, self.address, self.session = port, address, uuid.uuid4().hex

    def request(self, method, path, *, body=b"", headers=None):
        """One request on a connection of its own."""
        link = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE, source_address=(self.address, 0))
        status, content, began = 0, b"", time.perf_counter()
        with contextlib.closing(link), contextlib.suppress(OSError, http.client.HTTPException):
            link.request(method, path, body=body or None, headers=dict(headers or {}))
            answer = link.getresponse()
            content, status = answer.read(), answer.status
        return Answer(status=status, seconds=time.perf_counter() - began, body=content)

    def get(self, path):
        return self.request("GET", path)

    def send_json(self, path, value, headers=JSON):
        """A POST of a value as JSON."""
        return self.request("POST", path, body=json.dumps(value).encode(), headers=headers)

    def upload(self, content):
        """Sends an image into this visitor's session."""
        return self.request("POST", "/live/input", body=content, headers={"x-likeness-session": self.session})

    def leave(self):
        """Ends the visit, as a page does that is closed; the next request begins another."""
        session, self.session = self.session, uuid.uuid4().hex
        return self.request("POST", "/live/forget", body=session.encode())

    def score(self, first, second, models):
        """Has a program's pair scored."""
        return self.send_json("/api/v1/pair", {"first": first, "second": second, "models": models})

    def call_tool(self, name, **values):
        """Calls a function as a tool of MCP."""
        sent = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": name, "arguments": values}}
        return self.send_json("/gradio_api/mcp/", sent, JSON | {"accept": "application/json, text/event-stream"})

    def events(self):
        """The pages' events by what triggers them: an event of a component's own, or the text of a button. Each as it
        is put into the queue, with the values of its controls when the page opens."""
        config = json.loads(self.get("/config").body)
        props = {component["id"]: component["props"] for component in config["components"]}
        found = {}
        for number, event in enumerate(config["dependencies"]):
            values = [props.get(control, {}).get("value") for control in event["inputs"]]
            for component, name in event["targets"]:
                label = str(props.get(component, {}).get("value") if name == "click" else name)
                if label not in found or event["queue"]:  # of several listeners, the one that does the work
                    found[label] = {"fn_index": event.get("id", number), "trigger_id": component, "data": values}
        return found

    def join(self, event, *, data=None):
        """Puts an event into the queue under this visitor's session."""
        return self.send_json("/gradio_api/queue/join", {**event, "event_data": data, "session_hash": self.session})

    def connect(self, head="", body=b""):
        """A bare connection, on which a head without its end and a body are sent."""
        link = socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE, source_address=(self.address, 0))
        link.sendall(head.replace("\n", "\r\n").encode() + body)
        return link
