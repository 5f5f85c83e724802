"""A stand-in judge of pairs behind an OpenAI-compatible endpoint: it looks at the pixels and answers `Score: <n>`.

    python tests/compute/models/pair_server.py --port 0

prints its address. Its score is the correlation of both images made small, from 1 to 10: symmetric and deterministic,
and no model. One thread serves all connections, and an image is decoded once, so that many requests cost it little.
A model's name asks for faults, such as `judge!429!cut`: TRANSIENT ones meet the first request of a message in turn,
LASTING ones every request. `GET /counts` counts, `POST /control` sets `delay`, and `lost`: every so many-th message is
answered with status 400 however often it comes (0: none); it clears the counts. A `wordy` answer is cut at the
request's `max_tokens`, with a word as a token.
"""

from __future__ import annotations

import argparse
import asyncio
import base64
import io
import json
import re
import subprocess
import sys
import time
import urllib.request
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import numpy as np
from PIL import Image

TRANSIENT = ("429", "500", "slow", "cut", "garbage")
LASTING = ("scale", "words", "refusal", "filter", "blocked", "length", "empty", "400", "format", "wordy")
SIDE = 16  # pixels of a small image
PAUSE = 0.3  # seconds of `slow`, and of what `429` asks for


class Judge:
    """What the server knows: the images it has seen, and its counts."""

    def __init__(self, *, delay: float) -> None:
        self.delay = delay
        self.lost = 0
        self.small: dict[tuple[int, int], np.ndarray] = {}  # by hash and length of the data URL
        self.clear()

    def clear(self) -> None:
        """Begins the counts anew; images stay decoded."""
        self.counts: Counter[str] = Counter()
        self.messages: Counter[int] = Counter()
        self.never: set[int] = set()  # messages that `lost` has hit
        self.together = self.most_together = 0
        self.seconds = 0.0  # from a request read to its answer written, all requests together
        self.last: dict[str, Any] = {}

    def state(self) -> dict[str, Any]:
        """The counts as JSON has them."""
        return {
            "counts": dict(self.counts),
            "messages": len(self.messages),
            "repeated": sum(count > 1 for count in self.messages.values()),
            "most_of_one_message": max(self.messages.values(), default=0),
            "images": len(self.small),
            "most_together": self.most_together,
            "seconds": self.seconds,
            "last": self.last,
        }

    def score(self, parts: list[dict[str, Any]]) -> int:
        """1 to 10: how alike the two images are; of a single one, how bright it is."""
        images = [self._small(part["image_url"]["url"]) for part in parts if part["type"] == "image_url"]
        self.counts["images"] += len(images)
        if len(images) == 1:
            return 1 + round(9 * float(images[0].mean()) / 255)
        first, second = (image.ravel() - image.mean() for image in images[:2])
        size = float(np.linalg.norm(first) * np.linalg.norm(second))
        return 1 + round(9 * max(0.0, float(first @ second) / size)) if size else 10

    def _small(self, url: str) -> np.ndarray:
        known = hash(url), len(url)
        if known not in self.small:
            head, _, data = url.partition(",")
            if not re.fullmatch(r"data:image/(png|jpeg|webp);base64", head):
                raise ValueError(f"no image the server takes: {head[:60]}")
            image = Image.open(io.BytesIO(base64.b64decode(data, validate=True))).convert("L")
            self.small[known] = np.asarray(image.resize((SIDE, SIDE), Image.Resampling.BOX), dtype=float)
        return self.small[known]


