"""A shipped calibration is what the command makes."""

import numpy as np
import pytest

from compute import paths
from compute.calibration import files, making
from compute.catalog import known
from compute.engine.workspace import RunSettings, workbench


def test_what_is_shipped_is_what_the_command_makes(tmp_path):
    """Of a metric without weights."""
    shipped = files.read(files.path(paths.COMPUTED, model="psnr", domain="photographs", pairing="image-image"))
    bench = workbench(RunSettings(results=tmp_path), data=None)
    rows, seed = [known().model("psnr")], shipped.settings["seed"]
    [made] = making.make(rows, ["photographs"], pairs=shipped.settings["pairs"], seed=seed, bench=bench)
    again = made.stored.content
    np.testing.assert_allclose(again.matching, shipped.content.matching, rtol=1e-4)
    np.testing.assert_allclose(again.unrelated, shipped.content.unrelated, rtol=1e-4)
    assert again.separation == pytest.approx(shipped.content.separation, abs=1e-4)
