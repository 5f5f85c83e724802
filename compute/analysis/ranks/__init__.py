"""What a ranking is made of: means.py has the means and ranks, variance.py how far they would be others on other tasks.

coverage.py measures whether the intervals hold.
"""
