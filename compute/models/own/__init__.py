"""Models that no catalogue lists: objects in memory, checkpoints in folders, models of the hub, functions."""
