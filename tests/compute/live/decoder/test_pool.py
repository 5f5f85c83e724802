"""The pool decodes as the process itself would, and no file or process can take it down."""

from __future__ import annotations

import logging
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from compute.live import inputs
from compute.live.decoder import limits
from compute.live.decoder.pool import DecoderPool, DecoderUnavailable
from compute.live.models import memory
from compute.types import BadInput
from tests.compute.content.test_decoding import picture, png_header, saved
from tests.compute.live.decoder.stand_ins import program

ROOT = Path(__file__).resolve().parents[4]
PNG = saved(picture(), "PNG")
LINUX = pytest.mark.skipif(not limits.enforced(), reason="only Linux limits a process in every way")
BROKE = (
    "^cat.png took too much time or memory to read, or broke its reader. Open it in an image program, save it as JPEG"
)
ANSWER = "reply(4, 1, 1); os.write(1, b'rgb')"


@pytest.fixture(scope="module")
def pool() -> Iterator[DecoderPool]:
    pool = DecoderPool()
    yield pool
    pool.close()


def made(body: str, *, ready: bool = True, **options: object) -> DecoderPool:
    """A pool of one process, which runs a program of its own."""
    return DecoderPool(command=program(body, ready=ready), processes=1, **options)


def until(condition: object, seconds: float = 30.0) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it never came"
        time.sleep(0.02)


def exists(pid: int) -> bool:
    """Whether a process runs; one that ended and waits for its parent does not."""
    status = Path(f"/proc/{pid}/stat")
    return status.exists() and status.read_text().rpartition(")")[2].split()[0] != "Z"


# ---- the same as in process


def turned() -> Image.Exif:
    exif = Image.Exif()
    exif[0x0112] = 6
    return exif


def clear() -> Image.Image:
    image = picture()
    image.putalpha(0)
    return image


DEEP = np.arange(0, 65536, 256, dtype=np.uint16).reshape(16, 16)
SERIES = {"save_all": True, "append_images": [picture(seed=1), picture(seed=2)]}
WIDE = Image.linear_gradient("L").resize((5_200, 3_200))  # more than inputs.LARGE pixels
FILES = {
    **{
        kind: saved(picture(), kind)
        for kind in ("PNG", "JPEG", "WEBP", "GIF", "BMP", "TIFF", "PPM", "JPEG2000", "AVIF")
    },
    "animation": saved(picture(), "GIF", **SERIES),
    "animated webp": saved(picture(), "WEBP", **SERIES),
    "pages": saved(picture(), "TIFF", **SERIES),
    "phone": saved(picture(), "MPO", **SERIES),
    "turned": saved(picture(), "JPEG", exif=turned()),
    "turned tiff": saved(picture(), "TIFF", exif=turned()),
    "broken exif": saved(picture(), "JPEG", exif=b"Exif\x00\x00MM\x00*\x00\x00\xff\xff broken"),
    "transparent": saved(clear(), "PNG"),
    "transparent webp": saved(clear(), "WEBP"),
    "palette": saved(picture().quantize(16), "PNG", transparency=3),
    "16 bits": saved(Image.fromarray(DEEP), "PNG"),
    "16 bits tiff": saved(Image.fromarray(DEEP), "TIFF"),
    "cmyk": saved(picture().convert("CMYK"), "JPEG"),
    "lab": saved(picture().convert("LAB"), "TIFF"),
    "deflated tiff": saved(picture(), "TIFF", compression="tiff_adobe_deflate"),
    "progressive": saved(picture(), "JPEG", progressive=True),
    "large png": saved(WIDE, "PNG"),
    "large jpeg": saved(WIDE, "JPEG"),
    "large webp": saved(WIDE, "WEBP", method=0),
    "large avif": saved(WIDE, "AVIF", speed=10),
    "large deep tiff": saved(
        Image.fromarray(np.asarray(WIDE).astype(np.int32) * 257), "TIFF", compression="tiff_adobe_deflate"
    ),
    "long": saved(Image.new("L", (1, 5_000_000), 70), "PNG"),
    "empty": b"",
    "text": b"hello",
    "svg": b"<svg xmlns='http://www.w3.org/2000/svg'/>",
    "truncated": saved(picture(width=200, height=200), "JPEG")[:900],
    "truncated webp": saved(picture(width=200, height=200), "WEBP")[:300],
    "no pixels": png_header(200, 200),
    "too many pixels": png_header(20_000, 20_000),
    "too many pixels in webp": b"RIFF\x1a\x00\x00\x00WEBPVP8X\x0a\x00\x00\x00\x00\x00\x00\x00\xff\x3f\x00\xff\x3f\x00",
    "float": saved(Image.fromarray(np.ones((2, 2), np.float32)), "TIFF"),
    "beyond 16 bits": saved(Image.fromarray(np.full((2, 2), 70_000, np.int32)), "TIFF"),
    "too many bytes": PNG + bytes(8_000_000),
    "slow": b"P3\n400 300\n255\n" + b"70 " * 360_000,
}


