"""Files made to hurt their reader are refused before a library parses them; good ones of all kinds pass."""

from __future__ import annotations

import io
import json
import random
import subprocess
import sys
import time
import tracemalloc
from collections.abc import Callable
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path

import pytest
from PIL import Image
from PIL.PngImagePlugin import PngInfo

from compute.live import inputs
from compute.live.decoder import bounds, headers
from compute.live.decoder.avif import StatedSizes, _check_stream, _sequence
from compute.types import BadInput
from tests.compute.content.test_decoding import picture, saved
from tests.compute.live import hostile

ROOT = Path(__file__).resolve().parents[4]

# A part of the sentence by which each file is refused.
REASONS = {
    "tiff_shared_tags": "share their bytes",
    "tiff_same_tag_again": "more than 1,000 tags",
    "bigtiff_shared_tags": "share their bytes",
    "tiff_exif_shared_tags": "share their bytes",
    "tiff_rationals": "more than 5,000 fractions",
    "png_exif_shared_tags": "share their bytes",
    "png_exif_prefixes": "EXIF block of many headers",
    "png_text_exif_shared_tags": "more than 1,000 tags",
    "png_many_exif_blocks": "more than 20 EXIF blocks",
    "webp_exif_shared_tags": "share their bytes",
    "jpeg_exif_shared_tags": "share their bytes",
    "jpeg_mpf_shared_tags": "more than 1,000 tags",
    "tiff_million_strips": "numbers",
    "tiff_million_compressed_strips": "numbers",
    "tiff_strips_share_bytes": "strips or tiles share their bytes",
    "tiff_large_tile": "tiles of 30000 x 30000 pixels in a TIFF of 100 x 100",
    "tiff_tiny_tiles": "more than 50,000 strips or tiles",
    "tiff_many_scans": "JPEG scans, too many for its size",
    "jpeg_tiny_exif_segments": "more than 150 EXIF segments",
    "jpeg_tiny_comments": "more than 1,000 segments",
    "jpeg_tiny_app_segments": "more than 1,000 segments",
    "jpeg_quantisation_tables": "bytes of tables",
    "jpeg_huffman_tables": "bytes of tables",
    "jpeg_junk": "more than 1,000,000 bytes between its segments",
    "jpeg_after_its_end": "more than 150 EXIF segments",
    "jpeg_hidden_segments": "more than 150 EXIF segments",
    "jpeg_many_scans": "more than 25 scans over 39 million pixels",
    "png_empty_pixel_chunks": "more than 20,000 chunks",
    "png_private_chunks": "more than 20,000 chunks",
    "png_text_chunks": "more than 20,000 chunks",
    "png_profile_bombs": "unpack to more than 16,000,000 bytes",
    "png_text_bombs": "unpack to more than 16,000,000 bytes",
    "png_international_text_bombs": "unpack to more than 16,000,000 bytes",
    "apng_many_frames": "more than 20,000 chunks",
    "gif_comment_of_bytes": "more than 2,000 blocks of comments",
    "gif_comment_of_blocks": "more than 2,000 blocks of comments",
    "gif_many_comments": "more than 2,000 blocks of comments",
    "gif_application_of_bytes": "more than 200,000 blocks",
    "gif_pixels_of_bytes": "more than 200,000 blocks",
    "gif_many_frames": "more than 20,000 frames",
    "gif_wide_frame": "more than 40 megapixels",
    "webp_large_canvas": "more than 40 megapixels",
    "webp_many_frames": "more than 20,000 frames",
    "webp_many_chunks": "more than 50,000 chunks",
    "avif_claims_less": "3600 x 3600 pixels in an AVIF that states fewer",
    "avif_exif_shared_tags": "share their bytes",
    "avif_many_items": "too many items",
    "avif_items_share_bytes": "items share their bytes",
    "avif_many_properties": "more than 1,000 boxes",
    "jpeg2000_claims_less": "more than 40 megapixels",
    "jpeg2000_many_tiles": "more than 4,096 tiles",
    "jpeg2000_many_components": "more than 4 components",
    "jpeg2000_many_layers": "more than 256 layers",
    "jpeg2000_tiny_precincts": "more than 100,000 precincts",
    "jpeg2000_tiny_blocks": "more than 250,000 code-blocks",
    "jpeg2000_many_markers": "more than 1,000 markers",
    "jpeg2000_many_boxes": "more than 1,000 boxes",
    "bmp_jump": "too many for a BMP in runs",
    "bmp_short_lines": "too many for a BMP in runs",
    "ppm_comments": "more than 100 comments",
}


