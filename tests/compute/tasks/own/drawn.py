"""Small drawn data of every shape, and how they are run with the bundled model."""

from random import Random

from PIL import Image, ImageDraw

from compute.tasks.own import read
from tests.compute.tasks.files import put

COLOURS = ("red", "green", "blue", "yellow", "purple", "orange")


def pictures(folder, count):
    """Draws scenes of the colours in turn; their names."""
    names = [f"{at:03}.png" for at in range(count)]
    for at, name in enumerate(names):
        random, image = Random(at), Image.new("RGB", (64, 64), "white")
        draw = ImageDraw.Draw(image)
        for _ in range(3):
            x, y, size = random.randrange(48), random.randrange(48), random.randrange(8, 24)
            shape = draw.ellipse if random.random() < 0.5 else draw.rectangle
            shape((x, y, x + size, y + size), fill=COLOURS[at % len(COLOURS)])
        put(folder, {name: image})
    return names


def write(path, header, rows):
    """A manifest as CSV, or as TSV by its name."""
    put(path.parent, {path.name: [header, *rows]})
    return path


def of(path, **options):
    """The data at a path, which have no problem."""
    data = read(path, **options)
    assert data.problems == () and data.faults == 0
    return data


def faults(path, **options):
    """What is wrong by row; 0 is the whole file."""
    return {fault.row: fault.what for fault in read(path, **options).problems}