@pytest.mark.filterwarnings("ignore::UserWarning", "ignore::PIL.Image.DecompressionBombWarning")
@pytest.mark.parametrize("name", FILES)
def test_every_rule_holds_as_in_process(name: str, pool: DecoderPool) -> None:
    data = FILES[name]
    try:
        expected = inputs.image(data, name="cat.png")
    except BadInput as error:
        with pytest.raises(BadInput) as refused:
            pool.image(data, name="cat.png")
        assert str(refused.value) == str(error)
        return
    image, thumbnail = pool.image_with_thumbnail(data, name="cat.png")
    assert (image.modality, image.key, image.name, image.note) == ("image", expected.key, "cat.png", expected.note)
    assert image.content.size == expected.content.size and image.content.tobytes() == expected.content.tobytes()
    assert thumbnail == inputs.thumbnail(expected.content)


def test_large_images_one_after_another_keep_their_memory(pool: DecoderPool) -> None:
    """What one leaves behind takes nothing from the next."""
    files = [FILES[name] for name in ("large png", "large webp", "large avif", "large deep tiff", "long")]
    for data in files * 2:
        assert pool.image(data, name="cat.png").content.size


@LINUX
def test_a_process_at_rest_returns_its_memory() -> None:
    """What a large image took is the system's again soon after."""
    pool = DecoderPool(processes=1)
    try:
        pool.image(PNG, name="cat.png")
        (pid,) = pool.pids
        before = memory.resident(pid)
        assert before > 10_000_000
        pool.image(FILES["large png"], name="cat.png")
        until(lambda: memory.resident(pid) < before + 20_000_000)
        assert pool.pids == [pid]
    finally:
        pool.close()


def test_good_and_bad_files_leave_the_processes_as_they_are(pool: DecoderPool) -> None:
    pool.image(PNG, name="cat.png")
    until(lambda: len(pool.pids) == 2)
    before = pool.pids
    for _ in range(5):
        pool.image(PNG, name="cat.png")
        with pytest.raises(BadInput):
            pool.image(b"hello", name="cat.png")
    assert pool.pids == before


def test_many_threads_get_each_its_own_picture(pool: DecoderPool) -> None:
    def decode(number: int) -> bool:
        shade = (number, 255 - number, 7)
        side = 3_200 if number % 20 == 0 else 20 + number
        size = (5_200, side) if side == 3_200 else (side, 30)
        image = pool.image(saved(Image.new("RGB", size, shade), "PNG"), name=str(number))
        return image.content.getpixel((0, 0)) == shade and image.name == str(number)

    with ThreadPoolExecutor(8) as threads:
        assert all(threads.map(decode, range(64)))


# ---- what holds a process


@LINUX
def test_a_process_inherits_nothing_and_can_open_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_TOKEN", "a-secret")
    read, write = os.pipe()
    os.set_inheritable(write, True)
    pool = DecoderPool(processes=1)
    try:
        pool.image(PNG, name="cat.png")
        (pid,) = pool.pids
        process = Path(f"/proc/{pid}")
        assert b"a-secret" not in (process / "environ").read_bytes()
        opened = sorted(os.readlink(link) for link in (process / "fd").iterdir())
        assert opened[:3] == ["/dev/null", "/dev/null", f"/proc/{pid}/statm"]
        assert len(opened) == 5 and all("pipe:" in name for name in opened[3:])
        assert os.readlink(process / "fd" / "0") != os.readlink(f"/proc/self/fd/{read}")
        bounds = {line[:26].strip(): line[26:].split()[:2] for line in (process / "limits").read_text().splitlines()}
        assert bounds["Max open files"] == bounds["Max file size"] == bounds["Max core file size"] == ["0", "0"]
        soft, hard = map(int, bounds["Max address space"])
        assert soft < hard < 1_000_000_000
        assert 0 < int(bounds["Max cpu time"][0]) < 20
        assert "NoNewPrivs:\t1" in (process / "status").read_text()
    finally:
        pool.close()
        os.close(read)
        os.close(write)


