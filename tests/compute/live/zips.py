"""ZIP files for tests, whole ones and damaged ones."""

import io
import struct
import warnings
import zipfile

DIRECTORY = b"PK\x01\x02"


def packed(files, *, method=zipfile.ZIP_DEFLATED):
    """A ZIP of files by path; a list may name one twice."""
    out = io.BytesIO()
    with warnings.catch_warnings(), zipfile.ZipFile(out, "w", method) as file:
        warnings.simplefilter("ignore")  # of names that stand twice
        for path, data in files.items() if isinstance(files, dict) else files:
            file.writestr(zipfile.ZipInfo(path), data, compress_type=method)
    return out.getvalue()


def entry(data, path):
    """Where the entry of a path begins in the ZIP's directory."""
    at = data.index(DIRECTORY)
    while data[at + 46 : at + 46 + len(path)] != path.encode():
        at = data.index(DIRECTORY, at + 1)
    return at


def changed(data, path, *, at, value, form="<H"):
    """The ZIP with one field of a path's entry overwritten: 8 flags, 10 method, 16 CRC, 24 size."""
    place = entry(data, path) + at
    return data[:place] + struct.pack(form, value) + data[place + struct.calcsize(form) :]
