"""References: counts by hand."""

from compute.content.messages import Reply
from compute.procedures.shared import replies


def test_what_only_some_replies_state_is_no_total():
    """A reply that never came took nothing that is known; an older log states no cost."""
    came = Reply(item="a", text="A", input_tokens=7, seconds=0.5, cost=0.25)
    older = Reply(item="b", text="B", input_tokens=5, seconds=1.0)
    away = Reply(item="c", error="status 500")
    assert replies.totals([came, older, away]) == {
        "input_tokens": 12,
        "seconds": 1.5,
        "in_part": {"cost": {"at_least": 0.25, "replies": 1, "of": 2}},
    }
    assert replies.totals([came, away]) == {"input_tokens": 7, "seconds": 0.5, "cost": 0.25}
    assert replies.totals([away]) == replies.totals([]) == {}
