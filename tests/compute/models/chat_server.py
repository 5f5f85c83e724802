"""A stand-in for a vision-language model behind an OpenAI-compatible endpoint: deterministic, it looks at the pixels.

It answers the prompts of UniSim-Bench Table 7 by simple measures: the nearer image in mean colour, the caption whose
colour words fit, the sharper, brighter, more colourful image, the image furthest from the others. Any other prompt gets
a score from 1 to 10: the correlation of two images made small, or the brightness of one. It is no model: its scores say
nothing but that the pipeline runs.
"""

from __future__ import annotations

import base64
import io
import json
import re
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http.server import ThreadingHTTPServer
from typing import Any

import numpy as np
from PIL import Image

from tests.answering import Handler

COLOURS = {
    "red": (200, 40, 40),
    "green": (40, 160, 60),
    "blue": (40, 60, 200),
    "yellow": (220, 210, 50),
    "black": (10, 10, 10),
    "white": (245, 245, 245),
    "orange": (240, 140, 30),
    "purple": (130, 50, 160),
    "pink": (240, 150, 180),
    "brown": (120, 80, 40),
    "gray": (128, 128, 128),
    "grey": (128, 128, 128),
}


def answer(parts: list[dict[str, Any]]) -> str:
    """What the stand-in says to one message: an option as it is printed, or a score."""
    text = "".join(part["text"] for part in parts if part["type"] == "text")
    images = [_pixels(part["image_url"]["url"]) for part in parts if part["type"] == "image_url"]
    options = re.findall(r"^\(([A-H])\) (\w+ \d+)\s*$", text, re.MULTILINE)
    if not options:
        return f"Score: {_rating(images)}\nReason: so alike are the two."
    scores = _scores(text, images, len(options))
    letter, label = options[int(np.argmax(scores))]
    return f"({letter}) {label}"


def _pixels(url: str) -> np.ndarray:
    head, _, data = url.partition(",")
    if not re.fullmatch(r"data:image/(png|jpeg|webp);base64", head):
        raise ValueError(f"no image the server takes: {head[:60]}")
    return np.asarray(Image.open(io.BytesIO(base64.b64decode(data, validate=True))).convert("RGB"), dtype=float)


def _scores(text: str, images: list[np.ndarray], options: int) -> list[float]:
    """One score an option, higher is better."""
    colours = [image.mean(axis=(0, 1)) for image in images]
    if "odd-one-out" in text:
        return [sum(_distance(one, other) for other in colours) for one in colours]
    if "reference caption:" in text:
        wanted = _named(re.search(r"reference caption: (.*)\. which of the ", text, re.DOTALL)[1])
        return [-_distance(colour, wanted) for colour in colours]
    if "caption 1:" in text:
        captions = [
            re.search(rf"caption {number}: (.*?)(?:, caption {number + 1}:| \n which)", text, re.DOTALL)[1]
            for number in range(1, options + 1)
        ]
        return [-_distance(colours[0], _named(caption)) for caption in captions]
    if "image 1 is the reference" in text:
        return [-_distance(colours[0], colour) for colour in colours[1:]]
    if "bright" in text:
        return [image.mean() for image in images]
    if "colorful" in text:
        return [image.std(axis=2).mean() for image in images]
    if "contrast" in text:
        return [image.mean(axis=2).std() for image in images]
    return [_sharpness(image) for image in images]


def _named(caption: str) -> np.ndarray:
    found = [COLOURS[word] for word in re.findall(r"[a-z]+", caption.lower()) if word in COLOURS]
    return np.mean(found, axis=0) if found else np.full(3, 128.0)


def _distance(one: np.ndarray, other: np.ndarray) -> float:
    return float(np.linalg.norm(one - other))


def _sharpness(image: np.ndarray) -> float:
    grey = image.mean(axis=2)
    return float((np.diff(grey, axis=0) ** 2).mean() + (np.diff(grey, axis=1) ** 2).mean())


