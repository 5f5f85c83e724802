"""What there is to score, and with what: `shipped()` is the package's catalogue of models, tasks, metrics and suites,
`known()` the same with the models of the user's own table.

The papers' tables as runs and scores: published.py.
"""

from compute.catalog.catalog import Catalog, Dataset, known, shipped

__all__ = ["Catalog", "Dataset", "known", "shipped"]
