"""A shipped calibration, a file of an earlier command, is what a run finds."""

import numpy as np

import compute
from compute import paths
from compute.analysis.calibrated import Reference
from compute.io.files import read_record


def test_what_is_shipped_is_what_a_run_finds(tmp_path):
    """Of a metric without weights."""
    file = paths.COMPUTED / "calibrations/psnr/photographs/image-image.json"
    shipped = read_record(file, root=paths.COMPUTED)
    task = "calibration/photographs/image-image"
    (outcome,) = compute.evaluate("psnr", suite="calibration", tasks=task, results=tmp_path).outcomes
    (record,) = outcome.stored.run.settings["found"]["default"]["records"]
    again = Reference(**record)
    for side in ("matching", "unrelated"):
        np.testing.assert_allclose(getattr(again, side), shipped[side], rtol=1e-4)
