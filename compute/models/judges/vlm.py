"""Judges in this process: vision-language models of the transformers library, asked by their own chat template.

Answers are decoded greedily, one question at a time. Padding changes some models' answers, so a larger batch (option
`batch_size`) is used only after a self-test: some of the run's own questions, alone and in batches, must get the same
answers; else questions go one at a time, and `settings` say so.
"""

from __future__ import annotations

import copy
import time
from collections.abc import Iterator, Mapping, Sequence
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
from compute.models.judges.images import grouped
from compute.types import CannotDo, LikenessError, Model

if TYPE_CHECKING:
    import torch

DEFAULTS: dict[str, Any] = {**pretrained.OPTIONS, "batch_size": 1, "max_tokens": None}
PACKAGES = ("torch", "torchvision", "transformers", "tokenizers", "pillow")
SAMPLE = 8  # questions of the self-test, and at least two batches


class LocalJudge:
    """A judge on this machine's own device.

    `settings`: how it is asked. After a reply with a larger batch they also hold the result of the self-test.
    """

    def __init__(
        self,
        *,
        model: torch.nn.Module,
        processor: Any,
        settings: dict[str, Any],
        answers: AnswerLog,
        max_tokens: int | None,
        batch_size: int = 1,
    ) -> None:
        self.settings = settings
        self.answers = answers
        self._model, self._processor = model, processor
        self._max_tokens = max_tokens
        # The checkpoint's own generation settings without sampling or beams; it keeps its ends and penalties.
        self._generation = copy.deepcopy(model.generation_config)
        self._generation.update(
            do_sample=False,
            num_beams=1,
            temperature=None,
            top_p=None,
            top_k=None,
            max_length=None,
            max_new_tokens=settings["max_tokens"],
        )
        if self._generation.pad_token_id is None:
            self._generation.pad_token_id = processor.tokenizer.pad_token_id
        self._batch = max(1, batch_size)
        self._tested = self._batch == 1
        settings |= {
            "max_tokens_holds": rule(max_tokens),
            "batch_size": 1,
            "generation": {
                name: getattr(self._generation, name)
                for name in ("do_sample", "repetition_penalty", "no_repeat_ngram_size")
            },
        }

    def reply(self, questions: Sequence[Question]) -> list[Reply]:
        """One reply a question, in order; what has been answered before is not asked.

        Raises BadItem for an image that cannot be read, LikenessError where the device lacks the memory for a question.
        """
        return self.answers.answered(limited(questions, self._max_tokens), self._ask)

    def _ask(self, questions: Sequence[Question]) -> Iterator[tuple[int, Reply]]:
        positions = grouped(questions)
        if not self._tested and len(questions) > 1:
            count = min(len(questions), max(SAMPLE, 2 * self._batch))
            sample = [number * len(questions) // count for number in range(count)]  # evenly spaced
            alone = dict(self._pass(questions, sample, size=1))
            yield from alone.items()
            together = dict(self._pass(questions, sample, size=self._batch))
            same = sum(alone[position].text == together[position].text for position in sample)
            self.settings["batch_self_test"] = {"batch_size": self._batch, "questions": count, "same_answers": same}
            self._batch = self._batch if same == count else 1
            self._tested = True
            self.settings["batch_size"] = self._batch
            positions = [position for position in positions if position not in alone]
        yield from self._pass(questions, positions, size=self._batch if self._tested else 1)

    def _pass(
        self, questions: Sequence[Question], positions: Sequence[int], *, size: int
    ) -> Iterator[tuple[int, Reply]]:
        """Replies to the questions at `positions`; the next batch is made ready while the device works on one."""
        batches = [positions[start : start + size] for start in range(0, len(positions), size)]
        parts = [[questions[position] for position in batch] for batch in batches]

        def ready(number: int) -> Mapping[str, Any] | None:
            return self._inputs(parts[number]) if number < len(parts) else None

        with ThreadPoolExecutor(1) as pool:
            following = pool.submit(ready, 0)
            for number, batch in enumerate(batches):
                inputs, following = following.result(), pool.submit(ready, number + 1)
                yield from zip(batch, self._answers(parts[number], inputs), strict=True)

    def _inputs(self, questions: Sequence[Question]) -> Any:
        """The processor's tensors of a batch, padded on the left."""
        # A caption is data: what looks like a control token in it is read as plain text.
        return self._processor.apply_chat_template(
            [question.chat(self._part) for question in questions],
            add_generation_prompt=True,
            tokenize=True,
            return_dict=True,
            return_tensors="pt",
            sanitize_control_tokens=True,
            processor_kwargs={"padding": True},
        )

    def _part(self, picture: Picture) -> dict[str, Any]:
        # What a visitor compares is stored nowhere.
        return {"type": "image", "image": decoding.decode(picture.data)}

    def _answers(self, questions: Sequence[Question], inputs: Any) -> list[Reply]:
        import torch

        limits = [question.longest or self.settings["max_tokens"] for question in questions]
        generation = copy.copy(self._generation)
        generation.max_new_tokens = max(limits)
        began = time.perf_counter()
        try:
            with torch.inference_mode():
                moved = inputs.to(self._model.device, self._model.dtype)
                out = self._model.generate(**moved, generation_config=generation)
        except torch.OutOfMemoryError as error:
            torch.cuda.empty_cache()
            if len(questions) == 1:
                raise LikenessError(
                    f"{self.settings['model']}: out of memory with one question ({questions[0].item}). "
                    "Take a device with more memory, or serve the model (adapter endpoint)"
                ) from error
            half = len(questions) // 2
            return [
                reply
                for part in (questions[:half], questions[half:])
                for reply in self._answers(part, self._inputs(part))
            ]
        new = out[:, inputs["input_ids"].shape[1] :].cpu()
        seconds = round((time.perf_counter() - began) / len(questions), 4)
        # A greedy answer to a shorter limit is the beginning of that to a longer one.
        rows = [row[:limit] for row, limit in zip(new, limits, strict=True)]
        texts = self._processor.tokenizer.batch_decode(rows, skip_special_tokens=True)
        lengths = inputs["attention_mask"].sum(dim=1).tolist()
        return [
            Reply(
                item=question.item,
                text=text.strip(),
                finish=LENGTH if end is None else STOP,
                input_tokens=tokens,
                output_tokens=len(row) if end is None else end,
                seconds=seconds,
            )
            for question, text, tokens, row, end in zip(
                questions, texts, lengths, rows, map(self._end, rows), strict=True
            )
        ]

    def _end(self, row: torch.Tensor) -> int | None:
        """New tokens of one answer up to its end, the end included; None for an answer that was cut off."""
        ends = self._generation.eos_token_id
        ends = set(ends if isinstance(ends, list) else [ends])
        return next((position + 1 for position, token in enumerate(row.tolist()) if token in ends), None)


def load(row: Model, hardware: Hardware, folder: Path) -> LocalJudge:
    """The row's model on the device. Raises NotHere, BadInput, or CannotDo for one that needs custom code."""
    from transformers.models.auto.modeling_auto import MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING_NAMES as KNOWN

    options = options_of(row, DEFAULTS)
    trusted, kind = bool(options["trust_remote_code"]), architecture(folder)
    if kind not in KNOWN and not trusted:
        raise CannotDo(
            f"{row.key} is of architecture {kind!r}, which transformers does not run by itself. Serve it "
            "and ask it there: adapter endpoint in its row, LIKENESS_ENDPOINT for the address"
        )
    processor = _processor(row, folder, trusted=trusted)
    model, _ = pretrained.model(row, "AutoModelForImageTextToText", folder=folder, hardware=hardware, options=options)
    settings = {
        "model": row.key,
        "decoding": "greedy",
        "max_tokens": options["max_tokens"] or USUAL,
        "padding": "left",
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
        **({"attn_implementation": hardware.attention} if hardware.attention else {}),
        "options": {name: options[name] for name in pretrained.OPTIONS if options[name] is not None},
        "packages": versions.minor(versions.installed(PACKAGES)),
    }
    return LocalJudge(
        model=model,
        processor=processor,
        settings=settings,
        answers=AnswerLog(row, settings=log_settings),
        max_tokens=options["max_tokens"],
        batch_size=options["batch_size"],
    )


def _processor(row: Model, folder: Path, *, trusted: bool) -> Any:
    processor = pretrained.loaded(row, "AutoProcessor", folder=folder, trusted=trusted)
    tokenizer = getattr(processor, "tokenizer", None)
    if tokenizer is None or not processor.chat_template:
        raise CannotDo(
            f"{row.key}: {folder} has no {'chat template' if tokenizer else 'tokenizer'}, so nobody knows "
            "how it is asked. Take a checkpoint with one, or serve it (adapter endpoint)"
        )
    tokenizer.padding_side = "left"
    if tokenizer.pad_token is None:
        tokenizer.pad_token = tokenizer.eos_token
    return processor
