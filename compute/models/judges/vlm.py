"""Judges in this process: vision-language models of the transformers library, prompted with their chat template.

Answers are decoded greedily, one question at a time: padding changes some models' answers. For throughput, serve the
model and use its endpoint (endpoint.py).
"""

from __future__ import annotations

import copy
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

from compute import versions
from compute.content import decoding
from compute.content.messages import LENGTH, STOP, Picture, Question, Reply
from compute.models.adapter import Hardware
from compute.models.files import pretrained, weights
from compute.models.files.weights import architecture
from compute.models.judges.answer_limit import USUAL, limited, options_of, rule
from compute.models.judges.answer_log import AnswerLog
from compute.types import CannotDo, LikenessError, Model

if TYPE_CHECKING:
    import torch

DEFAULTS: dict[str, Any] = {**pretrained.OPTIONS, "max_tokens": None}
PACKAGES = ("torch", "torchvision", "transformers", "tokenizers", "pillow")


class LocalJudge:
    """A judge on this machine's device. `settings` describes how it is asked."""

    def __init__(
        self,
        *,
        model: torch.nn.Module,
        processor: Any,
        settings: dict[str, Any],
        answers: AnswerLog,
        max_tokens: int | None,
    ) -> None:
        self.answers = answers
        self._model, self._processor = model, processor
        self._max_tokens = max_tokens
        # The checkpoint's generation settings, without sampling or beams; stop tokens and penalties are unchanged.
        self._generation = copy.deepcopy(model.generation_config)
        self._generation.update(do_sample=False, num_beams=1, temperature=None, top_p=None, top_k=None, max_length=None)
        if self._generation.pad_token_id is None:
            self._generation.pad_token_id = processor.tokenizer.pad_token_id or processor.tokenizer.eos_token_id
        kept = ("do_sample", "repetition_penalty", "no_repeat_ngram_size")
        self.settings = settings | {
            "max_tokens_holds": rule(max_tokens),
            "generation": {name: getattr(self._generation, name) for name in kept},
        }

    def reply(self, questions: Sequence[Question]) -> list[Reply]:
        """Returns one reply per question, in order; answered questions are not asked again.

        Raises BadItem for an unreadable image, LikenessError if the device has too little memory for a question.
        """
        return self.answers.answered(limited(questions, self._max_tokens), self._ask)

    def _ask(self, questions: Sequence[Question]) -> Iterator[tuple[int, Reply]]:
        """Yields replies by position; the next question is prepared while the device works on the current one."""
        with ThreadPoolExecutor(1) as pool:
            ready = None
            for position in [*range(len(questions)), None]:
                following = None if position is None else (position, pool.submit(self._inputs, questions[position]))
                if ready is not None:
                    at, inputs = ready
                    yield at, self._answer(questions[at], inputs.result())
                ready = following

    def _inputs(self, question: Question) -> Any:
        """Returns the processor's tensors."""
        # A caption is data: anything in it that looks like a control token is treated as plain text.
        return self._processor.apply_chat_template(
            [question.chat(self._part)],
            add_generation_prompt=True,
            tokenize=True,
            return_dict=True,
            return_tensors="pt",
            sanitize_control_tokens=True,
        )

    def _part(self, picture: Picture) -> dict[str, Any]:
        # A visitor's images are not stored.
        return {"type": "image", "image": decoding.decode(picture.data)}

    def _answer(self, question: Question, inputs: Any) -> Reply:
        import torch

        generation = copy.copy(self._generation)
        generation.max_new_tokens = question.longest or self.settings["max_tokens"]
        began = time.perf_counter()
        try:
            with torch.inference_mode():
                moved = inputs.to(self._model.device, self._model.dtype)
                out = self._model.generate(**moved, generation_config=generation)
        except torch.OutOfMemoryError as error:
            torch.cuda.empty_cache()
            raise LikenessError(
                f"{self.settings['model']}: out of memory with one question ({question.item}). "
                "Take a device with more memory, or serve the model (adapter endpoint)"
            ) from error
        asked = inputs["input_ids"].shape[1]
        new = out[0, asked:].tolist()
        ends = generation.eos_token_id
        ends = set(ends if isinstance(ends, list) else [ends])
        end = next((count for count, token in enumerate(new, 1) if token in ends), None)
        return Reply(
            item=question.item,
            text=self._processor.tokenizer.decode(new, skip_special_tokens=True).strip(),
            finish=LENGTH if end is None else STOP,
            input_tokens=asked,
            output_tokens=end or len(new),
            seconds=round(time.perf_counter() - began, 4),
        )


def load(row: Model, hardware: Hardware, folder: Path) -> LocalJudge:
    """Returns the row's model on the device. Raises NotHere, BadInput, or CannotDo for a model that needs custom
    code.
    """
    from transformers.models.auto.modeling_auto import MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING_NAMES as KNOWN

    options = options_of(row, DEFAULTS)
    if (kind := architecture(folder)) not in KNOWN:
        raise CannotDo(
            f"{row.key} is of architecture {kind!r}, which transformers does not run by itself. Serve it "
            "and ask it there: adapter endpoint in its row, LIKENESS_ENDPOINT for the address"
        )
    processor = pretrained.loaded(row, "AutoProcessor", folder=folder)
    tokenizer = getattr(processor, "tokenizer", None)
    if tokenizer is None or not processor.chat_template:
        raise CannotDo(
            f"{row.key}: {folder} has no {'chat template' if tokenizer else 'tokenizer'}, so nobody knows "
            "how it is asked. Take a checkpoint with one, or serve it (adapter endpoint)"
        )
    model, _ = pretrained.model(row, "AutoModelForImageTextToText", folder=folder, hardware=hardware, options=options)
    settings = {
        "model": row.key,
        "decoding": "greedy",
        "max_tokens": options["max_tokens"] or USUAL,
        "padding": "left",  # as in earlier versions, so that stored answers are found
        "processor": type(processor).__name__,
        "images": f"decoding {decoding.VERSION}",
    }
    log_settings = {
        "adapter": "vlm",
        **settings,
        "weights": row.weights,
        "revision": weights.revision(row),
        "dtype": hardware.dtype,
        "device": hardware.device.split(":")[0],
        "options": {"trust_remote_code": False}  # as in earlier versions, so that stored answers are found
        | {name: options[name] for name in pretrained.OPTIONS if options[name] is not None},
        "packages": versions.minor(versions.installed(PACKAGES)),
    }
    return LocalJudge(
        model=model,
        processor=processor,
        settings=settings,
        answers=AnswerLog(row, settings=log_settings),
        max_tokens=options["max_tokens"],
    )
