"""The parts of a ranking: means and ranks, their variance over tasks, other tests."""
