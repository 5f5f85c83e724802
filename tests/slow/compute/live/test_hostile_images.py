"""Every file of the table of hostile images is refused or read within limits."""

import signal
from pathlib import Path

import pytest

from compute import bare_process
from compute.live.decoder import DecoderPool
from compute.types import BadInput
from tests.compute.content.test_decoding import picture, saved
from tests.compute.live import hostile
from tests.serving import begun, wait

pytestmark = pytest.mark.skipif(not bare_process.enforced(), reason="only Linux limits a process in every way")
KILLED = {  # by the limit of processor time
    "png_exif_prefixes",
    "png_profile_bombs",
    "jpeg_tiny_exif_segments",
    "jpeg_hidden_segments",
    "gif_comment_of_bytes",
}


@pytest.fixture(scope="module")
def pool():
    pool = DecoderPool(workers=1)
    yield pool
    pool.close()


def outcome(pool, data):
    try:
        pool.image(data, name="cat")
    except BadInput as error:
        return str(error)
    return ""


@pytest.mark.parametrize("name", hostile.IMAGES)
def test_each_is_refused_or_read_and_the_next_file_is_read(name, pool):
    said = outcome(pool, hostile.IMAGES[name]())
    assert ("too much time" in said) == (name in KILLED), said
    assert outcome(pool, saved(picture(), "PNG")) == ""


@pytest.mark.parametrize("sign", [signal.SIGKILL, signal.SIGTERM])
def test_the_server_s_death_ends_the_workers(sign):
    code = """
import time
from compute.live.decoder import DecoderPool
pool = DecoderPool()
pool.start()
print(*[worker.pid for worker in pool._free.queue], flush=True)
time.sleep(600)
"""
    server = begun("-c", code)
    stats = [Path(f"/proc/{pid}/stat") for pid in server.stdout.readline().split()]
    assert len(stats) == 2
    server.send_signal(sign)
    server.wait(timeout=30)
    server.stdout.close()
    wait(lambda: all(not stat.exists() or stat.read_text().rpartition(")")[2].split()[0] == "Z" for stat in stats))
