"""Scores that others measured: the public MTEB results repository, and any table of scores."""

from compute.importing.figures import Imported, SkippedFile
from compute.importing.hub import fetch_mteb_results
from compute.importing.mteb import read_mteb_results
from compute.importing.scores_csv import read_scores_csv

__all__ = ["Imported", "SkippedFile", "fetch_mteb_results", "read_mteb_results", "read_scores_csv"]
