"""An app behind the real server, for what a test client does not show: buffers, slow readers, broken connections."""

import socket
import threading
import time
from contextlib import contextmanager

import uvicorn


@contextmanager
def running(app):
    """The server of the app on loopback, within the block."""
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="error", lifespan="off"))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    try:
        yield server
    finally:
        server.should_exit = server.force_exit = True
        thread.join(30)


@contextmanager
def serving(app):
    """The port of the app, within the block."""
    with running(app) as server:
        yield server.servers[0].sockets[0].getsockname()[1]


def ask(port, path, *, buffer=4096):
    """A connection with a small buffer that has sent a request and read nothing."""
    link = socket.socket()
    link.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer)
    link.connect(("127.0.0.1", port))
    link.settimeout(30)
    link.sendall(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n".encode())
    return link


def read_all(link):
    """All that comes until the server closes the connection, or breaks it off."""
    parts = []
    try:
        while part := link.recv(65_536):
            parts.append(part)
    except ConnectionResetError:
        pass
    return b"".join(parts)
