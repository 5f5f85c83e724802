"""Small image files for the tests of live inputs."""

import io

from PIL import Image


def png(colour, size=(32, 32)):
    """One colour as a PNG file."""
    out = io.BytesIO()
    Image.new("RGB", size, colour).save(out, "PNG")
    return out.getvalue()
