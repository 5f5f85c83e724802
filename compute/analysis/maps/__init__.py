"""Maps in two dimensions: of tasks, models and images."""
