"""Maps in two dimensions: of tasks, models, images; and of the patches of two images."""
