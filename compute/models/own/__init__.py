"""Models that no catalogue lists: objects in memory, checkpoints in folders, models of the hub.

wrapping.py wraps an object: its kind is recognised and it is turned into callables of images and texts (kinds.py,
objects.py), identified (identity.py), and run once as a check (probing.py). checkpoints.py reads checkpoints in a
folder or on the hub. Both become an OwnModel or a row of that kind (own_model.py).
"""
