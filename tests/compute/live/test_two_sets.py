"""Two sets of a visitor's images: the command's own numbers, hostile files as sentences, repeats named."""

from __future__ import annotations

import io
import tracemalloc
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from scipy import linalg

import compute
from compute.live import two_sets
from compute.live.decoder.pool import DecoderUnavailable
from compute.live.inputs import Input
from compute.live.measured_sets import MetricOfSets, measuring
from compute.live.two_sets import GENERATED, REFERENCE, ROLES, ImagePack, SetsComparison, TwoSets
from compute.metrics.distribution.frechet import frechet
from compute.tasks.mini import generators
from compute.tasks.mini.album import png as drawn_png
from compute.types import BadInput, Model
from leaderboard.live.live import Live
from tests.compute.live import hostile, zips
from tests.compute.live.pictures import png

COLOURS = Model(key="colours", title="Colours", kind="encoder")
NAMES = ("fd", "kid", "precision", "recall", "density", "coverage")


@pytest.fixture(scope="module")
def live() -> Live:
    return Live()


def with_model(live: Live, key: str = "tiny") -> tuple[Model, two_sets.Embed]:
    row = live.roster.row(key)
    return row, lambda images: live.run(row, partial(two_sets.embed, images=images), images, {})[0]


def measured(reference: np.ndarray, generated: np.ndarray) -> tuple[MetricOfSets, ...]:
    *parts, metrics = measuring(reference=reference, generated=generated, encoder="x")
    assert parts == [None] * len(parts) and len(parts) > 30, "others are answered in between"
    return metrics


def last(sets: TwoSets, encoder: Model = COLOURS) -> SetsComparison:
    """The comparison, once all its parts are done."""
    *_, made = sets.compare(encoder)
    return made


def colours(images: Sequence[Input]) -> np.ndarray:
    """Stands in for an encoder: the mean colour of an image and its size."""
    return np.array([[*np.asarray(each.content).mean((0, 1)), *each.content.size] for each in images], np.float32)


def pack(files: dict[str, bytes], role: str = REFERENCE) -> ImagePack:
    return two_sets.packed(zips.packed(files), role=role)


def compared(reference: dict[str, bytes], generated: dict[str, bytes], *, most: int = 7) -> SetsComparison:
    sets = TwoSets(packs={REFERENCE: pack(reference), GENERATED: pack(generated, GENERATED)})
    while sets.left:
        sets.step(colours, most=most)
    return last(sets)


def squares(count: int, *, seed: int, size: int = 16) -> dict[str, bytes]:
    rng = np.random.default_rng(seed)
    files = {}
    for number in range(count):
        out = io.BytesIO()
        pixels = rng.integers(0, 256, (size, size + number % 3, 3), dtype=np.uint8)
        Image.fromarray(pixels).save(out, "PNG")
        files[f"a folder/{number:03d}.png"] = out.getvalue()
    return files


def test_the_numbers_are_those_of_the_command(live: Live, tmp_path: Path) -> None:
    files = {
        REFERENCE: {f"{row}.png": drawn_png(generators.reference_image(row)) for row in range(48)},
        GENERATED: {f"{row}.png": drawn_png(generators.FAULTS["blur"].image(row, 3)) for row in range(40)},
    }
    row, embed = with_model(live)
    sets = TwoSets(packs={role: pack(files[role], role) for role in ROLES})
    while sets.left:
        sets.step(embed, most=16)
    live_rows = {metric.figure.metric: metric.figure for metric in last(sets, row).metrics}
    for role, images in files.items():
        (tmp_path / role).mkdir()
        for name, data in images.items():
            (tmp_path / role / name).write_bytes(data)
    table = compute.frechet(
        reference=tmp_path / REFERENCE,
        generated={GENERATED: tmp_path / GENERATED},
        backbones="tiny",
        metrics=",".join(NAMES),
        features=tmp_path / "features",
    )
    assert tuple(live_rows) == NAMES
    for name in NAMES:
        assert live_rows[name].value == pytest.approx(table.value(name, GENERATED), rel=1e-4, abs=1e-7), name
    (plain,) = (figure for figure in table.figures if figure.metric == "fd")
    assert live_rows["fd"].limit == pytest.approx(plain.limit, rel=1e-3, abs=1e-5)
    assert live_rows["fd"].high - live_rows["fd"].low > plain.high - plain.low, "the reference is a sample too"


def test_the_distance_is_that_of_the_formula() -> None:
    rng = np.random.default_rng(1)
    real, generated = rng.normal(size=(200, 24)), rng.normal(0.3, 1.1, size=(150, 24))
    (value, *_) = (metric.figure.value for metric in measured(real, generated))
    first, second = (np.cov(rows, rowvar=False) for rows in (real, generated))
    step = real.mean(0) - generated.mean(0)
    expected = step @ step + np.trace(first + second - 2 * np.real(linalg.sqrtm(first @ second)))
    assert value == pytest.approx(expected, rel=1e-6)


