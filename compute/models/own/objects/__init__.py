"""What an object in memory can be, one file a kind: each tells its objects, and adapts them to what models here do.

`matches(model)` tells, `held(arguments)` adapts, TAKES are the arguments that the kind has a use for. held.py has what
the kinds share; batches.py and placement.py serve several of them.
"""
