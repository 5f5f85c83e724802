"""What decides an object's numbers, as a digest: digesting.py by the rules of ownership.py and code_reads.py."""
