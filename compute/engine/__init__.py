"""Plans and makes runs: plan.py, run.py, and the folders they are stored in."""
