"""Records of one's own suites and models with one value changed, and files that are no record at all."""

import json

TORN = (b'{"version": 1, "k', b"[]", b'{"a":' * 500 + b"1" + b"}" * 500, b'{"version": NaN}', b"\xff")


def changed(record, path, value):
    """The record with one value changed, or removed where it is ...; `tasks.0.key` is the path of one."""
    record = json.loads(json.dumps(record))
    *way, last = [int(part) if part.isdigit() else part for part in path.split(".")]
    inner = record
    for part in way:
        inner = inner[part]
    if value is ...:
        del inner[last]
    else:
        inner[last] = value
    return json.dumps(record)


def assert_left_out(path, cases, recorded):
    """Every damaged form of the record is left out, with a problem that has its file's name and the word."""
    record = json.loads(path.read_text())
    for content, word in [*((changed(record, where, value).encode(), word) for where, value, word in cases)] + [
        (torn, "") for torn in TORN
    ]:
        path.write_bytes(content)
        rows, problems = recorded(path.parent.parent)
        assert rows == [] and len(problems) == 1, content
        assert path.name in problems[0] and word in problems[0], (content, problems)
