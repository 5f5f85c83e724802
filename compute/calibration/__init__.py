"""Models' own distributions of scores: pairs.py samples pairs, making.py scores them, files.py stores the result."""
