"""How each kind of task is run, in plain words, after the papers' sections on tasks and the public settings."""

from __future__ import annotations

from typing import Any

SENTENCES = {
    (
        "choice",
        "unisim",
    ): "Two candidates are shown with a reference, a caption or a question; which is the better one? Encoders "
    "answer by the higher cosine similarity, language models in words. Right when people chose the same.",
    (
        "odd_one_out",
        "unisim",
    ): "Three images, two of one kind and one of another; which does not belong? Encoders leave out the "
    "image outside their most similar pair.",
    (
        "retrieval",
        "unisim",
    ): "Each query image ranks a gallery by cosine similarity; mean average precision over the medium and "
    "the hard protocol.",
    (
        "retrieval",
        "mieb",
    ): "Each query (an image, a text, or both summed) ranks the whole collection by cosine similarity; the "
    "metric rewards relevant items near the top.",
    (
        "judging",
        "pairbench",
    ): "A judge rates the similarity of a pair from 1 to 10, told to heed or to ignore a known change, in "
    "both orders. Its answers are held against the truth: identical 10, irrelevant 1, changed 8 or 10.",
    (
        "probe",
        "mieb",
    ): "A logistic regression is fitted on the embeddings of a few images of each class and tested on the rest; "
    "the mean over several draws.",
    (
        "zero_shot",
        "mieb",
    ): "Each image takes the class whose prompt is nearest to it by cosine similarity; no training.",
    (
        "clustering",
        "mieb",
    ): "Embeddings are grouped by mini-batch k-means into as many clusters as there are classes; compared "
    "with the true classes.",
    (
        "sts",
        "mieb",
    ): "Sentences rendered as images: the cosine similarity of a pair is correlated with people's rating of how "
    "much the sentences mean the same.",
    (
        "matching",
        "mieb",
    ): "Near-identical captions or images differ in one relation, attribute or order; the right pair must have "
    "the higher cosine similarity.",
    (
        "multiple_choice",
        "mieb",
    ): "A question with an image and a few possible answers: the answer nearest to the query counts.",
    (
        "frechet",
        "cfred",
    ): "Text-to-image generators draw the same prompts; automatic metrics rate each generator's images, and "
    "people's preferences say which are right.",
}
# The mini suite asks as the benchmarks do that it draws after; where people judged there, it knows how it drew.
SENTENCES |= {
    ("choice", "mini"): "Two candidates or more are shown with a reference, a caption or a question; which is the "
    "better one? Encoders answer by the higher cosine similarity, language models in words. Which is right follows "
    "from how they were drawn.",
    ("odd_one_out", "mini"): SENTENCES["odd_one_out", "unisim"],
    ("retrieval", "mini"): SENTENCES["retrieval", "mieb"],
    ("sts", "mini"): "Words drawn as images: the cosine similarity of a pair is correlated with the number of words "
    "that both have.",
    **{
        (procedure, "mini"): SENTENCES[procedure, "mieb"]
        for procedure in ("probe", "zero_shot", "clustering", "matching", "multiple_choice")
    },
}
SETTINGS = {
    "samples_per_label": "{} images a class to learn from",
    "n_experiments": "{} draws",
    "max_score": "people's ratings run to {}",
}


def sentence(procedure: str, benchmark: str) -> str:
    """The protocol in plain words, or a plain line when none is written down."""
    return SENTENCES.get((procedure, benchmark), "How it is run is not written down in our sources.")


def settings(given: dict[str, Any]) -> str:
    """What a task's own settings change, in words; settings of no concern to a reader are left out."""
    parts = [words.format(str(given[key])) for key, words in SETTINGS.items() if key in given]
    if given.get("skip_first_result"):
        parts.append("the first hit is dropped, taken to be the query itself")
    if "KNeighbors" in str(given.get("evaluator_model", "")):
        parts.append("five nearest neighbours instead of a regression")
    return "; ".join(parts)
