"""What the bundled model is trained to lower. Embeddings have length 1; torch is imported by the caller."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assets.tiny.recipe.lessons import ANSWERS, GAPS, LESS, MORE, PATCH_HEADS, TEXTS

if TYPE_CHECKING:
    from torch import Tensor

MARGIN = 0.1  # by which the cosine of a reference with the nearer image should exceed that with the farther
EMPTY = 0.1  # weight of a patch that shows nothing
SLOPE = 12.0  # of the logistic losses that put images in order


def prompts() -> tuple[str, ...]:
    """The prompts that order images, in the order `ordering` takes them."""
    return (*(text for texts in MORE for text in texts), *LESS)


def contrast(images: Tensor, texts: Tensor, true: Tensor, scale: Tensor) -> Tensor:
    """Symmetric InfoNCE over n images and n * TEXTS captions; other pairs that hold are masked, not pushed apart.

    Each image's true captions are positives; its false one is only ever an alternative (Radford et al., 2021,
    section 2.3, with the known false negatives masked).
    """
    import torch

    logits = scale * images @ texts.T
    rows = torch.arange(len(images))
    loss = logits.new_zeros(())
    for which in range(TEXTS - 1):
        own = rows * TEXTS + which
        others = true.clone()
        others[rows, own] = False
        masked = logits.masked_fill(others, -torch.inf)
        loss = loss + torch.nn.functional.cross_entropy(masked, own)
        loss = loss + torch.nn.functional.cross_entropy(masked[:, own].T, rows)
    return loss / (2 * (TEXTS - 1))


def patches(outputs: Tensor, shown: Tensor) -> Tensor:
    """Cross-entropy of what each patch shows, colour, shape and word; empty patches have little weight."""
    import torch

    loss, start = outputs.new_zeros(()), 0
    for index, head in enumerate(PATCH_HEADS):
        logits = outputs[..., start : start + 1 + len(head)].flatten(0, 1)
        start += 1 + len(head)
        weight = logits.new_ones(1 + len(head))
        weight[0] = EMPTY
        loss = loss + torch.nn.functional.cross_entropy(logits, shown[..., index].flatten(), weight=weight)
    return loss / len(PATCH_HEADS)


def questions(images: Tensor, answers: Tensor, image_rows: Tensor, scale: Tensor) -> Tensor:
    """Cross-entropy of choosing the first of the ANSWERS statements on each image that has some."""
    import torch

    logits = scale * (images[image_rows][:, None] * answers.view(len(image_rows), ANSWERS, -1)).sum(-1)
    return torch.nn.functional.cross_entropy(logits, torch.zeros(len(image_rows), dtype=torch.long))


def nearness(images: Tensor, families: int) -> Tensor:
    """Hinge over (reference, nearer, farther): the nearer image must win by MARGIN."""
    members = images[: 3 * families].view(families, 3, -1)
    near, far = ((members[:, 0] * members[:, index]).sum(-1) for index in (1, 2))
    return (MARGIN - near + far).clamp(min=0).mean()


def ordering(images: Tensor, prompted: Tensor, qualities: Tensor) -> Tensor:
    """Logistic loss over pairs of images whose brightness, sharpness, ... differ.

    The prompt for more must prefer the image that has more, the prompt for less the other, and their difference too.
    """
    import torch

    parts, scores, start = [], images @ prompted.T, 0
    for index, texts in enumerate(MORE):
        less = scores[:, len(prompted) - len(LESS) + index]
        last = scores[:, start + len(texts) - 1]
        columns = [scores[:, start + number] for number in range(len(texts))] + [-less, last - less]
        start += len(texts)
        values = qualities[:, index]
        ahead = values[:, None] - values[None, :] > GAPS[index]  # NaN compares false
        for column in columns:
            parts.append(torch.nn.functional.softplus(-SLOPE * (column[:, None] - column[None, :])[ahead]).mean())
    return torch.stack(parts).nan_to_num().mean()