async def serve(judge: Judge, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """One connection, until the client leaves."""
    with suppress(asyncio.IncompleteReadError, ConnectionError):
        while True:
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
            method, path, _ = head.split(" ", 2)
            length = re.search(r"(?i)content-length: (\d+)", head)
            body = await reader.readexactly(int(length[1])) if length else b""
            if path == "/counts":
                answer = _response(200, judge.state())
            elif path == "/control":
                control = json.loads(body)
                judge.delay, judge.lost = control.get("delay", judge.delay), control.get("lost", 0)
                judge.clear()
                answer = _response(200, {})
            else:
                answer = await _chat(judge, body)
            if answer is None:
                writer.write(b'HTTP/1.1 200 OK\r\nContent-Length: 900\r\n\r\n{"choi')
                break
            writer.write(answer)
            await writer.drain()
    writer.close()


async def _chat(judge: Judge, body: bytes) -> bytes | None:
    """The response to a question; None: the connection is to be cut within it."""
    began = time.perf_counter()
    judge.counts["requests"] += 1
    judge.together += 1
    judge.most_together = max(judge.most_together, judge.together)
    try:
        message = hash(body)
        judge.messages[message] += 1
        if judge.lost and judge.messages[message] == 1 and len(judge.messages) % judge.lost == 0:
            judge.never.add(message)
        request = json.loads(body)
        parts = request["messages"][0]["content"]
        score = judge.score(parts)
        judge.last = {name: value for name, value in request.items() if name != "messages"}
        faults = request["model"].split("!")[1:]
        transient = [fault for fault in faults if fault in TRANSIENT]
        lasting = [fault for fault in faults if fault in LASTING]
        await asyncio.sleep(judge.delay)
        if transient and judge.messages[message] == 1:
            fault = transient[judge.counts["faults"] % len(transient)]
            judge.counts["faults"] += 1
            judge.counts[fault] += 1
            if fault == "cut":
                return None
            if fault == "slow":
                await asyncio.sleep(PAUSE)
            if fault in ("429", "500"):
                return _response(int(fault), {"error": {"message": "a fault"}}, after=PAUSE if fault == "429" else 0)
            if fault == "garbage":
                return _response(200, "<html>busy</html>")
        if message in judge.never:
            judge.counts["lost"] += 1
            return _response(400, {"error": {"message": "lost"}})
        judge.counts["answered"] += 1
        return _answer(score, request, lasting[0] if lasting else "")
    finally:
        judge.together -= 1
        judge.seconds += time.perf_counter() - began


def _answer(score: int, request: dict[str, Any], fault: str) -> bytes:
    """A completion with the score, or what a lasting fault makes of it."""
    message: dict[str, Any] = {"role": "assistant", "content": f"Score: {score}\nReason: so alike are the two."}
    finish = "stop"
    if fault == "400":
        return _response(400, {"error": {"message": "too many images"}})
    if fault == "blocked":
        return _response(400, {"error": {"message": "the prompt was filtered", "code": "content_filter"}})
    if "response_format" in request:
        if fault == "format":
            return _response(400, {"error": {"message": "response_format of type json_schema is not supported"}})
        message["content"] = json.dumps({"score": score, "reason": "so alike are the two"})
    if fault == "scale":
        message["content"] = f"Score: {10 * score}\nReason: in per cent."
    elif fault == "wordy":
        words = [*message["content"].split(" "), *["and"] * 60]
        message["content"] = " ".join(words[: request["max_tokens"]])
        finish = "length" if len(words) > request["max_tokens"] else "stop"
    elif fault == "words":
        message["content"] = "I am sorry, but I cannot rate these images."
    elif fault == "refusal":
        message |= {"content": None, "refusal": "I will not rate these images."}
    elif fault == "filter":
        message["content"], finish = None, "content_filter"
    elif fault == "length":
        message["content"], finish = "The first image shows a small red house beside", "length"
    elif fault == "empty":
        message["content"], finish = None, "length"
    usage = {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}
    return _response(
        200,
        {
            "object": "chat.completion",
            "choices": [{"index": 0, "message": message, "finish_reason": finish}],
            "usage": usage,
        },
    )


def _response(status: int, content: Any, *, after: float = 0) -> bytes:
    data = content.encode() if isinstance(content, str) else json.dumps(content).encode()
    pause = f"Retry-After: {after}\r\n" if after else ""
    head = f"HTTP/1.1 {status} Status\r\nContent-Type: application/json\r\nContent-Length: {len(data)}\r\n{pause}\r\n"
    return head.encode() + data


class Running:
    """A server in a process of its own."""

    def __init__(self, url: str, pid: int) -> None:
        self.url, self.pid = url, pid

    def state(self) -> dict[str, Any]:
        """What it has counted."""
        with urllib.request.urlopen(self.url.removesuffix("/v1") + "/counts") as counts:
            return json.load(counts)

    def control(self, **state: Any) -> None:
        """Sets `delay` and `lost`, and clears the counts."""
        urllib.request.urlopen(self.url.removesuffix("/v1") + "/control", data=json.dumps(state).encode()).close()


@contextmanager
def running(*arguments: str) -> Iterator[Running]:
    """Starts the server on a free port and ends it afterwards."""
    process = subprocess.Popen([sys.executable, __file__, "--port", "0", *arguments], stdout=subprocess.PIPE, text=True)
    try:
        yield Running(process.stdout.readline().strip(), process.pid)
    finally:
        process.kill()
        process.wait()


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--port", type=int, default=8000, help="0: any free one")
    parser.add_argument("--delay", type=float, default=0.0, help="seconds before every answer")
    options = parser.parse_args()
    judge = Judge(delay=options.delay)
    server = await asyncio.start_server(
        lambda reader, writer: serve(judge, reader, writer), "127.0.0.1", options.port, limit=1 << 24
    )
    print(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1", flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main())
