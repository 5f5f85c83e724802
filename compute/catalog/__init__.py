"""Benchmarks, suites, tasks, metrics, models; and the papers' tables."""
