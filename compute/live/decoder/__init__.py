"""Visitors' images are decoded in child processes with limits on memory, time and files.

`pool` is the server's end, `worker` the child's program, `wire` what they say to each other, and `limits` what holds
the child.
"""
