"""Making models: the small bundled one; UniSim-style fine-tuning of larger ones."""
