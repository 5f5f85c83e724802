"""On PYTHONPATH: a Python that reaches no address but this machine's own, where no network namespace can be had."""

import socket

HERE = ("127.0.0.1", "::1", "localhost", "0.0.0.0", "", None)
_connect, _resolve = socket.socket.connect, socket.getaddrinfo


def connect(self, address):
    if self.family != socket.AF_UNIX and address[0] not in HERE:
        raise OSError(101, "Network is unreachable")
    _connect(self, address)


def resolve(host, *given, **named):
    if (host.decode() if isinstance(host, bytes) else host) not in HERE:
        raise socket.gaierror(-3, "Temporary failure in name resolution")
    return _resolve(host, *given, **named)


socket.socket.connect, socket.getaddrinfo = connect, resolve
