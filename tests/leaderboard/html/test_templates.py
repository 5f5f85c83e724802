"""Templates: every value is escaped once, a missing name is an error, and pieces nest."""

import pandas as pd
import pytest
from jinja2 import UndefinedError

from leaderboard.html.templates import ENVIRONMENT, macro
from leaderboard.page import static_html

HOSTILE = "<script>alert(1)</script>'\"`${x}{{x}}{% raw %}"


def write(source, **values):
    return str(ENVIRONMENT.from_string('{% import "html/macros.html" as ui %}' + source).render(values))


@pytest.mark.parametrize(
    "source",
    [
        "{{ x }}",
        "{{ x|or_dash }}",
        "{{ ui.link('task', x) }}",
        "{{ ui.link(x, 'label') }}",
        "{{ ui.to_model(x, x) }}",
        "{{ ui.to_task(x, x) }}",
        "{{ ui.message(x) }}",
        "{{ ui.titled(x, 'mini') }}",
        "{{ ui.facts([(x, x), (x, '—')], unstated=true) }}",
        "{% call ui.section(x, more=x) %}{{ x }}{% endcall %}",
        "{% call ui.facts() %}{% call ui.fact(x) %}{{ x }}{% endcall %}{% endcall %}",
        "{{ ui.table([x], [[x, x]], over=[(x, 1)]) }}",
        "{{ ui.table([x], [], empty=x) }}",
        "{% call(row) ui.table([x], [x]) %}<td>{{ row }}</td>{% endcall %}",
        "{{ ui.remarks(notes, first=x) }}",
        "{{ ui.runs(runs, label='title') }}",
        "{{ ui.lazy_table(x, x) }}",
        "{{ ui.single_items(x) }}",
    ],
)
def test_hostile_names_are_escaped_everywhere(source):
    notes = pd.DataFrame({"note": [HOSTILE], "model": [HOSTILE], "title": [HOSTILE]})
    run = dict.fromkeys(("id", "title", "variant", "device", "dtype", "started"), HOSTILE)
    runs = pd.DataFrame(
        [{**run, "main": True, "coverage": 0.5, "tied": 0, "seconds": 1, "value": 1, "digits": 1, "scale": 1}]
    )
    page = write(source, x=HOSTILE, notes=notes, runs=runs)
    assert "<script" not in page and "'\"" not in page and "'\"" not in page
    assert "alert" in page


def test_template_signs_in_data_are_defused_in_static_markup():
    component = static_html(macro("message")(HOSTILE))
    for sign in ("`", "${", "{{", "\\", "<script"):
        assert sign not in component.html_template
    assert "&amp;#" not in component.html_template.replace("&amp;#39;", "")


def test_a_name_that_was_not_passed_is_an_error():
    with pytest.raises(UndefinedError, match="model"):
        write("{{ model }}")