@LINUX
@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("bytearray(2_000_000_000)", "MemoryError"),
        ("open('/etc/hostname')", "Too many open files"),
        ("import socket; socket.socket()", "Too many open files"),
        ("os.write(kept, b'x')", "File too large"),
        ("exec('while True: pass')", ""),
    ],
    ids=["memory", "file", "socket", "writing", "time"],
)
def test_the_limits_hold(body: str, words: str, tmp_path: Path) -> None:
    """In a process with the worker's own limits: what is beyond them fails, and a loop is killed."""
    code = f"""
import os, signal, socket, sys
from compute.live.decoder import limits
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
limits.SECONDS = 1
kept = os.open({str(tmp_path / "file")!r}, os.O_CREAT | os.O_WRONLY)
bounds = limits.FileLimits()
bounds.renew(is_large=False)
try:
    {body}
except Exception as error:
    os.write(1, f"{{type(error).__name__}} {{error}}".encode())
"""
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, cwd=ROOT, timeout=120)
    assert words in ended.stdout.decode(), ended.stderr.decode()
    assert ended.returncode == (0 if words else -signal.SIGXCPU)


@LINUX
@pytest.mark.parametrize("sign", [signal.SIGKILL, signal.SIGTERM])
def test_the_parent_s_death_ends_the_processes(sign: signal.Signals) -> None:
    code = """
import sys, time
from compute.live.decoder.pool import DecoderPool
pool = DecoderPool()
pool.start()
while len(pool.pids) < 2: time.sleep(0.05)
print(*pool.pids, flush=True)
time.sleep(600)
"""
    parent = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, cwd=ROOT, text=True)
    pids = list(map(int, parent.stdout.readline().split()))
    assert len(pids) == 2 and all(map(exists, pids))
    parent.send_signal(sign)
    parent.wait(timeout=30)
    parent.stdout.close()
    until(lambda: not any(map(exists, pids)))


@LINUX
def test_it_closes_at_exit_and_leaves_nothing() -> None:
    code = f"""
from compute.live.decoder.pool import POOL
POOL.image(bytes.fromhex({PNG.hex()!r}), name="cat.png")
print(*POOL.pids)
"""
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, cwd=ROOT, timeout=120, text=True)
    assert ended.returncode == 0 and ended.stderr == ""
    assert not any(exists(int(pid)) for pid in ended.stdout.split())


# ---- processes that misbehave


@pytest.mark.parametrize(
    "body",
    [
        "take(); sys.exit(3)",
        "take(); os.abort()",
        "take(); reply(4, 1, 1); os.write(1, b'r'); sys.exit()",
        "take(); reply(4, 1000, 1000); os.write(1, bytes(100)); sys.exit()",
        "take(); os.write(1, b'HTTP/1.1 200 OK' * 100); time.sleep(60)",
        "take(); reply(4, 2**31, 2**31); time.sleep(60)",
        "take(); reply(1); time.sleep(60)",
    ],
    ids=["exit", "crash", "truncated", "short", "nonsense", "huge", "confused"],
)
def test_a_process_that_fails_is_replaced_and_its_file_refused(body: str, caplog: pytest.LogCaptureFixture) -> None:
    pool = made(body)
    try:
        seen = set()
        for _ in range(2):
            with pytest.raises(BadInput, match=BROKE), caplog.at_level(logging.WARNING):
                until(lambda: pool.pids or pool.start())
                seen.update(pool.pids)
                pool.image(PNG, name="cat.png")
        assert len(seen) == 2
        assert all(not exists(pid) or pid in pool.pids for pid in seen)
        assert "was replaced" in caplog.text
    finally:
        pool.close()


