"""What the figures of several pages share."""

from compute.analysis.figures.style import unmarked


def test_plotly_reads_no_markup_in_a_name():
    assert unmarked("<b>a</b>") == "‹b›a‹/b›"
