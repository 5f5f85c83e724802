"""Files of every kind drawn here become the RGB they should; damaged and too large ones are refused."""

import contextlib
import io
import struct
import zlib

import numpy as np
import pytest
from PIL import Image

from compute.content import decoding
from compute.content.decoding import checked, decode, opened
from compute.types import BadInput
from tests.compute.live.hostile import fuzzed


def picture(*, width=24, height=16, seed=0):
    """Smooth colours, so that lossy formats stay near."""
    small = np.random.default_rng(seed).integers(0, 256, (3, 4, 3), dtype=np.uint8)
    return Image.fromarray(small).resize((width, height), Image.Resampling.BICUBIC)


def saved(image, kind="PNG", **options):
    """The file of an image, or of an array."""
    held = io.BytesIO()
    (Image.fromarray(image) if isinstance(image, np.ndarray) else image).save(held, kind, **options)
    return held.getvalue()


def greys(data):
    """The first row of a grey image."""
    return np.asarray(decode(data))[0, :, 0].tolist()


def apart(one, other):
    return int(np.abs(np.asarray(one, dtype=int) - np.asarray(other, dtype=int)).max())


def chunk(kind, body):
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


def png_header(width, height):
    """A PNG that states a size and holds no pixels."""
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(b"")) + chunk(b"IEND", b"")


@pytest.mark.parametrize(
    "kind, most",
    [
        *((kind, 0) for kind in ("PNG", "BMP", "TIFF", "PPM", "WEBP")),
        *((kind, 59) for kind in ("JPEG", "GIF", "JPEG2000", "AVIF")),
    ],
)
def test_lossless_formats_keep_every_pixel_and_lossy_ones_are_near(kind, most):
    found = decode(saved(picture(), kind, **({"lossless": True} if kind == "WEBP" else {})))
    assert found.mode == "RGB" and apart(found, picture()) <= most


def test_the_first_frame_of_an_animation():
    frames = [picture(seed=seed).quantize(32) for seed in range(3)]
    data = saved(frames[0], "GIF", save_all=True, append_images=frames[1:])
    assert apart(decode(data), frames[0].convert("RGB")) == 0


def test_orientation_is_applied():
    """Reference: case 6 of the EXIF standard, undone by hand with numpy; Pillow knows all eight."""
    image = picture()
    exif = Image.Exif()
    exif[0x0112] = 6
    assert np.array_equal(np.asarray(decode(saved(image, exif=exif))), np.rot90(np.asarray(image), -1))


def test_transparency_is_dropped_and_its_colours_stay():
    image = picture()
    clear = image.copy()
    clear.putalpha(0)
    assert apart(decode(saved(clear)), image) == 0
    grey = image.convert("L")
    pair = Image.merge("LA", (grey, Image.new("L", grey.size, 7)))
    assert apart(decode(saved(pair)), grey.convert("RGB")) == 0


def test_or_composited_on_a_colour():
    """Reference: the blend by hand, in all modes that PNG stores with transparency."""
    image = picture()
    alpha = np.arange(image.width, dtype=np.uint8)[None, :].repeat(image.height, 0) * 10
    veiled = image.copy()
    veiled.putalpha(Image.fromarray(alpha))
    share = alpha[..., None] / 255
    for mode in ("RGBA", "LA"):
        found = np.asarray(decoding.rgb(opened(saved(veiled.convert(mode))), ground="white"), float)
        seen = np.asarray(image if mode == "RGBA" else image.convert("L").convert("RGB"), float)
        assert np.abs(found - (seen * share + 255 * (1 - share))).max() <= 1
    few = image.quantize(16)
    found = np.asarray(decoding.rgb(opened(saved(few, transparency=3)), ground="white"))
    assert (found[np.asarray(few) == 3] == 255).all()
    assert (found[np.asarray(few) != 3] == np.asarray(few.convert("RGB"))[np.asarray(few) != 3]).all()


def test_palettes_are_looked_up(recwarn):
    few = picture().quantize(16)
    assert apart(decode(saved(few)), few.convert("RGB")) == 0
    assert apart(decode(saved(few, transparency=bytes(range(16)))), few.convert("RGB")) == 0
    assert not recwarn.list


def with_sbit(data, bits):
    body = b"sBIT" + bytes([bits])
    return data[:33] + (1).to_bytes(4) + body + zlib.crc32(body).to_bytes(4) + data[33:]


def test_a_stated_range_of_a_deep_grey_is_white():
    """12 bits in 16, as cameras store them; a file that fills the 16 bits, as PNG's rule is, stays as it is."""
    deep = np.array([[0, 1365, 2731, 4095]], dtype=np.uint16)
    png, tiff = saved(deep), saved(deep, "TIFF", tiffinfo={281: (4095,)})
    for data in (with_sbit(png, 12), tiff):
        assert greys(data) == [0, 85, 170, 255]
    assert max(greys(png)) == 16
    for full in (deep * 16, deep * 16 + deep // 256, deep // 16 * 16):
        data = saved(full)
        assert np.array_equal(np.asarray(decode(with_sbit(data, 12))), np.asarray(decode(data)))


def test_deep_greys_are_scaled_not_clipped():
    deep = np.array([[0, 257, 32768, 65535]], dtype=np.uint16)
    for kind in ("PNG", "TIFF"):
        assert greys(saved(deep, kind)) == [0, 1, 128, 255]


def test_pixels_without_a_stated_range_are_refused():
    for values in (np.ones((2, 2), np.float32), np.full((2, 2), 70000, np.int32)):
        with pytest.raises(BadInput, match="no stated range"):
            decode(saved(values, "TIFF"))


LARGER = picture(width=200, height=200)
HALVES = [(data := saved(LARGER, kind))[: len(data) // 2] for kind in ("JPEG", "PNG", "WEBP")]


@pytest.mark.parametrize("data", [b"", b"hello", b"\x89PNG\r\n\x1a\n", b"%!PS-Adobe-3.0 EPSF-3.0\n", *HALVES])
def test_what_is_no_image_or_half_of_one_is_refused(data):
    with pytest.raises(BadInput, match="empty|damaged|not an image"):
        decode(data)


@pytest.mark.filterwarnings("ignore::UserWarning:PIL")
def test_files_changed_at_random_never_raise_anything_else():
    for seed in range(200):
        with contextlib.suppress(BadInput):
            assert decode(fuzzed(seed)).mode == "RGB"


@pytest.mark.filterwarnings("ignore::PIL.Image.DecompressionBombWarning")
@pytest.mark.parametrize(
    "size, words", [((8000, 8001), "more than 64 megapixels"), ((1, 200_000), "1,000 times"), ((1001, 1), "times")]
)
def test_the_limits_are_read_from_the_header(size, words):
    assert opened(png_header(1000, 1)).size == (1000, 1)
    with pytest.raises(BadInput, match=words):
        opened(png_header(*size))


def test_texts():
    assert checked(" a cat ") == " a cat "
    for wrong in ("", " \n\t", None):
        with pytest.raises(BadInput):
            checked(wrong)
