"""Bytes, arrays and tensors as digests: 16 bytes of SHA-256, whatever device they are on."""

from __future__ import annotations

import hashlib
import os
import struct
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import numpy as np

from compute.types import BadInput

if TYPE_CHECKING:
    import torch

PIECE = 32 << 20  # bytes that are copied from another device at once
THREADS = min(8, os.cpu_count() or 1)


def hashed(*parts: str | bytes | memoryview) -> bytes:
    """16 bytes of SHA-256, which processors have instructions for. Each part stands with its length: no two lists of
    parts read the same."""
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode("utf-8", "surrogatepass") if isinstance(part, str) else part
        digest.update(struct.pack("<Q", len(data)))
        digest.update(data)
    return digest.digest()[:16]


def array_bytes(data: np.ndarray) -> memoryview | bytes:
    """The bytes of a contiguous array in C order, without a copy where its type allows a view."""
    return data.reshape(-1).view(np.uint8).data if data.size and data.dtype.kind not in "OMm" else data.tobytes()


def tensor_digest(tensor: torch.Tensor) -> bytes:
    """Of its bytes in C order, at most PIECE of them at once copied from another device."""
    import torch

    digest = hashlib.sha256()
    flat = tensor.detach().resolve_conj().contiguous().reshape(-1)
    flat = flat.view(torch.uint8) if flat.numel() else flat.to(torch.uint8)
    for start in range(0, len(flat), PIECE):
        digest.update(flat[start : start + PIECE].cpu().numpy().data)
    return hashed("tensor", str(tensor.dtype), repr(tuple(tensor.shape)), digest.digest())


def parameters(module: torch.nn.Module, *, of: str = "The model") -> bytes:
    """16 bytes over names, shapes, dtypes and contents of all parameters and buffers; other devices' in pieces.

    Raises BadInput for weights that are not loaded (on the device `meta`).
    """
    tensors = [*module.named_parameters(), *module.named_buffers()]
    for name, tensor in tensors:
        if tensor.device.type == "meta":
            raise BadInput(f"{of}: {name} has no values (device meta). Load the checkpoint's weights first")
    with ThreadPoolExecutor(THREADS) as pool:
        return hashed(*sorted(pool.map(lambda named: hashed(named[0], tensor_digest(named[1])), tensors)))
