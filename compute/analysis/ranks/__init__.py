"""Who stands where in a table of scores, and how sure that is.

ranking.py has the means and ranks, variance.py and uncertainty.py how far they would be others on other tasks, ties.py
which models differ significantly, standings.py all of it together. coverage.py measures whether the intervals hold.
"""
