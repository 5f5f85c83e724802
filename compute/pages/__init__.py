"""Presentation of results outside the app.

one_file.py: pages of one HTML file that commands write, such as a board or a training. Each is a template that extends
base.html, with a style sheet next to it. shown.py: how a result of the Python interface is printed and displayed in a
notebook.
"""
