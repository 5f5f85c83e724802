"""Models answer a visitor's question: `inputs` and ready `examples`, the `question`, and one model's `answers`.

`modes` says which questions fit, `batch` reads a table of pairs, and `models` knows the models, whether they can run on
this machine, and which are in memory. Everything stays in memory; nothing is written to disk.
"""
