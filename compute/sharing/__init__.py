"""A model's computed figures in the forms that others read: the hub's results, a model card, mteb's result files."""
