"""UniSim: a dual encoder tuned on four kinds of two-alternative questions at once (section 3.3, appendix B.2)."""
