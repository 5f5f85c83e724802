"""What a comparison's numbers say, in one sentence a line."""

from __future__ import annotations

from compute.analysis.ranks.variance import listed
from compute.analysis.significance import ALPHA
from compute.types import counted
from leaderboard.data.comparison import ComparedLine, ComparedValue, PairedTest
from leaderboard.html.formatting import NOTHING, blank, number

MOST_NAMED = 6  # categories or tasks in a sentence; of more the number is given
MORE = 1  # digits of a difference beyond those of the scores


def ahead(found: ComparedLine) -> str:
    """Who is significantly ahead in which categories, or tasks where only one category is compared.

    Of two rows each by name, of several each against the first. Empty for a task, and where no noise is known.
    """
    lines, noun = found.parts, "category"
    if found.kind != "mean" or len(lines) < 2:
        lines, noun = found.tasks, "task"

    def where(at: int, *readings: str) -> str:
        titles = [line.title for line in lines if line.tests[at].reading in readings]
        return listed(titles) if len(titles) <= MOST_NAMED else counted(len(titles), noun)

    first, *others = found.names
    if found.kind == "task" or not any(where(at, "better", "worse", "same") for at in range(len(others))):
        return ""
    if len(others) > 1:
        sentences, level = [], []
        for at, name in enumerate(others):
            leads, trails = where(at, "better"), where(at, "worse")
            parts = [f"ahead in {leads}"] * bool(leads) + [f"behind in {trails}"] * bool(trails)
            if parts:
                sentences.append(f"{name} is {' and '.join(parts)}")
            else:
                level.append(name)
        if level:
            sentences.append(f"{listed(level)} {'is' if len(level) == 1 else 'are'} not significantly ahead or behind")
        return f"Compared with {first}, {'; '.join(sentences)}."
    leads = {name: titles for name, titles in ((first, where(0, "worse")), (others[0], where(0, "better"))) if titles}
    parts = [f"{name}{' is ahead' if at == 0 else ''} in {titles}" for at, (name, titles) in enumerate(leads.items())]
    rest = []
    for words, readings in (("not significant", ("same",)), ("of unknown significance", ("unknown", "none"))):
        if count := sum(line.tests[0].reading in readings for line in lines):
            rest.append(f"{words} in {count if rest else counted(count, noun)}")
    sentence = ", ".join(parts) or f"Neither is significantly ahead in a {noun}"
    return f"{sentence}{'; the difference is ' * bool(rest)}{', '.join(rest)}."


def widest(line: ComparedLine) -> float:
    """The largest difference to the first row, whatever its sign; −1 where none is known."""
    return max((abs(test.difference) for test in line.tests if not blank(test.difference)), default=-1.0)


def verdict(line: ComparedLine) -> str:
    """One sentence: which rows are better than the first, by how much and with what certainty."""
    if len(line.names) == 2:
        return _of_two(line, *line.names, line.tests[0])
    return _of_several(line, line.names[0])


def place(line: ComparedLine) -> str:
    """A line's title within a sentence."""
    return {"Mean": "the mean", "Your mean": "your mean"}[line.title] if line.kind == "mean" else line.title


def difference(line: ComparedLine, value: float) -> str:
    """A difference with its sign, one digit more than the scores have."""
    return number(value, digits=line.digits + MORE, sign=True)


def interval(line: ComparedLine, test: PairedTest) -> str:
    """A difference's interval, or a dash where it is not known."""
    if blank(test.low) or blank(test.high):
        return NOTHING
    return f"{difference(line, test.low)} to {difference(line, test.high)}"


def in_cell(text: str, one: ComparedValue) -> str:
    """A mean's interval in a table: in brackets where it rests on few tasks, as on the board."""
    return f"({text})" if one.few and text != NOTHING else text


def p_value(test: PairedTest) -> str:
    """A p value with three digits, or a dash where it is not known."""
    if blank(test.p):
        return NOTHING
    return "< 0.001" if test.p < 0.0005 else number(test.p, digits=3)


