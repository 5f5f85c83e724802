"""What a ranking is made of: means and ranks, their variance over tasks, other tests."""
