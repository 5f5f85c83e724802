"""A model's computed scores in the forms that others read: the hub's results, a model card, mteb's result files."""
