"""Live comparisons by models: `inputs`, decoded by `decoder`, and ready `examples`; `questions` and their `answers`;
`changes` of an image; a `batch` of pairs.

`roster` knows the models and whether they can run on this machine, `pool` which are in memory. Everything stays in
memory; nothing is written to disk.
"""
