"""Answers as judges write them, each with the score or the reason that a careful reader gives it."""

import pytest

from compute.procedures.shared import ratings
from compute.procedures.shared.ratings import PROBLEMS, Rating

GPT = (
    "Score: 8\n\nReason: The images are of the same sandwich, with similar shapes and arrangements of the bread, "
    "tomato, mozzarella, and basil. The second image has substantial color jittering, but since the structural "
    "alignment and composition remain consistent, the similarity remains high."
)
GPT_REVERSE = (
    "Score: 3\n\nReason: The images depict similar objects, presumably a sandwich with layers, but there are notable "
    "differences. The first image appears distorted with altered coloration, and while it shares structural "
    "similarities with the second image, the overall resemblance is weak."
)
INTERN = (
    "Score: 7\n\nReason: The images are similar in content, featuring parrots, but they are not identical. The first "
    "image is a close-up of a spider web on a wooden surface, while the second image shows two parrots on a ledge."
)
INTERN_REVERSE = (
    "Score: 1\n\nReason: The images are completely different in terms of content, subject matter, and context."
)
QWEN = (
    "Score: 6\n\nReason: The images are very similar, with the second image being a slightly blurred version of the "
    "first. However, they do not fully meet the conditions as the images are not identical and the blurring is not "
    "perfect."
)

SCORES = {
    # the paper's own printed answers (Appendix A)
    GPT: 8,
    GPT_REVERSE: 3,
    INTERN: 7,
    INTERN_REVERSE: 1,
    QWEN: 6,
    **{f"Score: {value}\nReason: because": value for value in range(1, 11)},
    "Score: 6 Reason: in one line": 6,
    "Score: 10.00": 10,
    "Score: 10/10": 10,
    "Score： ８": 8,
    "Score: １０": 10,
    **{
        f"{opened}Score: 3? No.{closed}\nScore: 7": 7
        for opened, closed in (
            ("<thinking>", "</thinking>"),
            ("◁think▷", "◁/think▷"),
            ("[THINK]", "[/THINK]"),
            ("<seed:think>", "</seed:think>"),
            ("<reasoning>", "</reasoning>"),
        )
    },
    # spaces, emphasis, brackets, other scripts, the scale beside it, thinking aloud, repeated alike, structured output
    **dict.fromkeys((
        "score:7", "SCORE : 7", "  \n Score:\t 7  \n", "Score:\n7\nReason: a line of its own", "**Score:** 7",
        "**Score: 7**\n**Reason:** 2 cats in both", "# Score: 7", "- Score: `7`", "> *Score*: _7_",
        "Score: <7>\nReason: <the same>", "Score: [7]", "Score: (7)", "Score: [[7]]", "Score: [[7]]/10",
        "Rating: [[7]]\nReason: x", r"Score: \boxed{7}", r"**Score:** $\boxed{7}$", r"Score: \(\boxed{\text{7}}\)",
        "Score: 7<|im_end|>", "Score: 7.", "Score: 7, Reason: 3 dogs against 2",
        "Score: 7; reason: the first has 3", "Score: 7 (very alike)", "Score: 7 - they look alike",
        "Score: 7 – they look alike", "Score: 7 because they look alike", "Score: 7 points", "Score: +7",
        "Score: 07", "Score: 7.0", "Score: 7/10", "Score: 7 / 10\nReason: x", "Score: 7 out of 10.",
        "Score (1-10): 7", "Score (out of 10): 7", "Ｓｃｏｒｅ：７", "Score:\u00a07", "\ufeffScore: 7", "“Score: 7”",
        "Similarity score: 7", "Final Score: 7", "My score: 7",
        "<think>Score: 3? No, the colours match.</think>Score: 7",
        "Score: 2 at first</think>\n\nScore: 7\nReason: x", "<think>a</think>b<think>Score: 1</think>Score: 7",
        "<|channel|>analysis<|message|>Score: 3?<|end|><|start|>assistant<|channel|>final<|message|>Score: 7<|return|>",
        "Score: 7\n<reasoning>It could be a 3: Score: 3.</reasoning>", "Score: 7\nReason: same\n\nScore: 7",
        "Score: <1-10>\nReason: <reason for score>\n\nScore: 7\nReason: x",
        "Score: 7\nReason: I cannot see any difference but the score could be 8.",
        '{"score": 7, "reason": "2 of 3 objects"}', '```json\n{\n  "Score": 7,\n  "Reason": "x"\n}\n```',
        '{"reason": "2 of 3 objects", "score": 7}',
    ), 7),
}  # fmt: skip
INVALID = {
    "Score: " + "9" * 5000: "out of range",
    **dict.fromkeys((
        "", "   \n", "7", "The score is 7", "I would give them a 7.", "Reason: they are alike", "Score:",
        "Score: high", "Score: seven", "Score: N/A", "Score: <1-10>\nReason: <reason for score>", "Score: about 7",
        "Score: ~ roughly 7", "Scores: 7", "Subscore: 7", "Score\nReason: 7 of 10 parts are alike",
        "Score:\nReason: 7 of 10 parts are alike", "Score: 7</think>", "评分：7",
    ), "missing"),
    **dict.fromkeys((
        "<think>Score: 7", "<|channel|>analysis<|message|>Score: 7",
    ), "truncated"),
    **dict.fromkeys((
        "Score: 7-8", "Score: [[7]] or [[8]]", "Score: 7–8", "Score: 7 - 8", "Score: 7 to 8", "Score: 7 or 8",
        "Score: 7, maybe 8", "Score: between 7 and 8", "Score: 7\nScore: 8", "Score: 7, Score: 8",
        "Score: 7\nReason: x\nFinal score: 3", "Colour score: 7\nShape score: 9", "Score: 7 1/2",
        "Score: 7\nScore: 11", "Score: 0x7",
    ), "several"),
    # or on another scale: half of the templates name 0 to 10 and ask for 1 to 10
    **dict.fromkeys((
        "Score: 7 / 8 of 10", "Score: 0\nReason: no correlation", "Score: 0/10", "Score: -1", "Score: −3",
        "Score: 11", "Score: 85", "Score: 85/100", "Score: 4/5", "Score: 4 out of 5", "Score: 8%",
        "Score: 8 percent", "Score: 0.0",
    ), "out of range"),
    # only a decimal that equals one counts
    **dict.fromkeys((
        "Score: 7.5", "Score: 7.5/10", "Score: 0.85", "Score: 7,5", "Score: 1,000", "Score: 7½", "Score: 7th",
    ), "not an integer"),
    **dict.fromkeys((
        "I'm sorry, but I can't assist with that.", "I’m sorry, I cannot compare people.",
        "I am unable to view images.", "As an AI language model, I have no eyes.",
        "Sorry, I can't help with identifying people.", "We cannot provide a rating.",
        "Score: N/A\nReason: I cannot see the images.",
    ), "refused"),
}  # fmt: skip


