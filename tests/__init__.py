"""Tests. A package, so that one of the same name among the installed ones (torch-fidelity brings one) is not taken."""
