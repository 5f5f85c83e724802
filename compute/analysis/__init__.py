"""Analyses a table of scores: ranks and their uncertainty, correlations, smaller suites, maps.

Ranks and their uncertainty are in ranks/, the agreement of generator metrics with people in generators/, smaller suites
in lite/, and maps of models and tasks in maps.py. Each file here answers one question.
"""