def test_one_that_hangs_is_killed_by_the_clock() -> None:
    pool = made("take(); time.sleep(600)", seconds=0.5)
    try:
        with pytest.raises(BadInput, match=BROKE):
            pool.image(PNG, name="cat.png")
    finally:
        pool.close()


def test_one_that_does_not_read_is_killed_by_the_clock() -> None:
    pool = made("time.sleep(600)", seconds=0.5)
    try:
        with pytest.raises(BadInput, match=BROKE):
            pool.image(PNG + bytes(7_000_000), name="cat.png")
    finally:
        pool.close()


@LINUX
def test_one_that_was_killed_while_idle_costs_no_file(pool: DecoderPool) -> None:
    pool.image(PNG, name="cat.png")
    until(lambda: len(pool.pids) == 2)
    before = pool.pids
    for pid in before:
        os.kill(pid, signal.SIGKILL)
    until(lambda: not any(map(exists, before)))
    assert pool.image(PNG, name="cat.png").content.size == (24, 16)
    until(lambda: len(pool.pids) == 2)
    assert not set(before) & set(pool.pids)


def test_one_that_was_killed_over_a_file_is_replaced() -> None:
    pool = made("take(); time.sleep(600)")
    try:
        with ThreadPoolExecutor(1) as threads:
            refused = threads.submit(pool.image, PNG, name="cat.png")
            until(lambda: pool.pids)
            (pid,) = pool.pids
            time.sleep(0.2)
            os.kill(pid, signal.SIGKILL)
            with pytest.raises(BadInput, match=BROKE):
                refused.result(timeout=30)
        until(lambda: pool.pids and pool.pids != [pid])
    finally:
        pool.close()


@LINUX
def test_one_that_keeps_memory_or_is_old_is_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    keeping = made(f"kept = b'x' * 200_000_000\nwhile True: take(); {ANSWER}")
    monkeypatch.setattr("compute.live.decoder.pool.REST", 0.0)
    monkeypatch.setattr("compute.live.decoder.pool.FILES", 3)
    old = made(f"while True: take(); {ANSWER}")
    try:
        for pool, count in ((keeping, 3), (old, 4)):
            seen = set()
            for _ in range(count):
                until(lambda pool=pool: pool.pids or pool.start())
                seen.update(pool.pids)
                assert pool.image(PNG, name="cat.png").content.size == (1, 1)
                until(lambda pool=pool: pool.pids)
            assert len(seen) >= 2
    finally:
        keeping.close()
        old.close()


# ---- waiting


def test_one_large_image_at_a_time(tmp_path: Path) -> None:
    """The program counts, in a file, how many that may be large are in work."""
    body = (
        f"folder = {str(tmp_path)!r}"
        + """
while True:
    large, name, data = take()
    if not large:
        reply(3)
        continue
    own = os.path.join(folder, str(os.getpid()))
    open(own, "w").close()
    time.sleep(0.05)
    count = len(os.listdir(folder))
    os.remove(own)
    reply(4, count, 1)
    os.write(1, bytes(3 * count))
"""
    )
    pool = DecoderPool(command=program(body), processes=3)
    try:
        with ThreadPoolExecutor(6) as threads:
            images = list(threads.map(lambda _: pool.image(PNG, name="cat.png"), range(12)))
        assert [image.content.width for image in images] == [1] * 12
    finally:
        pool.close()


def test_visitors_take_turns(tmp_path: Path) -> None:
    """Of eight files of one visitor two come before another's first, and then one between each of the other's."""
    flag = tmp_path / "flag"
    body = f"""
served = 0
while True:
    take()
    while not os.path.exists({str(flag)!r}): time.sleep(0.01)
    served += 1
    reply(4, served, 1)
    os.write(1, bytes(3 * served))
"""
    pool = DecoderPool(command=program(body), processes=1)

    def position(owner: str) -> int:
        return pool.image(PNG, name="cat.png", owner=owner).content.width

    try:
        until(lambda: pool.pids or pool.start())
        with ThreadPoolExecutor(11) as threads:
            first = [threads.submit(position, "a") for _ in range(8)]
            until(lambda: len(pool._line) == 7)
            other = [threads.submit(position, "b") for _ in range(3)]
            until(lambda: len(pool._line) == 10)
            flag.touch()
            assert sorted(each.result() for each in other) == [3, 5, 7]
            assert sorted(each.result() for each in first) == [1, 2, 4, 6, 8, 9, 10, 11]
    finally:
        flag.touch()
        pool.close()


