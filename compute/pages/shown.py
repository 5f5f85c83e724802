"""Results that display themselves: printed as a table, and in a notebook as the same table with drawn intervals.

A result class inherits `ShowsItself` and defines its table in `shown_table`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from compute.io.tables import markdown
from compute.types import printable

MOST, WIDEST = 30, 14  # rows of a table printed or in a notebook; columns of a printed one
WIDTH, EDGE = 120.0, 4.0  # of a drawn interval, and its distance from the ends, in pixels
ENDS = ("213, 94, 0", "0, 114, 178")  # colours of -1 and 1, as in the correlation heatmap
Mark = tuple[float, float, float]  # low end, value, high end; NaN: unknown


@dataclass(frozen=True, kw_only=True)
class Cell:
    """A cell that is drawn as well as written. All marks of a column are on one axis."""

    text: str
    marks: Sequence[Mark] = ()  # one per value with its interval, drawn as dots and lines below each other
    shade: float = math.nan  # -1 to 1, as the colour behind the text

    @property
    def is_text(self) -> bool:
        """Returns whether it has letters; such columns are aligned left."""
        return any(map(str.isalpha, self.text))

    @property
    def colour(self) -> str:
        """Returns the shade in CSS; empty if there is none."""
        return "" if math.isnan(self.shade) else f"rgba({ENDS[self.shade > 0]}, {0.8 * abs(self.shade):.2f})"


@dataclass(frozen=True, kw_only=True)
class ShownTable:
    """A result as a table, shown as text and in a notebook."""

    heads: Sequence[str]
    rows: Sequence[Sequence[str | Cell]]
    above: Sequence[str] = ()  # sentences
    below: Sequence[str] = ()
    plain: Sequence[str] = ()  # monospaced lines at the bottom, in a notebook
    key: Sequence[str] = ()  # labels of the first and the second colour of marks

    def text(self, most: int | None = None) -> str:
        """Returns the table as text with the first `most` rows; a wide table is cut to WIDEST rows and columns."""
        wide = most is not None and len(self.heads) > WIDEST
        most = WIDEST if wide else most
        rows = [
            [*(printable(_cell(cell).text) for cell in row[: WIDEST if wide else None]), *["…"] * wide]
            for row in (self.heads, *self.rows[:most])
        ]
        lines = markdown(rows) if self.rows else []
        above, below = ([printable(sentence) for sentence in part] for part in (self.above, self.below))
        return "\n".join([*above, *[""] * bool(above), *lines, *self._more(most), *[""] * bool(below), *below])

    def html(self, most: int | None = MOST) -> str:
        """Returns the table with drawn cells as HTML without scripts, for light and dark pages. All text is escaped."""
        from compute.pages import one_file

        cells = [[_cell(cell) for cell in row] for row in self.rows[:most]]
        axes = [axis_of(mark for row in cells for mark in row[at].marks) for at in range(len(self.heads))]
        return one_file.part(
            "shown.html",
            table=self,
            rows=[
                [
                    {
                        "text": printable(cell.text),
                        "colour": cell.colour,
                        "positions": [positions(mark, axis) for mark in cell.marks if axis and not math.isnan(mark[1])],
                    }
                    for cell, axis in zip(row, axes, strict=True)
                ]
                for row in cells
            ],
            left=[at for at in range(len(self.heads)) if any(row[at].is_text for row in cells)],
            below=[*self._more(most), *self.below],
            width=WIDTH,
        )

    def _more(self, most: int | None) -> list[str]:
        rest = 0 if most is None else len(self.rows) - most
        rows = f"{rest:,} more {'row' if rest == 1 else 'rows'}"
        return [f"… and {rows}: print() shows all, .frame() has the numbers."] if rest > 0 else []


class ShowsItself:
    """A result that displays itself."""

    def shown_table(self) -> ShownTable:
        """Returns the table to display."""
        raise NotImplementedError

    def __str__(self) -> str:
        return self.shown_table().text()

    def __repr__(self) -> str:
        return self.shown_table().text(MOST)

    def _repr_html_(self) -> str:
        return self.shown_table().html()


def axis_of(marks: Iterable[Mark]) -> tuple[float, float] | None:
    """Returns the smallest and the largest end of some marks; None if there are none or all are equal."""
    ends = [end for mark in marks for end in mark if not math.isnan(end)]
    return (min(ends), max(ends)) if ends and min(ends) < max(ends) else None


def positions(mark: Mark, axis: tuple[float, float]) -> tuple[float | None, float, float | None]:
    """Returns low end, value and high end of a mark in pixels from the left; None for an unknown end."""
    low, high = axis
    return tuple(  # type: ignore[return-value]
        None if math.isnan(end) else round(EDGE + (WIDTH - 2 * EDGE) * (end - low) / (high - low), 1) for end in mark
    )


def _cell(cell: str | Cell) -> Cell:
    return cell if isinstance(cell, Cell) else Cell(text=cell)
