"""The papers' claims, recomputed from their own scores; one file a paper."""