def test_alike_sets_are_within_random_splits_and_unlike_ones_beyond() -> None:
    rng = np.random.default_rng(2)
    real = rng.normal(size=(60, 16))
    alike = measured(real, rng.normal(size=(60, 16)))
    unlike = measured(real, rng.normal(2.0, 1, size=(60, 16)))
    assert not any(metric.differs for metric in alike)
    assert all(metric.differs for metric in unlike)
    distance = alike[0]
    assert distance.alike_low < frechet(real=real[:30], generated=real[30:]).value, "fewer images, further apart"
    assert distance.alike_low <= distance.alike <= distance.alike_high
    low, high = distance.alike_limits
    assert low < high < distance.alike


def test_folders_junk_and_other_files_do_not_matter() -> None:
    made = pack(
        squares(2, seed=0)
        | {
            "__MACOSX/._a.png": b"x",
            "notes.txt": b"x",
            "inner.zip": zips.packed({"a.png": b"x"}),
            "no-ending": png("red"),
        }
    )
    assert made.names == ("a folder/000.png", "a folder/001.png", "no-ending")
    assert made.skipped == ("notes.txt is not an image by its name", "inner.zip is not an image by its name")


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (b"", "The file of the reference set is not a ZIP. Pack the images into a ZIP"),
        (b"\x1f\x8b\x08 a tar", "is not a ZIP"),
        (png("red"), "is not a ZIP"),
        (b"PK\x03\x04 and then nothing", "The reference set: The ZIP is damaged or incomplete"),
        (zips.packed({}), "The ZIP of the reference set holds no image; it is empty"),
        (zips.packed({"a.txt": b"x"}), "holds no image. The first file: a.txt is not an image by its name. Put PNG"),
        (zips.packed({f"{n}.png": b"x" for n in range(201)}), "has 201 images, and 200 are the most here. Take 200"),
        (zips.packed({f"{n}.png": b"x" for n in range(900)}), "has 900 images, and 200 are the most here"),
        (b"PK\x03\x04" + bytes(two_sets.LARGEST_FILE), "has 50 MB, more than 50 MB"),
    ],
    ids=["nothing", "gzip", "image", "damaged", "empty", "text", "201", "900", "large"],
)
def test_a_file_that_is_no_set_is_a_sentence(data: bytes, sentence: str) -> None:
    with pytest.raises(BadInput) as error:
        two_sets.packed(data, role=REFERENCE)
    assert sentence in str(error.value)


@pytest.mark.parametrize("name", sorted(hostile.ZIPS))
def test_a_hostile_zip_ends_in_sentences_and_little_memory(name: str) -> None:
    data = hostile.ZIPS[name]()
    tracemalloc.start()
    try:
        made = two_sets.packed(data, role=GENERATED)
        sets = TwoSets(packs={REFERENCE: made, GENERATED: made})
        while sets.left:
            sets.step(colours, most=16)
        sets.check()
    except BadInput as error:
        assert len(str(error)) < 600
    finally:
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert peak < 120e6


def test_hostile_images_are_skipped_one_by_one_and_good_ones_stay() -> None:
    crafted = {f"{name}.png": data for name, make in hostile.IMAGES.items() if len(data := make()) < 200_000}
    assert len(crafted) > 10
    sets = TwoSets(packs={REFERENCE: pack(crafted | {"good.png": png("red")})})
    while sets.left:
        sets.step(colours, most=16)
    part = sets.sets[REFERENCE]
    assert "good.png" in part.names and len(part.names) + len(part.skipped) == len(crafted) + 1
    assert len(part.skipped) > 10 and all(1 < len(line) < 600 and "Traceback" not in line for line in part.skipped)


def test_an_encrypted_zip_names_the_first_reason() -> None:
    data = zips.changed(zips.packed({"a.png": png("red")}), "a.png", at=8, value=1)
    made = two_sets.packed(data, role=GENERATED)
    sets = TwoSets(packs={REFERENCE: pack(squares(2, seed=0)), GENERATED: made})
    while sets.left:
        sets.step(colours, most=16)
    with pytest.raises(BadInput, match=r"No image of the generated set can be used. The first: a.png is encrypted"):
        last(sets)


def test_a_bomb_is_refused_file_by_file() -> None:
    bomb = {f"{number}.png": bytes(9_000_000) for number in range(3)}
    sets = TwoSets(packs={REFERENCE: pack(bomb | {"good.png": png("red")}), GENERATED: pack(squares(1, seed=1))})
    while sets.left:
        sets.step(colours, most=16)
    assert sets.sets[REFERENCE].names == ["good.png"]
    assert [line.partition(" ")[2] for line in sets.sets[REFERENCE].skipped] == [
        "has more than 8 MB when it is unpacked. Save it smaller"
    ] * 3


