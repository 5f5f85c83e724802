"""What results look like outside the app.

one_file.py: pages of one HTML file that commands write, such as a board or a training. Each is a template in base.html,
and a style next to it. shown.py: how a result of the Python interface prints, and shows itself in a notebook.
"""
