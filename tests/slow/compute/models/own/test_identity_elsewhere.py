"""An object's digest in another process: nothing of addresses or hash seeds is in it."""

import subprocess
import sys
from pathlib import Path

import open_clip

from compute.paths import ROOT
from tests.compute.models.own.small_objects import small_open_clip
from tests.compute.models.own.test_identity import Scaled, digest


def test_another_process_has_the_same_digest():
    script = (
        "from tests.slow.compute.models.own.test_identity_elsewhere import *; print(digest(Scaled()), "
        "digest(small_open_clip(), preprocess=None, tokenizer=open_clip.get_tokenizer('', context_length=16)))"
    )
    environment = {"PYTHONHASHSEED": "1", "PATH": "/usr/bin:/bin", "HOME": str(Path.home())}
    ended = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, env=environment, capture_output=True, text=True, check=True
    )
    tokenizer = open_clip.get_tokenizer("", context_length=16)
    tokenizer(["a very unusual dog"])  # fills its cache
    assert ended.stdout.split() == [
        digest(Scaled()),
        digest(small_open_clip(), preprocess=None, tokenizer=tokenizer),
    ]
