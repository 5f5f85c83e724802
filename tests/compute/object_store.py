"""A real server that speaks S3, on a free port of this machine, with what its clients find in the environment."""

from functools import cache

import pytest

from compute import storage

BUCKET = "likeness-tests"


@cache
def _address():
    """The server of this process, which ends with it."""
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    return f"http://{host}:{port}"


def forget():
    """Has the next client read the environment anew."""
    import s3fs

    s3fs.S3FileSystem.clear_instance_cache()
    storage._file_system.cache_clear()


@pytest.fixture
def bucket(monkeypatch, tmp_path):
    """An empty folder of a bucket, `s3://...`; also for processes that the test starts."""
    import s3fs

    for name, value in {
        "AWS_ENDPOINT_URL": _address(),
        "AWS_ACCESS_KEY_ID": "testing",
        "AWS_SECRET_ACCESS_KEY": "testing-secret",
        "AWS_DEFAULT_REGION": "us-east-1",
    }.items():
        monkeypatch.setenv(name, value)
    forget()
    files = s3fs.S3FileSystem()
    if not files.exists(BUCKET):
        files.mkdir(BUCKET)
    yield f"s3://{BUCKET}/{tmp_path.name}"
    forget()
