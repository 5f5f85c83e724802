"""What several tests of the command line share."""

import shlex

from PIL import Image
from typer.testing import CliRunner

from compute.__main__ import app
from tests.compute.tasks import drawn_generators as drawn


def likeness(*words):
    return CliRunner().invoke(app, [str(word) for word in words])


def command(start):
    """The command that begins so: a function of the rest of its line, and of more words."""
    return lambda line="", *words: likeness(*shlex.split(f"{start} {line}"), *words)


def done(result):
    """The result of a command that ended well."""
    assert result.exit_code == 0, result.output
    return result


def assert_refused(result, error, *words):
    """A command ended with exit code 1 and one line that holds the words, because of this error."""
    assert result.exit_code == 1 and isinstance(result.exception.__context__.__cause__, error), result.output
    last = result.output.splitlines()[-1]
    assert last.startswith("Error: ") and all(word in result.output for word in words), result.output


def error_line(result):
    """All that a refused command says."""
    (line,) = result.stderr.strip().splitlines()
    assert result.exit_code == 1 and line.startswith("Error: "), result.output
    return line


def save_images(folder, image, count):
    """000.png and on, as drawn."""
    folder.mkdir()
    for row in range(count):
        Image.fromarray(image(row)).save(folder / f"{row:03}.png")
    return folder


def save_prompts(path, count):
    """A table of the drawn images' prompts."""
    rows = [f'{row:03}.png,"{prompt.text}"' for row, prompt in enumerate(drawn.all_prompts()[:count])]
    path.write_text("\n".join(["image,prompt", *rows]) + "\n")
