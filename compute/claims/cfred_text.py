"""cFreD, what the text says, against Tables 1 to 3."""

from __future__ import annotations

from functools import partial

from compute.catalog.published import read_table
from compute.claims.cfred_tables import PAPER, SETS, columns
from compute.claims.verdict import judge, shown, stated
from compute.types import Claim

_statement = partial(stated, PAPER)


def claims() -> list[Claim]:
    """The statements of the abstract and sections 4 and 5 that the tables bear on, and those they cannot."""
    return [*_hpdv2(), *_parti(), *_coco(), *_general(), *_unprinted()]


def _hpdv2() -> list[Claim]:
    found, cfred, hps = columns(1), columns(1)["cFreD"], columns(1)["HPS v2"]
    rho = {name: column.rho for name, column in found.items()}
    accuracy = {name: column.accuracy for name, column in found.items()}
    level = [column.judge.title for name, column in found.items() if accuracy[name] >= accuracy["cFreD"] - 1e-9]
    return [
        _statement(
            "cFreD has the highest correlation on HPDv2",
            "Section 4.2",
            "0.97",
            f"{cfred.rho:.4f}, place {_place(rho, 'cFreD')}",
            _place(rho, "cFreD") == 1,
            note=f"The text calls ρ² the correlation; r is {cfred.r:+.3f}.",
            formula="largest ρ² of Table 1",
        ),
        Claim(
            paper=PAPER,
            claim="Correlation of HPSv2 on HPDv2",
            where="Section 4.2",
            printed="0.94",
            recomputed=shown(hps.rho, like="0.94"),
            verdict=judge("0.94", hps.rho, slack=hps.slack),
            note=f"Table 1 prints {hps.printed_rho}; r is {hps.r:+.3f}.",
            formula="ρ² of the listed scores",
        ),
        _statement(
            "cFreD has the highest rank accuracy on HPDv2",
            "Section 4.2",
            "91.1",
            f"{cfred.accuracy:.1f}",
            _place(accuracy, "cFreD") == 1,
            note=f"By the listed ranks it is shared by {' and '.join(level)}.",
            formula="largest rank accuracy from the listed ranks",
        ),
        _statement(
            "HPSv2 is second in rank accuracy on HPDv2",
            "Section 4.2",
            "88.9",
            f"{hps.accuracy:.1f}",
            _place(accuracy, "HPS v2") == 2,
            note="By the listed ranks it draws level with cFreD.",
            formula="place by rank accuracy from the listed ranks",
        ),
        _statement(
            "Real images are not always preferred: COCO is second on HPDv2",
            "Section 4.1",
            "2",
            read_table("cfred-table-1").set_index("model").loc["COCO", "Human rank"],
            read_table("cfred-table-1").set_index("model").loc["COCO", "Human rank"] == "2",
            formula="human rank of COCO in Table 1",
        ),
    ]


def _parti() -> list[Claim]:
    found = columns(2)
    best, listing = _best_statistical(2)
    signed = {
        name: column.r * (1 if column.judge.higher_is_better else -1)
        for name, column in found.items()
        if column.judge.trained
    }
    order = sorted(signed, key=signed.get, reverse=True)
    return [
        _statement(
            "cFreD has the highest correlation of the statistical metrics on Parti-Prompts",
            "Section 4.2",
            "0.73",
            listing,
            best,
            formula="ρ² of the listed scores",
        ),
        _statement(
            "HPSv2 is best aligned on Parti-Prompts, then ImageReward, then MPS",
            "Section 4.2",
            "HPSv2 0.83, ImageReward 0.81, MPS 0.65",
            ", ".join(f"{found[name].judge.title} {signed[name]:+.2f}" for name in order),
            order[:3] == ["HPS v2", "ImReward", "MPS"],
            note="MPS ranks against people here; squaring hides it.",
            formula="Pearson correlation of the listed scores, positive when better goes with preference",
        ),
    ]


