"""Which files of a folder are images, and which are skipped: the same rule wherever a folder of images is read."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path, PurePath

from compute.types import BadInput

# Pillow's names of the formats that are decoded. Named one by one, so that no file can start a reader that runs other
# programs (EPS) or that holds no picture.
FORMATS = ("JPEG", "PNG", "WEBP", "GIF", "BMP", "TIFF", "PPM", "JPEG2000", "AVIF")
JUNK = ("thumbs.db", "desktop.ini")  # what systems add to a folder, besides hidden files
NAMED = 3  # files that are not used that a note names
SUCH_AS = ".jpg, .png, .webp, .gif, .tif, .bmp, .ppm, .jp2 or .avif"


@dataclass(frozen=True, kw_only=True)
class ImageFiles:
    """The files below a folder by their path within it, sorted; hidden ones are neither."""

    names: tuple[str, ...]  # images
    unused: tuple[str, ...]  # all others

    def notes(self, folder: Path) -> tuple[str, ...]:
        """Returns a sentence on the files that are not used, if there are any."""
        return unused_note(folder.name, self.unused)


def unused_note(title: str, unused: Sequence[str]) -> tuple[str, ...]:
    """Returns how many files of a source are not images, and the first of them."""
    if not unused:
        return ()
    more = f" and {len(unused) - NAMED:,} more" if len(unused) > NAMED else ""
    are = "files are not used, as they are not images that can be read" if len(unused) > 1 else "file is not used"
    return (
        f"{title}: {len(unused):,} {are} ({', '.join(unused[:NAMED])}{more}). Images end in {SUCH_AS}: save others so",
    )


def image_files(folder: Path) -> ImageFiles:
    """Returns the images below a folder: by the ends of their names, in any case of letters; without an end by their
    content.

    Links to folders are not followed. Raises BadInput for one that cannot be read.
    """
    names, unused = [], []
    for below, folders, files in os.walk(folder, onerror=_refuse):
        folders[:] = [name for name in folders if not name.startswith(".")]
        for name in files:
            if name.startswith(".") or name.lower() in JUNK:
                continue
            path = Path(below, name)
            within = path.relative_to(folder).as_posix()
            is_image = is_image_name(name) or (not path.suffix and _is_image(path))
            (names if is_image and path.is_file() else unused).append(within)
    return ImageFiles(names=tuple(sorted(names)), unused=tuple(sorted(unused)))


@cache
def endings() -> tuple[str, ...]:
    """How names of images end: all that Pillow has for FORMATS."""
    from PIL import Image

    return tuple(sorted(end for end, kind in Image.registered_extensions().items() if kind in FORMATS))


def is_image_name(name: str) -> bool:
    """Returns whether a text is the name of an image's file, by its end."""
    return PurePath(name).suffix.lower() in endings()


def _is_image(path: Path) -> bool:
    from PIL import Image

    try:
        with Image.open(path, formats=FORMATS):
            return True
    except Exception:  # whatever a format's reader raises for what is none
        return False


def _refuse(error: OSError) -> None:
    raise BadInput(f"{error.filename} cannot be read ({error.strerror})") from error
