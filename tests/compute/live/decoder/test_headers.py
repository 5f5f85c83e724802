"""Files made to hurt their reader are refused before a library parses them; good ones of all kinds pass."""

from __future__ import annotations

import time
import tracemalloc
from pathlib import Path

import pytest

from compute.live import inputs
from compute.live.decoder import headers
from compute.types import BadInput
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
    "webp_exif_shared_tags": "share their bytes",
    "jpeg_exif_shared_tags": "share their bytes",
    "jpeg_mpf_shared_tags": "more than 1,000 tags",
    "tiff_million_strips": "numbers",
    "tiff_million_compressed_strips": "numbers",
    "tiff_strips_share_bytes": "strips or tiles share their bytes",
    "tiff_large_tile": "tiles of 30000 x 30000 pixels in a TIFF of 100 x 100",
    "tiff_tiny_tiles": "more than 50,000 strips or tiles",
    "jpeg_tiny_exif_segments": "more than 150 EXIF segments",
    "jpeg_tiny_comments": "more than 1,000 segments",
    "jpeg_tiny_app_segments": "more than 1,000 segments",
    "jpeg_quantisation_tables": "bytes of tables",
    "jpeg_huffman_tables": "bytes of tables",
    "jpeg_many_scans": "scans, too many for 6240 x 6240 pixels",
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
    "avif_many_items": "too many items",
    "avif_many_properties": "more than 1,000 boxes",
    "jpeg2000_claims_less": "more than 40 megapixels",
    "jpeg2000_many_tiles": "more than 4,096 tiles",
    "jpeg2000_many_components": "more than 4 components",
    "jpeg2000_many_layers": "more than 256 layers",
    "jpeg2000_tiny_precincts": "more than 500,000 packets",
    "jpeg2000_tiny_blocks": "more than 500,000 code-blocks",
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
    began = time.process_time()
    with pytest.raises(BadInput) as caught:
        inputs.image(data, name="a.img")
    seconds = time.process_time() - began
    tracemalloc.start()
    with pytest.raises(BadInput):
        headers.check(data)
    memory = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    sentence = str(caught.value)
    assert REASONS[name] in sentence and sentence.startswith("a.img ") and "again" in sentence
    assert seconds < 1 and memory < 50_000_000