def _coco() -> list[Claim]:
    found = columns(3)
    best, listing = _best_statistical(3)
    printed_rho = {name: float(column.printed_rho) for name, column in found.items()}
    printed_accuracy = {name: float(column.printed_accuracy) for name, column in found.items()}
    rest = {
        column.judge.title: column.accuracy
        for name, column in found.items()
        if not column.judge.trained and name != "cFreD"
    }
    places = _place(printed_rho, "cFreD"), _place(printed_accuracy, "cFreD")
    return [
        _statement(
            "cFreD has the highest correlation of the statistical metrics on COCO",
            "Section 4.2",
            "0.33",
            listing,
            best,
            note="FID and FD-DINOv2 run the wrong way.",
            formula="ρ² of the listed scores",
        ),
        _statement(
            "cFreD is the third most aligned metric on COCO",
            "Section 4.2",
            "3",
            f"{places[0]} by ρ², {places[1]} by rank accuracy",
            places == (3, 3),
            note="The same sentence names three metrics above it.",
            formula="place by the printed rows of Table 3",
        ),
        _statement(
            "All other statistical metrics have a rank accuracy below 0.5 on COCO",
            "Section 4.2",
            "below 50",
            ", ".join(f"{title} {value:.2f}" for title, value in rest.items()),
            max(rest.values()) < 50,
            formula="rank accuracy from the listed ranks",
        ),
    ]


def _general() -> list[Claim]:
    names = {table: SETS[table][0] for table in SETS}
    statistical = [name for table, name in names.items() if _best_statistical(table)[0]]
    rho = {table: {name: column.rho for name, column in columns(table).items()} for table in SETS}
    ahead = [names[table] for table in SETS if _place(rho[table], "cFreD") == 1]
    clip = columns(1)["CLIP"].accuracy
    sizes = [len(columns(table)["FID"].scores) for table in SETS]
    return [
        _statement(
            "cFreD correlates with people more than every other statistical metric on all three sets",
            "Abstract; Figure 1",
            "3 of 3",
            f"{len(statistical)} of 3",
            len(statistical) == 3,
            formula="largest ρ² of the listed scores among the five statistical metrics",
        ),
        _statement(
            "cFreD correlates with people more than metrics trained on human preference",
            "Abstract",
            "3 of 3",
            f"{len(ahead)} of 3",
            len(ahead) == 3,
            note=f"It does on {' and '.join(ahead)}.",
            formula="largest ρ² of the listed scores among all nine metrics",
        ),
        _statement(
            "On HPDv2 a blend of FID and CLIPScore is worse than either alone",
            "Section 4.3",
            "30",
            f"CLIPScore alone {clip:.2f}",
            clip > 30,
            note="The blend's 30 cannot be recomputed, but CLIPScore alone stands below it.",
            formula="rank accuracy from the listed ranks of Table 1",
        ),
        _statement(
            "Image sources compared on HPDv2, Parti-Prompts and COCO",
            "Section 4.1",
            "10, 4, 9",
            ", ".join(map(str, sizes)),
            sizes == [10, 4, 9],
            formula="rows of Tables 1, 2 and 3",
        ),
    ]


def _unprinted() -> list[Claim]:
    rows = (
        (
            "A blend of FID and CLIPScore reaches a rank accuracy of 60% on COCO",
            "Section 4.3",
            "60",
            "Its weights are not printed; 36 pairs allow 58.3 or 61.1.",
        ),
        (
            "cFreD is the only statistical metric that keeps people's best and worst image apart",
            "Figure 2",
            "",
            "The figure is about one prompt, whose scores are not printed; Table 3's ranks agree.",
        ),
        (
            "InceptionV3 wins less often than newer backbones on COCO",
            "Section 4.4; Figure 3",
            "",
            "The figure prints no numbers.",
        ),
        (
            "Effects of backbone size, data, resolution and width on cFreD",
            "Section 5; Appendix B; Figures 4 and B.1 to B.5",
            "",
            "The scores behind the correlations are not printed.",
        ),
    )
    return [
        Claim(
            paper=PAPER,
            claim=claim,
            where=where,
            printed=printed,
            recomputed="",
            verdict="cannot be recomputed",
            note=note,
        )
        for claim, where, printed, note in rows
    ]


def _place(values: dict[str, float], column: str) -> int:
    return 1 + sum(value > values[column] + 1e-9 for value in values.values())


def _best_statistical(table: int) -> tuple[bool, str]:
    rho = {name: column.rho for name, column in columns(table).items() if not column.judge.trained}
    listing = ", ".join(f"{columns(table)[name].judge.title} {value:.2f}" for name, value in rho.items())
    return _place(rho, "cFreD") == 1, listing
