"""Figures of plotly that the pages and the results of the Python interface share."""
