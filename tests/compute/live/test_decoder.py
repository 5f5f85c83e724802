"""The workers decode as the process itself would, and no file or worker takes the app down."""

import os
import signal
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from PIL import Image

from compute import bare_process
from compute.live import decoder, inputs
from compute.live.decoder import DecoderPool, DecoderUnavailable
from compute.types import BadInput
from tests.compute.content.test_decoding import picture, saved
from tests.compute.live import hostile

PNG = saved(picture(), "PNG")
LINUX = pytest.mark.skipif(not bare_process.enforced(), reason="only Linux limits a process in every way")
FRAMES = """
import os, sys
def send(*frames):
    for frame in frames: os.write(1, len(frame).to_bytes(4) + frame)
def take():
    for _ in range(2): sys.stdin.buffer.read(int.from_bytes(sys.stdin.buffer.read(4)))
"""


@pytest.fixture(scope="module")
def pool():
    pool = DecoderPool()
    pool.start()
    yield pool
    pool.close()


@pytest.fixture
def made():
    """Pools of one worker, which runs a program of its own."""
    pools = []

    def make(body):
        pools.append(DecoderPool(command=(sys.executable, "-c", FRAMES + body), workers=1))
        return pools[-1]

    yield make
    for each in pools:
        each.close()


def workers(pool):
    """The ids of the workers that are free."""
    return sorted(worker.pid for worker in pool._free.queue if worker and worker.is_alive)


TURNED = Image.Exif()
TURNED[0x0112] = 6
FILES = {
    "png": PNG,
    "gif": saved(picture(), "GIF", save_all=True, append_images=[picture(seed=1)]),
    "large jpeg": saved(Image.linear_gradient("L").resize((5_200, 3_200)), "JPEG", exif=TURNED),
    "long": saved(Image.new("L", (1, 50_000), 70), "PNG"),
    "truncated": saved(picture(width=200, height=200), "JPEG")[:900],
    "another format": saved(picture(), "TIFF"),
}


@pytest.mark.parametrize("name", FILES)
def test_every_rule_holds_as_in_process(name, pool):
    data, before = FILES[name], workers(pool)
    try:
        expected = inputs.image(data, name="cat.png")
    except BadInput as error:
        with pytest.raises(BadInput, match="cat.png") as refused:
            pool.image(data, name="cat.png")
        assert str(refused.value) == str(error)
    else:
        image, thumbnail = pool.image_with_thumbnail(data, name="cat.png")
        assert (image.modality, image.key, image.name, image.note) == ("image", expected.key, "cat.png", expected.note)
        assert image.content.size == expected.content.size and image.content.tobytes() == expected.content.tobytes()
        assert thumbnail == inputs.thumbnail(expected.content)
    assert workers(pool) == before, "it was no reason for a new process"


def test_too_many_bytes_are_refused_at_once(pool):
    with pytest.raises(BadInput, match="8 MB"):
        pool.image(bytes(9_000_000), name="cat.png")


def test_many_threads_get_each_its_own_picture(pool):
    def decode(number):
        image = pool.image(saved(Image.new("RGB", (20 + number, 30), (number, 0, 7)), "PNG"), name=str(number))
        return image.content.getpixel((0, 0)) == (number, 0, 7) and image.name == str(number)

    with ThreadPoolExecutor(8) as threads:
        assert all(threads.map(decode, range(40)))


@LINUX
@pytest.mark.parametrize(
    "name, word",
    [
        ("webp_large_canvas", "megapixels"),
        ("jpeg_exif_shared_tags", "memory"),
        ("png_profile_bombs", "too much time"),
        ("gif_many_frames", ""),
    ],
)
def test_one_hostile_file_of_each_kind(name, word, pool):
    """Refused, or read at once where `word` is empty; the next file is read as before. All of them: tests/slow."""
    data = hostile.IMAGES[name]()
    if word:
        with pytest.raises(BadInput, match=word):
            pool.image(data, name="cat.png")
    else:
        assert pool.image(data, name="cat.png").content.size == (1, 1)
    assert pool.image(PNG, name="cat.png").content.size == (24, 16)


@LINUX
def test_a_worker_inherits_nothing_and_can_open_nothing(monkeypatch):
    monkeypatch.setenv("HF_TOKEN", "a-secret")
    pool = DecoderPool(workers=1)
    pool.start()
    (pid,) = workers(pool)
    process = Path(f"/proc/{pid}")
    assert b"a-secret" not in (process / "environ").read_bytes()
    opened = [os.readlink(link) for link in (process / "fd").iterdir()]
    pipes = [name for name in opened if name.startswith("pipe:")]
    (program,) = (name for name in opened if name.endswith("decoder.py"))
    assert len(pipes) == 2 and sorted(opened) == sorted([*pipes, program, "/dev/null", "/dev/null"])
    bounds = {line[:26].strip(): line[26:].split()[:2] for line in (process / "limits").read_text().splitlines()}
    assert bounds["Max open files"] == bounds["Max file size"] == bounds["Max core file size"] == ["0", "0"]
    size = int((process / "statm").read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    assert int(bounds["Max address space"][1]) < size + 320_000_000 and int(bounds["Max cpu time"][0]) < 10
    assert "NoNewPrivs:\t1" in (process / "status").read_text()
    pool.close()


@pytest.mark.parametrize(
    "body",
    [
        "send(b'ready'); take(); send(bytes(3) + b'a', b'', b'rgb', b'')",
        "send(b'ready'); take(); os.write(1, bytes([0, 0, 0, 4, 0, 0, 0, 9, 0, 0, 0, 0, 255, 0, 0, 0]))",
    ],
    ids=["short", "cut off"],
)
def test_a_worker_that_fails_is_replaced_and_its_file_refused(body, made):
    pool = made(body)
    for _ in range(2):
        with pytest.raises(BadInput, match="broke its reader"):
            pool.image(PNG, name="cat.png")
        assert workers(pool) == []


@LINUX
def test_workers_that_were_killed_while_idle_cost_no_file(pool):
    pool.start()
    before = list(pool._free.queue)
    for worker in before:
        os.kill(worker.pid, signal.SIGKILL)
        worker._process.wait()
    assert pool.image(PNG, name="cat.png").content.size == (24, 16)
    assert not {worker.pid for worker in before} & set(workers(pool))


def test_where_no_worker_starts_a_file_is_refused_and_never_decoded_here(made, monkeypatch):
    monkeypatch.setattr(inputs, "image", lambda *_, **__: pytest.fail("decoded in the server"))
    with pytest.raises(DecoderUnavailable, match="cannot be read on this host"):
        made("sys.exit('broken')").image(PNG, name="cat.png")


def test_nobody_waits_for_ever(made, monkeypatch):
    monkeypatch.setattr(decoder, "PATIENCE", 0.01)
    pool = made("")
    taken = pool._free.get()
    with pytest.raises(DecoderUnavailable, match="Many images"):
        pool.image(PNG, name="cat.png")
    pool._free.put(taken)
