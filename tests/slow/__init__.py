"""Tests that take minutes: attacks, kills, clusters, object stores, installations, simulations, long trainings.

`.ci/run` imports them and the programs beside them; `python -m pytest tests/slow` runs them.
"""
