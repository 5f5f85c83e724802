"""Plans and executes runs: plan.py, run.py, and the folders in which they are stored."""
