"""Visitors' images are checked, then decoded in child processes with limits on memory, processor time and files.

`pool` is the server's end, `worker` the child's program, `wire` what they say to each other, and `limits` what holds
the child. In it `headers` checks what a file states, by `bounds`, before a library reads it.
"""
