"""Models' own distributions of scores: three sets give pairs, making.py scores them, files.py stores the result."""
