"""What decides an object's numbers, as a digest.

digesting.py goes through an object by these: whose code it is (ownership.py), what a function reads (code_reads.py),
what of an object's state counts (state.py), and how bytes become a digest (hashing.py).
"""
