"""What the check of an object refuses, with a remedy; and what the engine makes of an object's failures."""

import base64
import copy

import numpy as np
import pytest
import torch

from compute.content.messages import Question
from compute.models.judges import answer_log
from compute.models.own.wrapping import hardware_of
from compute.types import BadInput, BadItem
from tests.compute.content.pictures import picture
from tests.compute.features.standin import file, files, subject
from tests.compute.models.own.small_objects import CPU, DIM, IMAGES, Eye, Flat, embedded, pixels, versioned, wrapped


class Made(Eye):
    """Its images go through `make` first: a function of the (n, DIM) vectors and of the images."""

    def __init__(self, make):
        self.make = make

    def encode_image(self, images):
        return self.make(super().encode_image(images), images)


def of_batch(vectors, images):
    """As padding that is seen: the vector depends on the largest image beside it."""
    return vectors * max(image.width for image in images)


def partly_nan(vectors, images):
    vectors[0, 0] = np.nan
    return vectors


@pytest.mark.parametrize(
    "make, problem",
    [
        (lambda vectors, images: vectors + np.random.default_rng().normal(size=vectors.shape), "not deterministic"),
        (lambda vectors, images: vectors + np.arange(len(vectors))[:, None], "depends on"),
        (of_batch, "batch_size=1"),
        (partly_nan, "not finite"),
        (lambda vectors, images: vectors[:-1], r"\(2, 6\)"),
        (lambda vectors, images: vectors[:, None], "pool them"),
        (lambda vectors, images: {"image": vectors}, "dict"),
        (lambda vectors, images: images[0].missing, "AttributeError"),
    ],
)
def test_a_fault_is_named(make, problem):
    with pytest.raises(BadInput, match=problem):
        versioned(Made(make))


@pytest.mark.parametrize(
    "give",
    [
        lambda vectors: [torch.from_numpy(vector) for vector in vectors],
        lambda vectors: torch.from_numpy(vectors).to(torch.bfloat16),
        lambda vectors: vectors.astype(np.float64),
    ],
)
def test_numbers_in_any_form_are_taken_as_float32(give):
    vectors = embedded(versioned(Made(lambda vectors, images: give(vectors))), "image", IMAGES)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(vectors, Eye().encode_image(IMAGES), rtol=1e-2, atol=2e-2)


def test_equal_vectors_of_all_items_are_remarked_on_and_not_refused():
    assert "images" in versioned(Made(lambda vectors, images: np.ones_like(vectors))).remark
    assert versioned(Made(of_batch), batch_size=1).remark == "", "alone, what depends on the batch is allowed"


def test_training_mode_is_named_and_nothing_of_the_model_changes():
    model = torch.nn.Sequential(Flat(), torch.nn.BatchNorm1d(DIM)).train()
    before = copy.deepcopy(model.state_dict())
    with pytest.raises(BadInput, match=r"\.eval\(\)"):
        versioned(model, preprocess=pixels)
    assert all(part.training for part in model.modules())
    assert all(torch.equal(value, model.state_dict()[name]) for name, value in before.items())
    versioned(model.eval(), preprocess=pixels)
    assert all(weight.requires_grad and weight.grad is None for weight in model.parameters())


def test_nothing_is_moved():
    model = Flat()
    for named in ({"device": "cuda"}, {"dtype": "bf16"}):
        with pytest.raises(BadInput, match="model.to"):
            hardware_of(model, **named)
    assert hardware_of(model, device="cpu", dtype="fp32") == hardware_of(model)


RED = 200  # of the images that the model fails on


def fussy(image):
    if image.getpixel((0, 0))[0] == RED:
        raise KeyError("exif")
    return pixels(image)


def test_an_item_that_preprocessing_fails_on_is_named(tmp_path):
    own = versioned(Flat(), preprocess=fussy)
    column = files(1, 2, 3, RED, 4)
    with pytest.raises(BadItem, match="KeyError") as caught:
        subject(tmp_path, own, row=own.row).embed(column)
    assert caught.value.item == "squares, image 3"
    assert subject(tmp_path, own, row=own.row).embed(column.take(np.array([0, 1, 2, 4]))).shape == (4, DIM)


@pytest.fixture(autouse=True)
def log(tmp_path, monkeypatch):
    monkeypatch.setenv(answer_log.VARIABLE, str(tmp_path / "answers"))


PNG = file(90)


def question(text):
    return Question(item=text, parts=("Look: ", picture(PNG), text))


def asked(messages):
    return messages[0]["content"][-1]["text"]


def replies(own, *texts):
    return own.load(own.row, hardware=CPU).reply([question(text) for text in texts])


def test_messages_have_the_chat_apis_form_and_each_is_asked_once_a_version():
    seen = []

    def ask(messages):
        seen.append(messages)
        return f"answer {len(asked(messages))}"

    for version, count in (("1", 3), ("1", 3), ("2", 6)):  # two questions, and that of its check
        own = wrapped(ask, version=version, name="My judge 2")
        said = [reply.text for reply in replies(own, "near", "nearest", "near")]
        assert said == ["answer 4", "answer 7", "answer 4"] and len(seen) == count
    url = f"data:image/png;base64,{base64.b64encode(PNG).decode()}"
    assert next(messages for messages in seen if asked(messages) == "near") == [
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "Look: "},
                {"type": "image_url", "image_url": {"url": url}},
                {"type": "text", "text": "near"},
            ],
        }
    ]
    assert (own.row.key, own.row.kind, own.row.abilities) == ("own/my-judge-2", "mllm", ("choose",))
    known = own.identity(own.row, hardware=CPU)
    assert (known["device"], known["dtype"]) == ("", "")


def test_a_failure_is_that_questions_alone_and_an_empty_answer_is_an_answer():
    seen = []

    def ask(messages):
        seen.append(asked(messages))
        if "bad" in seen[-1]:
            raise TimeoutError("no answer")
        return ""

    own = versioned(ask)
    first, bad, last = replies(own, "good", "bad", "better")
    assert first.text == first.error == last.text == last.error == bad.text == "" and "TimeoutError" in bad.error
    replies(own, "good")
    assert seen.count("good") == 1
