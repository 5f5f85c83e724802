"""A stand-in for a vision-language model behind an OpenAI-compatible endpoint: deterministic, it looks at the pixels.

It answers the prompts of UniSim-Bench Table 7 by simple measures (the nearer image in mean colour, or the brighter),
and any other with `Score: <n>`, the correlation of its two images. It is no model: its scores say nothing but that the
pipeline runs.
"""

import base64
import io
import json
import re
import threading
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from PIL import Image

from tests.answering import Handler, answering


def said(content, finish="stop", **message):
    """The body of a completion; `message`: what else is in its message."""
    return {
        "choices": [{"message": {"role": "assistant", "content": content, **message}, "finish_reason": finish}],
        "usage": {"prompt_tokens": 100, "completion_tokens": 10},
    }


@dataclass
class ChatServer:
    """How it behaves, and what it was asked.

    Every request uses up one of the `faults`: the `status`, `headers` and `body` of its answer, an `error` instead of a
    body, and `slow`, seconds before it.
    """

    url: str = ""
    key: str = ""  # that requests must carry
    model: str = ""  # the only one that is served; empty: any
    lost: int = 0  # every so many-th message is answered with status 400 however often it comes
    faults: Iterable[Any] = ()
    refuse: Iterable[str] = ()  # parameters that are answered with status 400
    messages: Counter[int] = field(default_factory=Counter)
    never: set[int] = field(default_factory=set)  # messages that `lost` has hit
    together: int = 0
    most_together: int = 0
    last: dict[str, Any] = field(default_factory=dict)  # the last request, without its images
    lock: Any = field(default_factory=threading.Lock)

    def control(self, **state):
        """Sets these; without any, begins anew."""
        vars(self).update(state or vars(ChatServer(url=self.url, together=self.together)))

    def requests(self):
        return self.messages.total()

    def answer(self, data, **asked):
        """What a request gets."""
        request, message = json.loads(data), hash(data)
        parts = request.pop("messages")[-1]["content"]
        with self.lock:
            self.messages[message] += 1
            if self.lost and self.messages[message] == 1 and len(self.messages) % self.lost == 0:
                self.never.add(message)
            self.faults = iter(self.faults)
            fault = next(self.faults, {})
            self.last = {**request, **asked, "text": "".join(part.get("text", "<image>") for part in parts)}
        time.sleep(fault.get("slow", 0))
        if self.key and asked["authorization"] != f"Bearer {self.key}":
            return {"status": 401, "error": f"Incorrect key: {asked['authorization']}"}
        if self.model not in ("", request["model"]):
            return {"status": 404, "error": f"The model {request['model']!r} does not exist"}
        if refused := [name for name in self.refuse if name in request]:
            return {"status": 400, "error": f"Unknown parameter: {refused[0]}"}
        if message in self.never:
            return {"status": 400, "error": "lost"}
        return fault if {*fault} - {"slow"} else {"body": said(reply(parts))}


def reply(parts):
    """What the stand-in says to one message: an option as it is printed, or a score."""
    text = "".join(part["text"] for part in parts if part["type"] == "text")
    images = [_image(part["image_url"]["url"]) for part in parts if part["type"] == "image_url"]
    if options := re.findall(r"^(\([A-H]\) \w+ \d+)\s*$", text, re.MULTILINE):
        return options[int(np.argmax(_scores(text, [np.asarray(image, dtype=float) for image in images])))]
    return f"Score: {_rating(images)}\nReason: so alike are the two."


def _image(url):
    head, _, data = url.partition(",")
    assert re.fullmatch(r"data:image/(png|jpeg|webp);base64", head), head[:60]
    return Image.open(io.BytesIO(base64.b64decode(data, validate=True))).convert("RGB")


def _rating(images):
    """From 1 to 10, the same in both orders; of a single image, how bright it is."""
    small = [np.asarray(image.convert("L").resize((16, 16), Image.Resampling.BOX), float).ravel() for image in images]
    if len(small) == 1:
        return 1 + round(9 * small[0].mean() / 255)
    first, second = (image - image.mean() for image in small)
    size = np.linalg.norm(first) * np.linalg.norm(second)
    return 1 + round(9 * max(0.0, first @ second / size)) if size else 10


def _scores(text, images):
    """One score an option, higher is better."""
    if "image 1 is the reference" not in text:
        return [image.mean() for image in images]
    reference, *colours = (image.mean(axis=(0, 1)) for image in images)
    return [-np.linalg.norm(reference - colour) for colour in colours]


@contextmanager
def running(**state):
    """A server until the block ends."""
    server = ChatServer(**state)

    class Answers(Handler):
        protocol_version = "HTTP/1.0"  # no connection outlives its answer, or the server

        def do_POST(self):  # noqa: N802 - the name that http.server calls
            data = self.rfile.read(int(self.headers["content-length"]))
            with server.lock:
                server.together += 1
                server.most_together = max(server.most_together, server.together)
            try:
                given = server.answer(data, path=self.path, authorization=self.headers.get("authorization"))
            finally:
                with server.lock:
                    server.together -= 1
            body = given.get("body", {"error": given.get("error", "a fault")})
            content = body if isinstance(body, bytes | Iterator) else json.dumps(body).encode()
            self.send_response(given.get("status", 200))
            for name, value in given.get("headers", {}).items():
                self.send_header(name, value)
            self.end_headers()
            for part in [content] if isinstance(content, bytes) else content:
                self.wfile.write(part)

    with answering(Answers) as address:
        server.url = f"{address}/v1"
        yield server
