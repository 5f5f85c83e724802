"""How finely a body may be cut: each chunk costs the server the same work, whether it has one byte or thousands.

A body of 24 MB in chunks of one byte takes two minutes of the event loop. Only the parser can count them: what it hands
on joins all that arrived at once.
"""

from __future__ import annotations

from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from leaderboard.web.responses import refusal

FREE_CHUNKS = 1_000  # of a body, whatever their size
SMALLEST = 256  # bytes of a further chunk, on average; packets of the slowest lines have 500
TOO_FINE = (
    f"The request came in too many pieces: more than {FREE_CHUNKS:,}, of less than {SMALLEST} bytes on average. "
    "Send it in larger ones"
)


class ChunkLimit(H11Protocol):
    """uvicorn's protocol, which refuses a body that is cut too finely and closes the connection.

    A chunk is one of the transfer encoding, or what arrives at once of a body without one.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:  # uvicorn's own
        super().__init__(*args, **kwargs)
        self._chunks = self._bytes = 0
        self._parse = self.conn.next_event
        self.conn.next_event = self._next_event  # type: ignore[method-assign]

    def _next_event(self) -> Any:
        """h11's next event; where there are too many, a refusal is sent and the rest is not read."""
        event = self._parse()
        if isinstance(event, h11.Request):
            self._chunks = self._bytes = 0
        elif isinstance(event, h11.Data):
            self._chunks += 1
            self._bytes += len(event.data)
            if self._bytes < SMALLEST * (self._chunks - FREE_CHUNKS):
                self._refuse()
                return h11.NEED_DATA
        return event

    def _refuse(self) -> None:
        if self.conn.our_state is h11.SEND_RESPONSE:
            answer = refusal(TOO_FINE, 400)
            headers = [*answer.raw_headers, (b"connection", b"close")]
            events = (
                h11.Response(status_code=400, reason=b"Bad Request", headers=headers),
                h11.Data(data=bytes(answer.body)),
                h11.EndOfMessage(),
            )
            for event in events:
                self.transport.write(self.conn.send(event) or b"")
        self.cycle.disconnected = True  # what the app still answers is dropped, and it need not wait for the rest
        self.cycle.message_event.set()
        self.transport.close()
