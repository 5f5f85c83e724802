"""`compute.metric`: wraps a model of the catalogue as a metric of tensors, and as a loss if it is differentiable."""

from __future__ import annotations

import warnings
from functools import partial
from typing import TYPE_CHECKING, Any, Self

from compute.arrays import unit
from compute.engine import workspace
from compute.models import model_rows
from compute.types import BadInput, CannotDo
from compute.versions import naming_packages

if TYPE_CHECKING:
    import torch
    from torch import Tensor


@naming_packages()
def metric(name: str, *, device: str = "cpu") -> TensorMetric:
    """Returns a function of two batches of images, (N, 3, H, W) float tensors of 0 to 1 -> (N,).

    `name`: a key of the catalogue (`likeness list models`): a metric of image pairs, which is differentiable, or an
    encoder of images, whose cosine is not. It runs in float32: an encoder on `device`, a metric on the images' device.
    Raises UnknownKey, NotHere for a missing package, file or device, and CannotDo for a model that compares no images.
    """
    import torch  # noqa: F401  named if it is missing

    row = workspace.catalog_with_own(None, warn=partial(warnings.warn, stacklevel=3)).model(name)
    if not model_rows.scores(row, "image-image"):
        raise CannotDo(f"{name} has no score of two images. List metrics: likeness list models --kind metric")
    hardware = model_rows.hardware(device, "float32")
    # On CUDA, loading changes torch's TF32 setting for the whole process, which may conflict with a training.
    place = "cpu" if model_rows.compares(row, "image-image") else hardware.device
    return TensorMetric(model_rows.load(row, hardware=model_rows.hardware(place, "float32")), name=name).to(
        hardware.device
    )


class TensorMetric:
    """`metric(first, second)`: two batches of images, (N, 3, H, W) float of 0 to 1 -> (N,).

    `higher_is_better`: the values are similarities; otherwise distances. `differentiable`: gradients flow to both
    batches; otherwise there are none. Values have the precision of the images, at least float32, or that of the
    network's weights, which are frozen. On CUDA, torch's TF32 setting applies.
    """

    def __init__(self, model: Any, *, name: str) -> None:
        """Wraps `model`: a loaded comparer of two images with `tensors`, or an encoder of images."""
        self.name = name
        self.differentiable = hasattr(model, "tensors")
        self.higher_is_better = getattr(model, "higher_is_better", True)
        self._model = model
        self._network = getattr(model, "network", None) if self.differentiable else None

    def __call__(self, first: Tensor, second: Tensor) -> Tensor:
        """Returns (N,), on the device of the images. Raises BadInput for other shapes, sizes, types and values."""
        import torch
        from PIL import Image

        smallest = self._model.smallest if self.differentiable else 1
        for images in (first, second):
            if not isinstance(images, torch.Tensor) or not images.is_floating_point():
                what = images.dtype if isinstance(images, torch.Tensor) else type(images).__name__
                raise BadInput(f"{self.name} takes float tensors of 0 to 1, not {what}")
            n, *channels, height, width = images.shape if images.ndim == 4 else (0, 0, 0)
            if channels != [3] or not n or min(height, width) < smallest or images.shape != first.shape:
                raise BadInput(
                    f"{self.name} takes two batches of one shape (N, 3, H, W), H and W at least {smallest}, not "
                    f"{tuple(first.shape)} and {tuple(second.shape)}"
                )
            low, high = (value.item() for value in images.detach().aminmax())
            if not 0 <= low <= high <= 1:
                raise BadInput(
                    f"{self.name} takes values from 0 to 1, not {low:.4g} to {high:.4g}: clamp or scale them"
                )
        if not self.differentiable:
            vectors = []
            for images in (first, second):
                levels = (images.detach() * 255).round().byte().permute(0, 2, 3, 1).cpu().numpy()  # 8-bit
                prepared = [self._model.prepare("image", Image.fromarray(each)) for each in levels]
                vectors.append(unit(self._model.embed("image", prepared)))
            return torch.from_numpy((vectors[0] * vectors[1]).sum(axis=1)).to(first)
        dtype = torch.promote_types(first.dtype, torch.float32)
        if self._network is not None:
            self.to(first.device)
            dtype = next(self._network.parameters()).dtype
        return self._model.tensors(first.to(dtype), second.to(dtype))

    def to(self, device: str | torch.device) -> Self:
        """Moves the weights of a differentiable metric, as calls do; returns the metric itself."""
        if self._network is not None:
            self._network.to(device)
        return self
