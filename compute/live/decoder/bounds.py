"""How much an image file may hold of what costs its reader time or memory, and the refusals.

Each bound is far above what cameras, scanners and programs write into 8 MB, and far below what costs a second.
"""

from __future__ import annotations

from compute.types import BadInput

MEGAPIXELS = 40  # of any size that a file states: image, frame, canvas, code stream

# TIFF and EXIF. Pillow copies the bytes of every tag, and makes Python objects of numbers that it looks at.
TAGS = 1_000  # a directory; cameras write 100, microscopes 200
DIRECTORIES = 16  # that are followed from the first: EXIF, GPS, interoperability
EXIF_BLOCKS = 20  # in a file, or indexes of its images; cameras write one
SHARED = 100_000  # bytes of tags beyond those of the file itself: writers share short values, not long ones
NUMBERS = 500_000  # in tags; two of 16-bit palettes and transfer functions hold 400,000
FRACTIONS = 5_000  # in tags; a camera writes 40
STRIPS = 50_000  # or tiles; 40 megapixels of one-row strips in three planes are 20,000
TILE = 4_000_000  # pixels of a tile, or twice those of the image
STORED = 64_000_000  # bytes of all strips: each byte of the file eight times

# JPEG. Pillow lists its segments and joins EXIF from them; each scan is a pass over all pixels.
SEGMENTS = 1_000  # beside scans and tables; 8 MB of extended XMP are 125
JUNK = 1_000_000  # bytes between the segments before the first scan, which Pillow passes over one by one
EXIF_SEGMENTS = 150  # 8 MB in the longest
SCANS = 100  # no camera or program writes 20
PASSES = 1_000_000_000  # pixels times scans: 25 passes over 40 megapixels
TABLES = 300_000  # bytes of Huffman and quantisation tables; a hundred scans with tables of their own take 100,000

# PNG
CHUNKS = 20_000  # 8 MB in pieces of 400 bytes; encoders write 4,000 and more into each
UNPACKED = 16_000_000  # bytes of all compressed texts and colour profiles
UNPACKED_TEXT = 2_000_000  # bytes of each; Pillow takes half

# GIF
BLOCKS = 200_000  # of data; 8 MB in whole blocks are 31,000
COMMENTS = 2_000  # blocks of comments, 500,000 bytes: Pillow joins them one by one
FRAMES = 20_000

# WebP
PARTS = 50_000  # chunks; an animation of 1,000 frames has 3,000

# AVIF and JPEG 2000
BOXES = 1_000  # in one box; a phone's picture in a grid has 100
INDEX = 64_000  # bytes of a table of items; libavif looks items up one by one
SAMPLES = 20_000  # frames of a sequence, and entries of its tables
UNITS = 10_000  # of an AV1 stream's first picture, which has some 5
MARKERS = 1_000  # of a JPEG 2000 main header, which has some 10
TILES = 4_096  # of a JPEG 2000, and parts of tiles four times that; openjpeg reserves 10 kB for each
LAYERS = 256  # of a JPEG 2000; archives write 12
PRECINCTS = 100_000  # of 1.7 kB; 10 megapixels in precincts of 32 x 32 are 40,000
CODE_BLOCKS = 250_000  # of 0.5 kB; 10 megapixels in code-blocks of 16 x 16 are 160,000, and 64 x 64 are usual
PACKETS = 2_000_000  # precincts times layers

# Formats of which the libraries are slow
JPEG2000_MEGAPIXELS = 10  # a second for every three million pixels
RUNS_MEGAPIXELS = 10  # of a BMP in runs, which Pillow fills in Python
RUNS_WIDTH = 30_000  # of a BMP in runs: a jump of four bytes fills 255 lines
PYTHON_BYTES = 1_000_000  # of a file that Pillow decodes in Python: PPM in words, BMP in runs
WORD_COMMENTS = 100  # in a PPM in words: Pillow copies up to a megabyte for each


def check_size(width: int, height: int) -> None:
    """Raises BadInput for more pixels than MEGAPIXELS."""
    if width * height > MEGAPIXELS * 1_000_000:
        raise BadInput(f"{width} x {height} pixels, more than {MEGAPIXELS} megapixels")


def check_count(number: int, most: int, what: str) -> None:
    """Raises BadInput for more of something than its bound: `what` reads as in 'a PNG of more than 20 chunks'.

    A brace pair in `what` is where the bound goes.
    """
    if number > most:
        raise BadInput(what.format(f"more than {most:,}"))
