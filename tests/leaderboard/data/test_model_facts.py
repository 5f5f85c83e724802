"""Which models a product may use: one rule over every licence that is stated."""

from leaderboard.data.models.model_facts import COMMERCIAL, is_usable

REFUSED = {  # read, and not for every commercial use; a new one is read before it is sorted
    "apple-amlr",
    "apple-ascl",
    "cc-by-nc-4.0",
    "cc-by-nc-sa-4.0",
    "chameleon-research-license",
    "flux-1-dev-non-commercial-license",
    "https://ai.meta.com/resources/models-and-libraries/dinov3-license/",
    "openmdw-1.1",
    "playground-v2dot5-community",
    "stabilityai-ai-community",
    "tongyi-qianwen-research",
}


def test_every_stated_licence_is_sorted_and_terms_of_a_models_own_are_not_trusted(suite_cache):
    stated = set(suite_cache.db.query("models")["license"]) - {"", None}
    own = {name for name in stated if name.startswith("https://huggingface.co/")}
    assert own and stated - own == COMMERCIAL & stated | REFUSED
    assert {name for name in stated if is_usable(True, name)} == COMMERCIAL & stated
    assert not any(is_usable(open_weights, "mit") for open_weights in (False, None))
    assert not is_usable(True, "") and is_usable(True, "MIT")