def test_one_image_a_side_is_undefined_and_never_a_number() -> None:
    made = compared({"a.png": png("red")}, {"b.png": png("blue")})
    assert made.counts == {REFERENCE: 1, GENERATED: 1}
    for metric in made.metrics:
        assert metric.figure.value is None and metric.differs is None and metric.alike is None
        assert " 1 " in f" {metric.figure.reason} " or "one image" in metric.figure.reason, metric.figure.reason


def test_few_images_have_a_value_and_no_interval() -> None:
    made = compared(squares(12, seed=0), squares(9, seed=1))
    for metric in made.metrics:
        assert np.isfinite(metric.figure.value) and metric.figure.low is None
        assert any("9 prompts or images are too few" in line for line in metric.figure.warnings)


def test_every_mode_of_image_counts() -> None:
    def saved(mode: str, kind: str, **options: object) -> bytes:
        out = io.BytesIO()
        Image.new(mode, (20, 30), 90 if mode in ("L", "P") else (9, 99, 199, 20)[: len(mode)]).save(
            out, kind, **options
        )
        return out.getvalue()

    frames = [Image.new("RGB", (8, 8), colour) for colour in ("red", "blue")]
    animated = io.BytesIO()
    frames[0].save(animated, "GIF", save_all=True, append_images=frames[1:])
    files = {
        "grey.png": saved("L", "PNG"),
        "rgba.png": saved("RGBA", "PNG"),
        "cmyk.jpg": saved("CMYK", "JPEG"),
        "palette.gif": saved("P", "GIF"),
        "animated.gif": animated.getvalue(),
        "wide.png": png("red", (300, 2)),
    }
    made = compared(files, squares(6, seed=3))
    assert made.counts[REFERENCE] == 6 and not made.skipped[REFERENCE]


def test_copies_and_repeats_are_named_whatever_their_files_are() -> None:
    first, other = squares(6, seed=0), squares(5, seed=1)
    pixels = Image.open(io.BytesIO(first["a folder/002.png"]))
    out = io.BytesIO()
    pixels.save(out, "BMP")  # other bytes, the same pixels
    made = compared(first | {"again.png": first["a folder/001.png"]}, other | {"copy.bmp": out.getvalue()})
    assert made.shared.pairs == (("copy.bmp", "a folder/002.png"),)
    assert made.repeats[REFERENCE].pairs == (("again.png", "a folder/001.png"),)
    assert made.repeats[GENERATED].pairs == ()


def test_the_same_pixels_are_encoded_once_so_that_copies_are_equal_to_the_last_bit() -> None:
    seen = []

    def watched(images: Sequence[Input]) -> np.ndarray:
        seen.extend(images)
        return colours(images) + len(seen) * 1e-6  # as batches of unlike sizes do

    files = squares(20, seed=0)
    sets = TwoSets(packs={REFERENCE: pack(files), GENERATED: pack(dict(reversed(files.items())))})
    while sets.left:
        sets.step(watched, most=7)
    assert len(seen) == 20
    made = last(sets)
    assert [metric.figure.value for metric in made.metrics[2:]] == [1.0, 1.0, pytest.approx(1.0), 1.0]


def test_an_image_that_the_encoder_refuses_is_skipped_alone() -> None:
    def picky(images: Sequence[Input]) -> np.ndarray:
        if any(each.content.width > 100 for each in images):
            raise BadInput("its preprocessing refuses an input (too wide)")
        return colours(images)

    sets = TwoSets(packs={REFERENCE: pack(squares(3, seed=0) | {"wide.png": png("red", (120, 2))})})
    while sets.left:
        sets.step(picky, most=16)
    (part,) = sets.sets.values()
    assert len(part.names) == len(part.features) == 3
    assert part.skipped == ["wide.png: its preprocessing refuses an input (too wide)"]


def test_images_come_again_where_no_decoder_is_free_and_memory_is_bounded() -> None:
    tries, held = [], []

    def read(name: str) -> Input:
        tries.append(name)
        if len(tries) == 3:
            raise DecoderUnavailable("busy")
        return Input(modality="image", key=name.encode(), name=name, content=Image.new("RGB", (2000, 2000), int(name)))

    def watched(images: Sequence[Input]) -> np.ndarray:
        held.append(sum(each.nbytes for each in images))
        return colours(images)

    sets = TwoSets(packs={REFERENCE: ImagePack(names=tuple(map(str, range(7))), read=read)})
    assert sets.step(watched, most=16) == 2
    while sets.left:
        sets.step(watched, most=16)
    assert sets.sets[REFERENCE].names == list(map(str, range(7)))
    assert max(held) <= two_sets.DECODED + 16_000_000


def test_the_drawn_sets_are_of_one_size_and_unlike() -> None:
    packs = {role: two_sets.drawn(role) for role in ROLES}
    assert {len(each.names) for each in packs.values()} == {two_sets.DRAWN}
    name = packs[REFERENCE].names[5]
    assert packs[REFERENCE].read(name).key != packs[GENERATED].read(name).key
    assert np.array_equal(np.asarray(packs[REFERENCE].read(name).content), generators.reference_image(5))
