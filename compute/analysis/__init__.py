"""What a table of scores says: ranks and how sure they are, correlations, small suites, maps.

Ranks and their uncertainty are in ranks/, metrics of generators against people's choices in generators/, smaller suites
in lite/, maps of models and images in maps/. A file here has one question each.
"""