def test_a_visitor_who_comes_again_and_again_passes_nobody() -> None:
    """One who sends the next file as soon as the last is answered does not overtake a file that waits."""
    pool = made(f"while True: take(); time.sleep(0.05); {ANSWER}")
    done, order = threading.Event(), []

    def again() -> None:
        while not done.is_set():
            pool.image(PNG, name="cat.png", owner="a")
            order.append("a")

    def once(owner: str) -> None:
        pool.image(PNG, name="cat.png", owner=owner)
        order.append(owner)

    try:
        until(lambda: pool.pids or pool.start())
        with ThreadPoolExecutor(4) as threads:
            threads.submit(again)
            until(lambda: order)
            for each in [threads.submit(once, "b") for _ in range(3)]:
                each.result()
            done.set()
        between = order[order.index("b") : len(order) - order[::-1].index("b")]
        assert between.count("b") == 3 and between.count("a") <= 3
        assert not pool._line and not pool._running and not pool._turns
    finally:
        done.set()
        pool.close()


def test_too_many_that_wait_are_sent_away_in_a_sentence() -> None:
    pool = made("take(); time.sleep(600)", waiting=2)
    threads = [threading.Thread(target=lambda: _ignored(pool)) for _ in range(3)]
    try:
        until(lambda: pool.pids or pool.start())  # else the third would come before one of them has the process
        for thread in threads:
            thread.start()
        until(lambda: len(pool._line) == 2)
        with pytest.raises(DecoderUnavailable, match="^Many images are being read at this moment. Try again"):
            pool.image(PNG, name="cat.png")
    finally:
        pool.close()
        for thread in threads:
            thread.join(timeout=30)
    assert not any(thread.is_alive() for thread in threads)


def test_nobody_waits_for_ever() -> None:
    pool = made("take(); time.sleep(600)", patience=0.3)
    thread = threading.Thread(target=lambda: _ignored(pool))
    try:
        until(lambda: pool.pids or pool.start())
        thread.start()
        until(lambda: not pool._idle)
        with pytest.raises(DecoderUnavailable):
            pool.image(PNG, name="cat.png")
    finally:
        pool.close()
        thread.join(timeout=30)


def _ignored(pool: DecoderPool) -> None:
    try:
        pool.image(PNG, name="cat.png")
    except BadInput:
        return


@pytest.mark.parametrize(
    "command",
    [
        ("/no/such/program",),
        program("sys.exit('broken')", ready=False),
        program("os.write(1, b'hello' * 9)", ready=False),
    ],
    ids=["missing", "ends", "talks"],
)
def test_where_no_process_starts_a_file_is_refused_and_never_decoded_here(
    command: tuple[str, ...], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(inputs, "image", lambda *_, **__: pytest.fail("decoded in the server"))
    pool = DecoderPool(command=command)
    try:
        with pytest.raises(BadInput, match="^Images cannot be read on this host at this moment. Try again later"):
            pool.image(PNG, name="cat.png")
        assert "No decoding process can be started" in caplog.text
    finally:
        pool.close()


def test_a_host_that_can_start_them_again_does(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("compute.live.decoder.pool.PAUSE", 0.0)
    flag = tmp_path / "flag"
    body = f"os.path.exists({str(flag)!r}) or sys.exit(1)\n"
    command = program(f"while True: take(); {ANSWER}")
    pool = DecoderPool(command=(sys.executable, "-c", "import os, sys\n" + body + command[2]), processes=1)
    try:
        with pytest.raises(BadInput, match="cannot be read on this host"):
            pool.image(PNG, name="cat.png")
        flag.touch()
        assert pool.image(PNG, name="cat.png").content.size == (1, 1)
    finally:
        pool.close()


def test_a_closed_pool_refuses() -> None:
    pool = DecoderPool(processes=1)
    pool.image(PNG, name="cat.png")
    pids = pool.pids
    pool.close()
    assert pool.pids == [] and not any(map(exists, pids))
    with pytest.raises(BadInput):
        pool.image(PNG, name="cat.png")
