"""Models that no catalogue lists: objects in memory, checkpoints in folders, models of the hub.

An object comes in by wrapping.py: told by its kind and read as callables of images and texts (kinds.py, objects.py),
identified (identity.py), and run once to check it (probing.py). checkpoints.py reads what is in a folder or on the hub.
Both become an OwnModel or a row of its kind (own_model.py).
"""
