"""A model's computed scores in other formats: the hub's results, a model card, mteb's result files."""
