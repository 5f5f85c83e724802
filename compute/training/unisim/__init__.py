"""UniSim: a dual encoder tuned on four kinds of two-alternative questions at once (UniSim, section 3.3 and appendix B.2)."""
