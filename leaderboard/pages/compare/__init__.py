"""Two to six models compared: who is significantly ahead where."""
