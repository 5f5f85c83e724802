"""What a visitor brings becomes an input within bounds, with a note of what was done to it, or a sentence why not."""

import io

import numpy as np
import pytest
from PIL import Image

from compute.content import decoding
from compute.content.items import content_key
from compute.live import inputs
from compute.types import BadInput
from tests.compute.content.test_decoding import picture, png_header, saved


def read(data):
    return inputs.image(data, name="The image")


def apart(one, other):
    return float(np.abs(np.asarray(one, dtype=float) - np.asarray(other, dtype=float)).mean())


def test_what_was_done_is_noted():
    image, exif = picture(), Image.Exif()
    exif[0x0112] = 6
    frames = [picture(seed=seed) for seed in range(3)]
    several = {"save_all": True, "append_images": frames[1:]}
    clear, tinted = image.copy(), image.copy()
    clear.putalpha(0)
    tinted.putalpha(255)  # an alpha channel that hides nothing
    deep = Image.fromarray(np.arange(0, 65536, 256, dtype=np.uint16).reshape(16, 16))
    notes = {
        "animation": saved(frames[0], "GIF", **several),
        "animation ": saved(frames[0], "WEBP", **several),
        " ": saved(image, "MPO", **several),  # a phone's second view
        "turned upright": saved(image, "JPEG", exif=exif),
        "turned": saved(image, "PNG", exif=exif),
        "on white": saved(clear, "PNG"),
        "on white ": saved(image.quantize(16), "PNG", transparency=3),
        "16 bits": saved(deep, "PNG"),
        "nearly black": saved(Image.fromarray(np.asarray(deep) // 16), "PNG"),
        "CMYK": saved(image.convert("CMYK"), "JPEG"),
        "": saved(tinted, "PNG"),
    }
    for words, data in notes.items():
        found = read(data)
        assert (words.strip() in found.note) if words.strip() else found.note == "", (words, found.note)
        assert apart(found.content, decoding.rgb(decoding.opened(data), ground="white")) == 0, words
    assert read(notes["turned upright"]).content.size == read(notes["turned"]).content.size == (16, 24)


def test_a_reduced_photograph_looks_as_one_reduced_by_hand():
    """Reference: decoded whole, then Pillow's own Lanczos. A JPEG is halved by its decoder before."""
    exif = Image.Exif()
    exif[0x0112] = 8
    data = saved(picture(width=5400, height=3300), "JPEG", exif=exif, quality=95)
    found = read(data)
    whole = decoding.decode(data)
    assert whole.size == (3300, 5400) and found.content.size == (1563, 2558)
    assert found.note == "turned upright as its EXIF says; reduced from 3300 x 5400 pixels"
    assert apart(found.content, whole.resize(found.content.size, Image.Resampling.LANCZOS)) < 0.5


def test_nothing_of_the_file_stays_behind_the_picture():
    exif = Image.Exif()
    exif[0x8825] = {1: "N", 2: (52.0, 31.0, 0.0)}
    found = read(saved(picture(), "JPEG", exif=exif, icc_profile=b"profile" * 9))
    assert type(found.content) is Image.Image and found.content.info == {}
    again = Image.open(io.BytesIO(found.file()))
    assert again.format == "PNG" and not again.getexif() and "icc_profile" not in again.info
    assert apart(again, found.content) == 0
    with pytest.raises(BadInput, match="text"):
        inputs.text("a cat", name="Input 2").file()


FAMILY = "\U0001f469\u200d\U0001f680"


@pytest.mark.parametrize(
    "words, kept, note",
    [
        ("a cat", "a cat", ""),
        ("a\r\nb\rc", "a\nb\nc", ""),
        ("a\0cat", "acat", "1 control character removed"),
        ("\x1b[31ma\x07\x9f", "[31ma", "3 control characters removed"),
        ("\u0f56\u0f66\u0f92\u0fb2\u0f74" * 300, "\u0f56\u0f66\u0f92\u0fb2\u0f74" * 300, ""),
        ("a \ud800 cat", "a \ufffd cat", "1 broken character replaced"),
        (FAMILY, FAMILY, ""),
        ("a" + "\u0301\u0316" * 10, "a" + "\u0301\u0316" * 10, ""),
        ("a" * 2001, "a" * 2001, "long: most models read only the beginning"),
    ],
    ids=lambda words: ascii(words[:12]),
)
def test_texts(words, kept, note):
    found = inputs.text(words, name="Input 2")
    assert (found.modality, found.name, found.content, found.key) == ("text", "Input 2", kept, content_key(kept))
    assert note in found.note if note else not found.note


@pytest.mark.parametrize("size", [(1, 1), (1, 10_000), (300, 200)])
def test_a_thumbnail_is_small_and_leaves_the_picture(size):
    image = Image.new("RGB", size, (9, 99, 199))
    small = Image.open(io.BytesIO(inputs.thumbnail(image)))
    assert small.format == "WEBP" and max(small.size) == min(256, max(size)) and image.size == size


@pytest.mark.filterwarnings("ignore::PIL.Image.DecompressionBombWarning")
@pytest.mark.parametrize(
    "data, word",
    [
        (b"", "empty"),
        (png_header(8000, 5001), "megapixels"),
        (png_header(1, 200_000), "1,000 times"),
    ],
    ids=["empty", "pixels", "strip"],
)
def test_what_is_no_sound_image_is_refused_in_a_sentence(data, word):
    with pytest.raises(BadInput, match=word) as caught:
        read(data)
    sentence = str(caught.value)
    assert sentence.startswith("The image ") and "\n" not in sentence and "again" in sentence


def test_a_spent_memory_is_a_sentence(monkeypatch):
    def spent(image, ground):
        raise MemoryError

    monkeypatch.setattr(decoding, "rgb", spent)
    with pytest.raises(BadInput, match="^The image .*too much memory"):
        read(saved(picture(), "PNG"))


def test_a_very_long_image_is_reduced_too():
    found = read(saved(Image.new("L", (72, 72_000), 70), "PNG"))
    assert (
        found.content.width < 72
        and found.content.width * found.content.height <= 4_000_000
        and found.content.getpixel((0, 0)) == (70, 70, 70)
    )


@pytest.mark.parametrize(
    "words, word",
    [
        (" \u200b\t", "empty"),
        ("\0", "empty"),
        ("a" * 100_001, "characters"),
        *(
            (f"a{marks}", "accents")
            for marks in ("\u0301\u0316" * 40_000, *(sign * 200 for sign in "\u0344\u0f73\u0f75\u0f81"))
        ),
    ],
    ids=lambda words: ascii(words[:12]),
)
def test_a_text_that_is_refused(words, word):
    """Sorting a long run of combining marks keeps a processor busy; some signs are several marks when taken apart."""
    with pytest.raises(BadInput, match=word):
        inputs.text(words, name="Input 2")
