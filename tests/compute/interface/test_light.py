"""`import compute` loads nothing heavy, and every name of the interface is there on first use."""

import doctest

import pytest

import compute
import compute.metrics
from tests.serving import ended

HEAVY = ("torch", "transformers", "sklearn", "umap", "timm", "open_clip", "skimage", "scipy.stats", "pyarrow", "gradio")


def loaded_by(code):
    """The packages that a program has loaded at its end."""
    done = ended("-c", f"{code}; import sys; print(*sys.modules)")
    assert done.returncode == 0, done.stderr
    return set(done.stdout.split())


def test_importing_compute_loads_neither_numpy_nor_pandas():
    loaded = loaded_by("import compute")
    assert "compute" in loaded
    assert loaded.isdisjoint({*HEAVY, "numpy", "pandas", "scipy", "typer"})
    assert [name for name in loaded if name.startswith("compute.")] == []


def test_names_load_only_what_they_need():
    names = "compute.metrics.ndcg, compute.correlate, compute.compare"
    assert loaded_by(f"import compute; {names}").isdisjoint({*HEAVY} - {"pyarrow"})


def test_the_list_of_commands_loads_none_of_them():
    listed = loaded_by("from compute.__main__ import app; app(['--help'], standalone_mode=False)")
    assert "publish" in listed and listed.isdisjoint({*HEAVY, "numpy", "pydantic", "compute.cli.run"})


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'rnak'"):
        compute.rnak  # noqa: B018
    with pytest.raises(AttributeError, match="no attribute 'ndgc'"):
        compute.metrics.ndgc  # noqa: B018


def test_the_docstrings_example_runs():
    result = doctest.testmod(compute.metrics)
    assert result.attempted >= 4 and result.failed == 0
