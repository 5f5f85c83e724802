"""Plotly figures shared by the pages and the results of the Python interface."""