@pytest.mark.parametrize("name", sorted(REASONS))
def test_a_crafted_file_is_refused_before_a_library_sees_it(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """At once and without memory: no more than a few copies of the file, of at most 8 MB."""
    data = hostile.IMAGES[name]()
    monkeypatch.setattr(inputs.decoding, "opened", lambda *_, **__: pytest.fail("a library sees it"))
    began = time.thread_time()
    with pytest.raises(BadInput) as caught:
        inputs.image(data, name="a.img")
    seconds = time.thread_time() - began
    tracemalloc.start()
    with pytest.raises(BadInput):
        headers.check(data)
    memory = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    sentence = str(caught.value)
    assert REASONS[name] in sentence and sentence.startswith("a.img ") and "again" in sentence
    assert seconds < 1 and memory < 50_000_000


CHILD = """
import json, resource, sys, time, warnings
from compute.live import inputs
from compute.types import BadInput
from tests.compute.live import hostile
warnings.simplefilter("ignore")
for kind in hostile.KINDS:  # what is loaded on first use
    inputs.image(hostile.good(kind), name="a.img")
held = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (held + 200_000_000,) * 2)
slowest, refused = 0, 0
for seed in range(300):
    data = hostile.fuzzed(seed)
    began = time.process_time()
    try:
        inputs.image(data, name="a.img")
    except BadInput as error:
        refused += 1
        assert str(error).startswith("a.img ") and "again" in str(error) and len(str(error)) < 400, error
    slowest = max(slowest, time.process_time() - began)
print(json.dumps([refused, slowest]))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux limits the memory of a process so")
def test_files_changed_at_random_are_read_or_refused() -> None:
    """300 of them in a process that may take 200 MB more: nothing but BadInput, none over a second."""
    ended = subprocess.run([sys.executable, "-c", CHILD], capture_output=True, text=True, timeout=300, cwd=ROOT)
    assert ended.returncode == 0, ended.stderr
    refused, slowest = json.loads(ended.stdout)
    assert 100 < refused < 290 and slowest < 1


def test_files_changed_at_random_raise_nothing_else() -> None:
    for seed in range(5_000):
        with suppress(BadInput):
            headers.check(hostile.fuzzed(seed))


@pytest.mark.parametrize(
    "name", ["tiff_pages_in_a_circle", "tiff_many_pages", "mpo_many_images", "webp_of_many_chunks"]
)
def test_odd_files_that_cost_nothing_are_read(name: str) -> None:
    makers = {**hostile.IMAGES, **hostile.HARMLESS, "webp_of_many_chunks": lambda: hostile.webp_with(chunks=10_000)}
    began = time.thread_time()
    assert inputs.image(makers[name](), name="a.img").content.size == (100, 100)
    assert time.thread_time() - began < 1


def test_a_ppm_of_odd_depth_is_read_at_once() -> None:
    began = time.process_time()
    assert inputs.image(hostile.ppm_odd_depth(), name="a.img").content.size == (1_600, 1_600)
    assert time.process_time() - began < 1


def exif(*, note: int = 60_000) -> Image.Exif:
    """A camera's EXIF block with a maker note."""
    block = Image.Exif()
    block[0x0112], block[0x010F] = 6, "A camera"
    block.get_ifd(0x8769).update({0x927C: bytes(note), 0x829A: 0.004, 0x9286: b"ASCII\0\0\0a comment"})
    block.get_ifd(0x8825).update({1: "N", 2: (52.0, 31.0, 12.5), 3: "E", 4: (13.0, 24.0, 3.1)})
    return block


def large(width: int = 1_600, height: int = 1_200) -> Image.Image:
    return picture(width=width, height=height)


def frames(number: int) -> dict[str, object]:
    """Options that save an animation or several pages."""
    return {"save_all": True, "append_images": [picture(seed=1 + seed) for seed in range(number - 1)]}


def pages(number: int) -> dict[str, object]:
    """Options that save a scan of several pages."""
    return {"save_all": True, "append_images": [Image.new("1", (2_480, 3_508), 1)] * (number - 1)}


def split_idat(data: bytes, *, length: int) -> bytes:
    """The PNG with its pixels in chunks of some bytes."""
    start = at = data.index(b"IDAT") - 4
    pixels = b""
    while data[at + 4 : at + 8] == b"IDAT":
        size = int.from_bytes(data[at : at + 4], "big")
        pixels += data[at + 8 : at + 8 + size]
        at += 12 + size
    parts = (pixels[begin : begin + length] for begin in range(0, len(pixels), length))
    return data[:start] + b"".join(hostile.chunk(b"IDAT", part) for part in parts) + data[at:]


def png_texts() -> PngInfo:
    """What image generators and editors write: long texts, packed and plain."""
    texts = PngInfo()
    texts.add_text("parameters", "a prompt " * 20_000)
    texts.add_itxt("workflow", "{}" * 400_000, zip=True)
    texts.add_itxt("XML:com.adobe.xmp", "<x:xmpmeta>" + " " * 100_000 + "</x:xmpmeta>")
    texts.add_text("comment", "packed " * 100_000, zip=True)
    return texts


GOOD: dict[str, Callable[[], bytes]] = {
    "camera": lambda: saved(large(), "JPEG", exif=exif(), icc_profile=bytes(200_000), comment=b"a" * 9_000),
    "progressive": lambda: saved(large(), "JPEG", progressive=True, optimize=True),
    "restarts": lambda: saved(large(), "JPEG", restart_marker_blocks=1),
    "forty megapixels": lambda: saved(Image.new("L", (8_000, 5_000), 70), "JPEG", progressive=True),
    "two views": lambda: saved(large(), "MPO", **frames(2), exif=exif()),
    "a film behind it": lambda: saved(large(), "JPEG") + random.Random(3).randbytes(5_000_000),
    "pieces of 8 kB": lambda: split_idat(saved(noise(1_200, 800), "PNG", compress_level=1), length=8_192),
    "pieces of 1 kB": lambda: split_idat(saved(noise(1_200, 800), "PNG", compress_level=1), length=1_024),
    "texts": lambda: saved(large(), "PNG", pnginfo=png_texts(), exif=exif(), icc_profile=bytes(500_000)),
    "moving png": lambda: saved(picture(), "PNG", **frames(300)),
    "interlaced": lambda: saved(large(), "PNG", interlace=1),
    "moving gif": lambda: saved(picture(), "GIF", **frames(30), comment=b"a comment " * 500),
    "a thousand frames": lambda: hostile.gif(frames=hostile.gif_frame() * 1_000),
    "sticker": lambda: saved(picture(width=512, height=512).convert("RGBA"), "WEBP", exif=exif()),
    "moving webp": lambda: saved(picture(), "WEBP", **frames(300)),
    "lossless": lambda: saved(large(), "WEBP", lossless=True, exif=exif(), icc_profile=bytes(500_000)),
    "scan": lambda: saved(Image.new("1", (2_480, 3_508), 1), "TIFF", compression="group4", **pages(20)),
    "rows": lambda: saved(large(), "TIFF", tiffinfo={278: 1}),
    "packed rows": lambda: saved(large(), "TIFF", compression="tiff_lzw", tiffinfo={278: 1}),
    "deflated": lambda: saved(large(), "TIFF", compression="tiff_adobe_deflate", exif=exif(), tiffinfo={317: 2}),
    "big": lambda: saved(large(), "TIFF", big_tiff=True, exif=exif()),
    "jpeg in tiff": lambda: saved(large(), "TIFF", compression="jpeg"),
    "jpeg in strips": lambda: saved(large(), "TIFF", compression="jpeg", tiffinfo={278: 16}),
    "avif": lambda: saved(large(), "AVIF", exif=exif(), icc_profile=bytes(100_000)),
    "clear avif": lambda: saved(picture().convert("RGBA"), "AVIF"),
    "tiny avif": lambda: saved(Image.new("RGB", (1, 1)), "AVIF"),
    "moving avif": lambda: saved(picture(), "AVIF", **frames(60)),
    "tiles": lambda: saved(large(), "JPEG2000", tile_size=(128, 128), num_resolutions=5),
    "layers": lambda: saved(large(), "JPEG2000", quality_layers=[80, 40, 20, 10, 5], precinct_size=(128, 128)),
    "small blocks": lambda: saved(large(), "JPEG2000", codeblock_size=(16, 16), irreversible=True),
    "code stream": lambda: saved(large(), "JPEG2000", no_jp2=True, comment="a comment"),
    "clear jp2": lambda: saved(large().convert("RGBA"), "JPEG2000"),
    "bmp": lambda: saved(large(), "BMP"),
    "ppm": lambda: saved(large(), "PPM"),
}


def noise(width: int, height: int) -> Image.Image:
    return Image.frombytes("RGB", (width, height), random.Random(1).randbytes(3 * width * height))


@pytest.mark.parametrize("name", sorted(GOOD))
def test_good_files_of_all_kinds_pass(name: str) -> None:
    data = GOOD[name]()
    headers.check(data)
    with Image.open(io.BytesIO(data)) as image:
        image.load()


def test_pictures_of_other_packages_pass() -> None:
    """Whatever good images are installed beside this project: photographs, icons, figures, scans."""
    packages = ("skimage", "sklearn", "matplotlib", "gradio", "scipy", "imageio", "networkx")
    places = [
        place for name in packages if (spec := find_spec(name)) for place in spec.submodule_search_locations or ()
    ]
    endings = (".jpg", ".jpeg", ".png", ".gif", ".webp", ".tif", ".tiff", ".bmp", ".ppm", ".pgm", ".jp2", ".avif")
    files = [path for place in places for path in Path(place).rglob("*") if path.suffix.lower() in endings]
    for path in files:
        headers.check(path.read_bytes())
    if not files:
        pytest.skip("no package with pictures is installed")


@pytest.mark.parametrize("padding", [1, 7, 8])
def test_the_sequence_header_of_a_film_is_read(padding: int) -> None:
    """The long form, bit by bit as the AV1 specification lists it (5.5.1), with timing and operating points."""
    bits = "000" + "0" + "0" + "1" + f"{1:032b}{25:032b}" + "1" + "00101"  # profile, film, timing, one tick
    bits += "1" + f"{9:05b}" + f"{1:032b}" + f"{4:05b}{4:05b}"  # decoder model with delays of 10 bits
    bits += "1" + f"{1:05b}"  # display delays, two operating points
    bits += f"{1:012b}" + f"{9:05b}" + "1" + "1" + "0" * 21 + "1" + "0011"
    bits += f"{0:012b}" + f"{5:05b}" + "0" + "0"
    bits += f"{11:04b}{10:04b}{3_999:012b}{1_999:011b}" + "0" * padding
    body = int(bits.ljust(-(-len(bits) // 8) * 8, "0"), 2).to_bytes(-(-len(bits) // 8), "big")
    assert _sequence(body) == (4_000, 2_000, 1 << 23)


def test_a_frame_may_not_be_larger_than_its_film_states() -> None:
    """In the long form a frame may state a size of its own, in as many bits as the header reserves for it."""
    fewest, most = av1_film(width=100, bits=7), av1_film(width=100, bits=16)
    states = StatedSizes(pixels=10_000)
    _check_stream(fewest, states)
    with pytest.raises(BadInput, match="states fewer"):
        _check_stream(most, states)


def av1_film(*, width: int, bits: int) -> bytes:
    """The sequence header of a square film as a unit of a stream, without timing."""
    size = format(width - 1, f"0{bits}b")
    form = "000" + "0" + "0" + "0" + "0" + "00000" + "0" * 12 + "00000" + f"{bits - 1:04b}" * 2 + size * 2
    body = int(form.ljust(-(-len(form) // 8) * 8, "0"), 2).to_bytes(-(-len(form) // 8), "big")
    return bytes([1 << 3 | 2, len(body)]) + body


def test_bounds_hold_exactly() -> None:
    """One tag, segment, chunk or block fewer than refused is read."""
    few = [*hostile.grey(), *hostile.strip()]  # nine tags
    headers.check(hostile.tiff([*few, *hostile.shared(bounds.TAGS - 9, length=100)], block=bytes(10_000)))
    with pytest.raises(BadInput, match="tags"):
        headers.check(hostile.tiff([*few, *hostile.shared(bounds.TAGS - 8, length=100)], block=bytes(10_000)))
    headers.check(hostile.jpeg(hostile.segment(0xFE, b"") * (bounds.SEGMENTS - 2)))  # beside two of every JPEG
    with pytest.raises(BadInput, match="segments"):
        headers.check(hostile.jpeg(hostile.segment(0xFE, b"") * (bounds.SEGMENTS - 1)))
    headers.check(hostile.png(hostile.chunk(b"prVt", b"") * (bounds.CHUNKS - 3)))
    with pytest.raises(BadInput, match="chunks"):
        headers.check(hostile.png(hostile.chunk(b"prVt", b"") * (bounds.CHUNKS - 2)))
    headers.check(hostile.gif(hostile.gif_frame() * 3 + b"!\xfe" + b"\1a" * (bounds.COMMENTS - 1) + b"\0"))


def test_a_tiff_that_states_a_size_twice_is_refused() -> None:
    """Pillow takes the last and libtiff the first."""
    tags = [(256, hostile.LONG, 1, 30_000), *hostile.grey(), *hostile.strip()]
    with pytest.raises(BadInput, match="states its layout twice"):
        headers.check(hostile.tiff(tags, block=bytes(10_000)))
