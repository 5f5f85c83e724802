"""What an object in memory can be, one file per kind: each recognises its objects and adapts them to our models.

`matches(model)` recognises, `wrap(arguments)` adapts, TAKES are the arguments that the kind uses. wrapped.py has what
the kinds share; batches.py and placement.py serve several of them.
"""
