"""Digests of files: what they are of, and when a file is read again."""

import hashlib
import os
import subprocess
import sys

import pytest

from compute.models.files import weights

LARGE = bytes(range(256)) * (weights.SMALL_FILE // 256)


@pytest.fixture
def reads(monkeypatch, tmp_path):
    """The names of files that were read, in a process without memory and with a folder of its own."""
    read, names = weights.read_digest, []
    monkeypatch.setenv("LIKENESS_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(weights, "read_digest", lambda path: names.append(path.name) or read(path))
    weights._remembered.cache_clear()
    return names


def test_a_digest_is_that_of_hashlib(tmp_path, reads):
    for name, content in (("small", b"weights"), ("large", LARGE)):
        (tmp_path / name).write_bytes(content)
        assert weights.digest(tmp_path / name) == hashlib.blake2b(content, digest_size=16).hexdigest()


def test_a_large_file_is_read_once_by_all_processes(tmp_path, reads):
    file = tmp_path / "model.safetensors"
    file.write_bytes(LARGE)
    code = (
        "import pathlib, sys; from compute.models.files.weights import digest; print(digest(pathlib.Path(sys.argv[1])))"
    )
    other = subprocess.run([sys.executable, "-c", code, str(file)], capture_output=True, text=True, check=True)
    first = other.stdout.strip()
    assert weights.digest(file) == first and reads == []
    before = file.stat()
    file.write_bytes(b"!" + LARGE[1:])
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns + 1))
    changed = weights.digest(file)
    assert changed != first and reads == ["model.safetensors"]