@pytest.mark.parametrize("text, value", SCORES.items(), ids=range(len(SCORES)))
def test_a_clear_score(text, value):
    assert ratings.read(text) == Rating(value=value), text


@pytest.mark.parametrize("text, problem", INVALID.items(), ids=range(len(INVALID)))
def test_no_clear_score(text, problem):
    assert ratings.read(text) == Rating(problem=problem), text
    assert problem in PROBLEMS


OPENED = ("<think>", "<thinking>", "◁think▷", "[THINK]", "<seed:think>", "<reasoning>")
CUT = {
    **dict.fromkeys((
        "Score: 7\nReason: The images are", "Score: 7\n", "<think>Score: 3\n</think>\nScore: 7\nReason: bo",
        '```json\n{"score": 7, "reason": "bo',
    ), Rating(value=7)),
    # "Score: 1" of 10, perhaps
    **dict.fromkeys((
        "Score: 1", "Score:", "The images are both of a", "Score: 7, since",
        "A first guess would be Score: 3, but the colours", "First score: 3\nno, rather",
        "A first guess would be\nScore: 3\nbut the colours", "Score: 3\n<think>No.</think>",
        *(f"{opened}\nScore: 3\nReason: they" for opened in OPENED),
    ), Rating(problem="truncated")),
    "Score: 0\nReason: no": Rating(problem="out of range"),
}  # fmt: skip


@pytest.mark.parametrize("text, rating", CUT.items(), ids=range(len(CUT)))
def test_an_answer_that_was_cut(text, rating):
    assert ratings.read(text, finish="length") == rating


@pytest.mark.parametrize(
    "text, value",
    [
        *{"7": 7, "<7>": 7, " 7. ": 7, "7/10": 7, "7.5": 8, "7,4": 7, "The score is 7.": 7, "**Rating: 7**": 7}.items(),
        *{"[[7]]": 7, r"\boxed{7}": 7, "7 out of 10": 7, "I'd say 7.": 7, "<think>maybe 3</think> 7": 7}.items(),
        *{"Score: 7.5": 8, "I rate them.\n\n7": 7, "<think>3</think>7": 7, "Score: 7\nThe score is 2": 7}.items(),
        *dict.fromkeys(("0.85", "11", "7%", "7/100", "7-8", "7\n8", "1,000", "0", "-3", "3 – 4", "")).items(),
        *dict.fromkeys(("3 cats", "They share 2 dogs.", "between 6 and 8")).items(),
    ],
)
def test_the_lenient_reader(text, value):
    assert ratings.read(text, lenient=True).value == value
    if value and "Score: 7\n" not in text:
        assert ratings.read(text).value is None
    assert ratings.read(text, finish="length", lenient=True).value == (7 if "Score: 7\n" in text else None)


@pytest.mark.parametrize("text, value", [("7\nBoth show", 7), ("**7/10**\n", 7), ("7", None), ("7 or\n8", None)])
def test_of_a_cut_answer_the_lenient_reader_takes_a_first_line_that_is_a_number(text, value):
    assert ratings.read(text, finish="length", lenient=True).value == value


def test_a_refusal_that_the_endpoint_reports():
    assert ratings.read("", finish="refusal") == Rating(problem="refused")
    assert ratings.read("Score: 7", finish="stop") == Rating(value=7)
