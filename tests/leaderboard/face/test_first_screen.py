"""What a page shows before any script runs: its own first parts, for the address that was asked for."""

import json
import re

import httpx
import pytest

from tests.serving import wait


@pytest.mark.parametrize(
    "address, shown",
    [
        ("model?model=openai/clip-vit-large-patch14", "CLIP ViT-L/14"),
        ("task?task=unisim/imagenet-ooo", "ImageNet-OOO"),
        ("board?suite=pairbench", 'href="model?model='),
        ("board?suite=nowhere", 'href="model?model='),
        ("claims", "claims?claim="),
        ("models", "model?model="),
        ("tasks", "task?task="),
        ("compare?models=google/siglip-so400m-patch14-384,quansun/eva02-clip-bige-14-plus", "bc-comparison"),
        ("choose?need=documents", "Find documents"),
        ("try?mode=pair&inputs=text-heart-left,cat", "a purple heart left of"),
    ],
)
def test_what_the_address_names_is_there(app, address, shown):
    """A page that takes long is sent with its heading, and the rest is drawn meanwhile."""

    def first():
        return httpx.get(app.url + address, timeout=60).text.partition('<div id="first"')[2].partition("<noscript")[0]

    wait(lambda: shown in first())


def test_a_script_of_ours_starts_with_all_that_it_imports(app):
    answer = httpx.get(app.url + "board", timeout=60).text
    (folder,), (files,) = re.findall(r"preload\('(static/[^']+)' \+", answer), re.findall(r"files: (\[.*?\])", answer)
    listed = [f"{folder}{name}" for name in json.loads(files)]
    assert len(listed) > 20 and all(httpx.get(app.url + path).status_code == 200 for path in listed)
    assert re.search(r'data: "data/board/[\w-]+"', answer)
