"""An object's digest in another process: nothing of addresses or hash seeds is in it."""

import open_clip

from tests.compute.models.own.small_objects import small_open_clip
from tests.compute.models.own.test_identity import Scaled, digest
from tests.serving import begun


def test_another_process_has_the_same_digest():
    script = (
        "from tests.slow.compute.models.own.test_identity_elsewhere import *; print(digest(Scaled()), "
        "digest(small_open_clip(), preprocess=None, tokenizer=open_clip.get_tokenizer('', context_length=20)))"
    )
    said, _ = begun("-c", script, PYTHONHASHSEED="1").communicate()
    tokenizer = open_clip.get_tokenizer("", context_length=20)
    tokenizer(["a very unusual dog"])  # fills its cache
    assert said.split() == [
        digest(Scaled()),
        digest(small_open_clip(), preprocess=None, tokenizer=tokenizer),
    ]
