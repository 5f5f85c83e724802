"""What an object in memory can be, one file a kind: each tells its objects, and adapts them to what models here do.

`matches(model)` tells, `held(arguments)` adapts. held.py has what the kinds share; batches.py, processors.py,
signatures.py and placement.py serve several of them.
"""
