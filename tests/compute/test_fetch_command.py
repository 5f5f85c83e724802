"""likeness fetch: what it brings, how far it says it is, and what it refuses before a byte has come."""

import signal
import threading

from compute.catalog import shipped
from tests.compute.models import model_hub
from tests.compute.tasks.files import put
from tests.serving import begun, ended

FETCH = ("-m", "compute", "fetch", "--models")
KEY = "laion/clip-vit-b-32-laion2b-s34b-b79k"
ROW = next(row for row in shipped().models if row.key == KEY)
WEIGHTS = "open_clip_model.safetensors"


def published(folder):
    return put(folder / "published", {WEIGHTS: "0" * 1_000_000})


def test_it_fetches_nothing_without_a_network(tmp_path):
    refused = ended(*FETCH, f"ssim,{KEY}", HF_HUB_OFFLINE="1", HF_HOME=str(tmp_path))
    assert "ssim: no weights to fetch" in refused.stdout
    assert refused.returncode == 1 and "hf download" in refused.stderr and "Traceback" not in refused.stderr


def test_it_says_how_far_it_is_and_refuses_what_is_larger_than_the_memory(tmp_path):
    with model_hub.serving() as hub:
        repository = hub.publish(ROW.weights, published(tmp_path), commit=ROW.revision)
        place = {"HF_ENDPOINT": hub.address, "HF_HOME": str(tmp_path / "hub")}
        refused = ended(*FETCH, KEY, "--room", "1200000", "--lines", **place)
        assert refused.stdout == "" and refused.stderr.endswith(
            f"Error: {ROW.title} is too large: it takes about 1.3 MB of memory, and 1.2 MB are set aside for models\n"
        )
        assert hub.fetched == []
        repository.sizes = {WEIGHTS: 10**15}
        refused = ended(*FETCH, KEY, **place)
        assert f"Error: {ROW.title} is too large: 1000 TB are to come, and the disk has " in refused.stderr
        assert hub.fetched == []
        repository.sizes = {}
        done = ended(*FETCH, KEY, "--room", "1400000", "--lines", **place)
        assert done.stdout.splitlines()[0] == "0 1000000" and "1000000 1000000" in done.stdout.splitlines()
        assert done.returncode == 0 and (tmp_path / "hub").is_dir()


def test_of_a_download_that_is_ended_nothing_stays(tmp_path):
    with model_hub.serving() as hub:
        hub.publish(ROW.weights, published(tmp_path), commit=ROW.revision)
        hub.held = threading.Event()
        process = begun(*FETCH, KEY, "--lines", HF_ENDPOINT=hub.address, HF_HOME=str(tmp_path / "hub"))
        assert process.stdout.readline() == "0 1000000\n"
        process.terminate()
        process.communicate(timeout=60)
    assert process.returncode not in (0, -signal.SIGTERM)
    assert not [path for path in (tmp_path / "hub").rglob("blobs/*") if path.is_file()]
