"""A small HTTP server on a port of this machine, for stand-ins of other services."""

import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Handler(BaseHTTPRequestHandler):
    """Answers HEAD as GET, by `answer`; what is asked is listed elsewhere, not printed."""

    protocol_version = "HTTP/1.1"

    def do_HEAD(self):
        self.answer()

    def do_GET(self):
        self.answer()

    def answer(self):
        raise NotImplementedError

    def log_message(self, *_):
        """Nothing."""


@contextmanager
def answering(handler):
    """Its address, until the block ends; who leaves in the middle of an answer makes no noise."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.socket.listen(64)  # many may ask at once
    server.daemon_threads = True
    server.handle_error = lambda *_: None
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
