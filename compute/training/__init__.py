"""Training of dual encoders as multi-task metrics, by UniSim's recipe."""