def reading(test: PairedTest) -> str:
    """A test's outcome in a cell, with the reason where there is none."""
    same = "significant by itself only" if test.p <= ALPHA else "no significant difference"
    words = {"better": "better", "worse": "worse", "same": same}
    if test.reading in words:
        notes = [f"only {listed(test.only)} shared"] if test.only else []
        notes += ["on these tasks’ items alone"] if test.about == "items" else []
        return "; ".join([words[test.reading], *notes])
    return f"{'not comparable' if test.reading == 'none' else 'unknown'}: {test.why}"


def notes(line: ComparedLine) -> str:
    """What an interval of the line rests on where that is little; empty elsewhere."""
    if not any(value.few for value in line.values):
        return ""
    return "An interval in brackets rests on few tasks of a category and covers at least 95%."


def _of_two(line: ComparedLine, first: str, second: str, test: PairedTest) -> str:
    if test.reading == "none":
        return f"{second} and {first} cannot be compared in {place(line)}: {test.why}."
    gap, where = _gap(line, test), place(line) if line.higher else f"{place(line)}, where lower is better"
    if test.only:
        where = f"the mean over {listed(test.only)}, all that both have"
    pair = f"{second} is {gap} than {first} in {where}"
    if test.difference == 0:
        pair = f"{second} and {first} are equal in {place(line)}"
    certainty = _certainty(line, test)
    if test.reading == "unknown":
        return f"{pair}; whether by chance is unknown, because {test.why}."
    if test.reading == "same" and test.p <= ALPHA:
        return f"{pair} ({certainty}): significant for this pair by itself only."
    if test.reading == "same":
        return f"{pair}{', not a significant difference' if test.difference else ''} ({certainty})."
    return f"{second} is significantly {test.reading} than {first} in {where}: {gap} ({certainty})."


def _of_several(line: ComparedLine, first: str) -> str:
    sentences = {
        "better": "{} {is} significantly better",
        "worse": "{} {is} significantly worse",
        "alone": "{} {differs} significantly by itself only",
        "same": "{} {does} not differ significantly",
        "unknown": "it is unknown whether {} {differs}",
        "none": "{} cannot be compared",
    }
    one = {"is": "is", "does": "does", "differs": "differs"}
    many = {"is": "are", "does": "do", "differs": "differ"}

    def kind(test: PairedTest) -> str:
        return "alone" if test.reading == "same" and test.p <= ALPHA else test.reading

    parts = []
    for key, sentence in sentences.items():
        named = [test.name for test in line.tests if kind(test) == key]
        if named:
            words = sentence.format(listed(named), **(one if len(named) == 1 else many))
            partial = [test.name for test in line.tests if kind(test) == key and test.only]
            reasons = {test.why for test in line.tests if kind(test) == key}
            because = {"unknown": ", because {}", "none": " ({})"}.get(key, "") if len(reasons) == 1 else ""
            scope = f" ({listed(partial)} over fewer categories)" if partial else ""
            parts.append(words + scope + because.format(*reasons))
    return f"Compared with {first} in {place(line)}, {'; '.join(parts)}."


def _gap(line: ComparedLine, test: PairedTest) -> str:
    """`3.21 points higher`, in the unit of the line."""
    size = number(abs(test.difference), digits=line.digits + MORE)
    unit = " points" if line.percent else ""
    return f"{size}{unit} {'higher' if test.difference > 0 else 'lower'}"


def _certainty(line: ComparedLine, test: PairedTest) -> str:
    tasks = "1 task" if test.tasks == 1 else f"{test.tasks} shared tasks"
    p = p_value(test)
    parts = [
        "" if blank(test.low) else f"95% interval {interval(line, test)}",
        "" if blank(test.p) else f"p {p}" if p[0] == "<" else f"p = {p}",
        "" if line.kind == "task" else tasks,
        "on these items; other tasks were not tried" if test.about == "items" else "",
    ]
    return ", ".join(filter(None, parts))
