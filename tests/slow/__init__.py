"""Tests that take minutes: attacks, kills, clusters, object stores, installations, simulations, long trainings.

`.ci/run` leaves them out; `python -m pytest tests/slow` runs them.
"""
