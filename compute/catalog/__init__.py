"""What there is to score, and with what: `shipped()` is the catalogue of models, tasks, metrics and suites.

The papers' tables as runs and scores: published.py.
"""

from compute.catalog.catalog import Catalog, Dataset, shipped

__all__ = ["Catalog", "Dataset", "shipped"]
