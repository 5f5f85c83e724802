"""Models that no catalogue lists: objects in memory, checkpoints in folders, models of the hub, functions.

An object comes in by wrapping.py: told and adapted (objects/), identified (identity.py), and run once to check it
(probing.py). Of a file, factories.py makes it. checkpoints.py reads what is in a folder or on the hub. All of them
become an OwnModel or a row of its kind (own_model.py).
"""