def _rating(images: list[np.ndarray]) -> int:
    if len(images) == 1:
        return 1 + round(9 * float(images[0].mean()) / 255)
    small = [Image.fromarray(image.astype(np.uint8)).convert("L").resize((16, 16)) for image in images]
    first, second = (np.asarray(image, dtype=float).ravel() - np.mean(image) for image in small)
    size = np.linalg.norm(first) * np.linalg.norm(second)
    return 1 + round(9 * max(0.0, first @ second / size)) if size else 10


class ChatServer(ThreadingHTTPServer):
    """Counts its requests in all, and by message."""

    daemon_threads = True
    request_queue_size = 64

    def __init__(self, **state: Any) -> None:
        super().__init__(("127.0.0.1", 0), Chat)
        self.url = f"http://127.0.0.1:{self.server_address[1]}/v1"
        self.lock, self.together = threading.Lock(), 0
        self.control(**state)

    def control(
        self, *, faults: Sequence[dict] = (), refuse: Sequence[str] = (), key: str = "", delay: float = 0
    ) -> None:
        """Begins the counts anew. `faults` are used up one a request, in order; `refuse`: parameters that are answered
        with 400; `key` is asked for where it is set; `delay`: seconds before every answer.
        """
        self.faults, self.refuse, self.key, self.delay = list(faults), refuse, key, delay
        self.messages: Counter[int] = Counter()
        self.most_together = 0
        self.last: dict[str, Any] = {}  # the last request, without its images

    def requests(self) -> int:
        return self.messages.total()


class Chat(Handler):
    server: ChatServer

    def do_POST(self) -> None:
        body, server = self.rfile.read(int(self.headers["content-length"])), self.server
        request, authorization = json.loads(body), self.headers.get("authorization")
        parts = request.pop("messages")[-1]["content"]
        with server.lock:
            server.together += 1
            server.most_together = max(server.most_together, server.together)
            server.messages[hash(body)] += 1
            fault = server.faults.pop(0) if server.faults else {}
            text = "".join(part.get("text", "<image>") for part in parts)
            server.last = {**request, "authorization": authorization, "text": text}
        time.sleep(server.delay + fault.get("slow", 0))
        with server.lock:
            server.together -= 1
        if server.key and authorization != f"Bearer {server.key}":
            self.send(401, {"error": f"Incorrect key: {authorization}"})
        elif refused := [name for name in server.refuse if name in request]:
            self.send(400, {"error": f"Unknown parameter: {refused[0]}"})
        elif fault.get("cut"):
            self.wfile.write(b'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 900\r\n\r\n{"choi')
            self.close_connection = True
        elif "status" in fault:
            self.send(fault["status"], {"error": fault.get("message", "a fault")}, fault.get("headers", {}))
        elif "body" in fault:
            self.send(200, fault["body"])
        else:
            self.send(200, completion(request, parts, more=fault.get("more", "")))

    def send(self, status: int, content: Any, headers: dict[str, str] | None = None) -> None:
        data = json.dumps(content).encode()
        self.send_response(status)
        for name, value in {"Content-Length": str(len(data)), **(headers or {})}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)


def completion(request: dict[str, Any], parts: list[dict[str, Any]], *, more: str) -> dict[str, Any]:
    """The answer, and `more` of it, up to the request's `max_tokens`, with a word as a token."""
    said, limit = answer(parts), request["max_tokens"]
    if "response_format" in request:
        said = json.dumps({"score": int(said.split()[1]), "reason": "so alike are the two"})
    words = (said + more).split(" ")
    return {
        "object": "chat.completion",
        "choices": [
            {
                "finish_reason": "length" if len(words) > limit else "stop",
                "message": {"role": "assistant", "content": " ".join(words[:limit])},
            }
        ],
        "usage": {
            "prompt_tokens": 20 * sum(part["type"] == "image_url" for part in parts),
            "completion_tokens": len(said.split()),
        },
    }


@contextmanager
def running(**state: Any) -> Iterator[ChatServer]:
    """A server on a free port, until the block ends."""
    with ChatServer(**state) as server:
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        try:
            yield server
        finally:
            server.shutdown()
