"""The papers' claims, recomputed from their own figures; one file a paper."""
