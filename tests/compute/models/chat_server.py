"""A stand-in for a vision-language model behind an OpenAI-compatible endpoint: deterministic, it looks at the pixels.

    python tests/compute/models/chat_server.py --port 0

prints its address. It answers the prompts of UniSim-Bench Table 7 by simple measures: the nearer image in mean colour,
the caption whose colour words fit, the sharper, brighter, more colourful image, the image furthest from the others. It
is no model: its scores say nothing but that the pipeline runs. `POST /control` sets faults, `GET /counts` counts.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import io
import json
import re
import subprocess
import sys
import threading
import time
import urllib.request
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np
from PIL import Image

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
    """What the stand-in says to one message: an option as it is printed."""
    text = "".join(part["text"] for part in parts if part["type"] == "text")
    images = [_pixels(part["image_url"]["url"]) for part in parts if part["type"] == "image_url"]
    options = re.findall(r"^\(([A-H])\) (\w+ \d+)\s*$", text, re.MULTILINE)
    if not options:
        return "I see no options."
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


class ChatServer(ThreadingHTTPServer):
    """`faults` are used up one a request, in order; `key` is asked for where it is set; `delay` slows every answer."""

    daemon_threads = True

    def __init__(self, port: int, *, key: str = "", model: str = "", delay: float = 0.0) -> None:
        super().__init__(("127.0.0.1", port), Handler)
        self.key, self.model, self.delay = key, model, delay
        self.lock = threading.Lock()
        self.faults: list[dict[str, Any]] = []
        self.refuse: list[str] = []  # parameters that are answered with 400
        self.counts: Counter[str] = Counter()
        self.asked: Counter[str] = Counter()  # by digest of the message
        self.together = self.most_together = 0
        self.times: list[float] = []
        self.last: dict[str, Any] = {}  # the last request, without its images


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: ChatServer

    def log_message(self, *_: Any) -> None:
        pass

    def do_GET(self) -> None:
        server = self.server
        with server.lock:
            state = {
                "counts": dict(server.counts),
                "asked": dict(server.asked),
                "times": server.times,
                "most_together": server.most_together,
                "last": server.last,
            }
        self._send(200, state)

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        if self.path == "/control":
            with self.server.lock:
                for name, value in json.loads(body).items():
                    setattr(self.server, name, Counter(value) if isinstance(value, dict) else value)
            self._send(200, {})
        elif self.path == "/v1/chat/completions":
            with self.server.lock:
                self.server.together += 1
                self.server.most_together = max(self.server.most_together, self.server.together)
            try:
                self._chat(json.loads(body))
            finally:
                with self.server.lock:
                    self.server.together -= 1
        else:
            self._send(404, {"error": f"nothing at {self.path}"})

    def _chat(self, request: dict[str, Any]) -> None:
        server, parts = self.server, request["messages"][-1]["content"]
        digest = hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()
        with server.lock:
            server.counts["requests"] += 1
            server.asked[digest] += 1
            server.times.append(time.time())
            fault = server.faults.pop(0) if server.faults else {}
            server.last = {
                **{name: value for name, value in request.items() if name != "messages"},
                "authorization": self.headers.get("authorization"),
                "text": "".join(part.get("text", "<image>") for part in parts),
            }
        time.sleep(server.delay + fault.get("slow", 0))
        if server.key and self.headers.get("authorization") != f"Bearer {server.key}":
            self._send(401, {"error": f"Incorrect key: {self.headers.get('authorization')}"})
        elif server.model and request.get("model") != server.model:
            self._send(404, {"error": f"The model {request.get('model')!r} does not exist"})
        elif refused := [name for name in server.refuse if name in request]:
            self._send(400, {"error": f"Unknown parameter: {refused[0]}"})
        elif fault.get("cut"):
            self.wfile.write(b'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 900\r\n\r\n{"choi')
            self.wfile.flush()
            self.connection.close()
            self.close_connection = True
        elif "status" in fault:
            self._send(fault["status"], {"error": fault.get("message", "a fault")}, fault.get("headers", {}))
        elif "body" in fault:
            self._send(200, fault["body"])
        else:
            self._good(request, parts)

    def _good(self, request: dict[str, Any], parts: list[dict[str, Any]]) -> None:
        try:
            said = answer(parts)
        except Exception as error:
            self._send(400, {"error": f"cannot read the message: {error}"})
            return
        with self.server.lock:
            self.server.counts["answered"] += 1
        tokens = {"prompt_tokens": 10 * len(parts), "completion_tokens": len(said.split())}
        choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": said}}
        self._send(
            200,
            {
                "id": "1",
                "object": "chat.completion",
                "created": 1,
                "model": request.get("model"),
                "choices": [choice],
                "usage": {**tokens, "total_tokens": sum(tokens.values())},
            },
        )

    def _send(self, status: int, content: Any, headers: dict[str, str] | None = None) -> None:
        data = content.encode() if isinstance(content, str) else json.dumps(content).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)


class Running:
    """A server in a process of its own."""

    def __init__(self, url: str) -> None:
        self.url = url

    def state(self) -> dict[str, Any]:
        with urllib.request.urlopen(self.url.removesuffix("/v1") + "/counts") as found:
            return json.load(found)

    def requests(self) -> int:
        return self.state()["counts"].get("requests", 0)

    def control(self, **state: Any) -> None:
        urllib.request.urlopen(self.url.removesuffix("/v1") + "/control", data=json.dumps(state).encode()).close()


@contextmanager
def running(*arguments: str) -> Iterator[Running]:
    """Starts the server on a free port and ends it afterwards."""
    process = subprocess.Popen([sys.executable, __file__, "--port", "0", *arguments], stdout=subprocess.PIPE, text=True)
    try:
        yield Running(process.stdout.readline().strip())
    finally:
        process.kill()
        process.wait()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--port", type=int, default=8000, help="0: any free one")
    parser.add_argument("--key", default="", help="the key that requests must carry; empty: none")
    parser.add_argument("--model", default="", help="the only model name that is served; empty: any")
    parser.add_argument("--delay", type=float, default=0.0, help="seconds before every answer")
    given = parser.parse_args()
    server = ChatServer(given.port, key=given.key, model=given.model, delay=given.delay)
    print(f"http://127.0.0.1:{server.server_address[1]}/v1", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
