"""Imports scores that others measured: public MTEB results, the hub's evaluation results, and any table of scores."""

from compute.importing.collection import Imported, SkippedFile
from compute.importing.eval_results import fetch_eval_results, read_eval_results
from compute.importing.laboratories import LAYOUTS, read_laboratory
from compute.importing.mteb import fetch_mteb_results, read_mteb_results
from compute.importing.scores_csv import read_scores_csv

__all__ = [
    "LAYOUTS",
    "Imported",
    "SkippedFile",
    "fetch_eval_results",
    "fetch_mteb_results",
    "read_eval_results",
    "read_laboratory",
    "read_mteb_results",
    "read_scores_csv",
]
