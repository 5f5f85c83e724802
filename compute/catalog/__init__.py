"""The catalogue: `shipped()` returns the package's models, tasks, metrics and suites, and `known()` adds the models of
the user's table.

The papers' tables are read as runs and scores in published.py.
"""

from compute.catalog.catalog import Catalog, Dataset, known, shipped

__all__ = ["Catalog", "Dataset", "known", "shipped"]
