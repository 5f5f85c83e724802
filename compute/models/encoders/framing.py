"""Which part of an image an encoder saw: what its resizing and cutting leave, and its whole patches cover."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

# Processors of the transformers library that resize as their `size` says and cut out the middle; not all do.
PLAIN = (
    "BeitImageProcessor",
    "BitImageProcessor",
    "BlipImageProcessor",
    "CLIPImageProcessor",
    "DeiTImageProcessor",
    "EfficientNetImageProcessor",
    "SiglipImageProcessor",
    "ViTImageProcessor",
)
WARPED = 384  # pixels from which ConvNeXT's processor squashes an image instead of cutting it


@dataclass(frozen=True, kw_only=True)
class Seen:
    """A part of an image, as fractions of its width and height; below 0 or above 1 lies filling around it."""

    left: float = 0.0
    top: float = 0.0
    right: float = 1.0
    bottom: float = 1.0
    note: str = ""  # what to know of it, in a sentence


UNKNOWN = Seen(note="Which part of the image this model saw is not known; taken is all of it.")


@dataclass(frozen=True, kw_only=True)
class Frame:
    """How an image of any size becomes a model's: resized, then cut or filled up around its centre, then in patches.

    Sizes are (height, width) in pixels. `resize`: shortest (the image covers `size`), longest (it fits within),
    squash (it becomes `size`), or empty. Without `crop` what was resized is seen; without `patch` all of that counts.
    """

    resize: str
    size: tuple[int, int]
    crop: tuple[int, int] | None = None
    patch: tuple[int, int] | None = None

    def seen(self, *, width: int, height: int) -> Seen:
        """The part that the grid of patches covers, of an image so many pixels wide and high.

        Exact but for how a library rounds sizes and positions: to within a pixel of the resized image.
        """
        if self.resize == "squash":
            tall, wide = self.size
        else:
            ratios = (height / self.size[0], width / self.size[1])
            ratio = {"shortest": min(ratios), "longest": max(ratios), "": 1.0}[self.resize]
            tall, wide = max(1, round(height / ratio)), max(1, round(width / ratio))
        shown, patch = self.crop or (tall, wide), self.patch or (1, 1)
        top, bottom = _part(tall, shown[0], patch[0])
        left, right = _part(wide, shown[1], patch[1])
        filled = min(left, top) < 0 or max(right, bottom) > 1
        return Seen(
            left=left,
            top=top,
            right=right,
            bottom=bottom,
            note="The model saw the image with borders around it." if filled else "",
        )


def _part(length: int, shown: int, patch: int) -> tuple[float, float]:
    """Begin and end of the whole patches within the `shown` middle of `length` pixels, as fractions of these."""
    begin = (length - shown) / 2
    return begin / length, (begin + shown // patch * patch) / length


def of_processor(settings: Mapping[str, Any], *, patch: tuple[int, int] | None = None) -> Frame | None:
    """The frame of an image processor of the transformers library, by what it says of itself; None if it may differ."""
    kind = str(settings.get("processor", "")).removesuffix("Pil").removesuffix("Fast")
    size, cuts = settings.get("size") or {}, bool(settings.get("do_center_crop"))
    shortest, whole, crop = (
        size.get("shortest_edge"),
        _stated(size),
        _stated(settings.get("crop_size")) if cuts else None,
    )
    if kind == "ConvNextImageProcessor" and not cuts:
        return _of_convnext(shortest, settings.get("crop_pct"), patch)
    if kind not in PLAIN or settings.get("do_pad") or (cuts and crop is None):
        return None
    if not settings.get("do_resize", True):
        return Frame(resize="", size=(1, 1), crop=crop, patch=patch)
    if shortest and not size.get("longest_edge"):
        return Frame(resize="shortest", size=(shortest, shortest), crop=crop, patch=patch)
    return Frame(resize="squash", size=whole, crop=crop, patch=patch) if whole else None


def _of_convnext(shortest: int | None, share: float | None, patch: tuple[int, int] | None) -> Frame | None:
    if not shortest:
        return None
    if shortest >= WARPED:
        return Frame(resize="squash", size=(shortest, shortest), patch=patch)
    edge = int(shortest / share) if share else 0
    return Frame(resize="shortest", size=(edge, edge), crop=(shortest, shortest), patch=patch) if edge else None


def of_timm(config: Mapping[str, Any], *, patch: tuple[int, int] | None = None) -> Frame | None:
    """The frame of timm's evaluation transform: `crop_mode` center, squash or border of `input_size` / `crop_pct`."""
    _, high, wide = config["input_size"]
    share = config.get("crop_pct") or 0.875  # the library's own when none is named
    resize = {"squash": "squash", "border": "longest"}.get(config.get("crop_mode") or "center", "shortest")
    return Frame(resize=resize, size=(int(high / share), int(wide / share)), crop=(high, wide), patch=patch)


def of_open_clip(described: Mapping[str, Any], *, patch: tuple[int, int] | None = None) -> Frame | None:
    """The frame of OpenCLIP's transform: `resize_mode` shortest, longest or squash of `size`."""
    high, wide = sides(described["size"])
    mode = described.get("resize_mode") or "shortest"
    return Frame(resize=mode, size=(high, wide), crop=None if mode == "squash" else (high, wide), patch=patch)


def sides(size: Any) -> tuple[int, int]:
    """(height, width) in pixels of a size that may be one number."""
    high, wide = (size, size) if isinstance(size, int) else tuple(size)
    return int(high), int(wide)


def _stated(size: Mapping[str, Any] | None) -> tuple[int, int] | None:
    size = size or {}
    return (size["height"], size["width"]) if size.get("height") and size.get("width") else None
