"""UniSim-Bench: what its tables, Figure 3 and its text say, recomputed from its own tables."""

from __future__ import annotations

from compute.claims import unisim_analyses, unisim_figure3, unisim_tables, unisim_text
from compute.claims.unisim_tables import SAMPLES, statement
from compute.claims.verdict import judge
from compute.types import Claim

# Training samples in thousands: Table 5, and the four counts of appendix B.2.
TRAINING = (15.9, 50.5, 645.1, 11.5, 100, 245.9, 100, 9.1, 50.5, 73.7)
LMM_TRAINING = (120, 300, 300, 120)


def claims() -> list[Claim]:
    """Every claim of the paper with its verdict: tables, sizes, Figure 3, sections 1 to 4.4, appendix C."""
    return [
        *unisim_tables.claims(),
        *counts(),
        *unisim_figure3.claims(),
        *unisim_text.claims(),
        *unisim_analyses.claims(),
    ]


def counts() -> list[Claim]:
    """Sizes that the text and Tables 1 and 5 state."""
    total, training, mixed = sum(SAMPLES.values()) / 1000, sum(TRAINING) / 1000, sum(LMM_TRAINING)
    return [
        statement(
            "25 data sets",
            where="Section 3.2",
            printed="25",
            recomputed=str(len(SAMPLES)),
            verdict=len(SAMPLES) == 25,
            formula="rows of Table 1, the four KonIQ-10K attributes counted singly",
        ),
        statement(
            "Test samples in total",
            where="Table 1",
            printed="88K",
            recomputed=f"{total:.1f}K",
            verdict=judge("88", total),
            formula="sum of the rows of Table 1",
            note="5K and 2K are read as 5000 and 2000.",
        ),
        statement(
            "Training samples in total",
            where="Table 5",
            printed="1.3M",
            recomputed=f"{training:.2f}M",
            verdict=judge("1.3", training),
            formula="sum of the rows of Table 5",
        ),
        statement(
            "Samples that UniSim-CLIP is trained on",
            where="Appendix B.2",
            printed="1.6M",
            recomputed="1.6M",
            verdict=judge("1.6", 4 * 0.4),
            formula="4 tasks of 400K samples",
        ),
        statement(
            "Perceptual samples that LLaVA-NeXT is trained on",
            where="Section 3.3",
            printed="842K",
            recomputed=f"{mixed}K",
            verdict=judge("842", mixed, slack=0.5 * len(LMM_TRAINING)),
            formula="sum of the four counts of appendix B.2",
            note="The four are printed to whole thousands.",
        ),
    ]
