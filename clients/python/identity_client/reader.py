"""When this process last read events, and the read that is under way."""

from threading import Lock, Thread


class Reader:
    def __init__(self) -> None:
        self.lock = Lock()
        #: Unix seconds.
        self.read_at: int | None = None
        self.tried_at: int | None = None
        #: A time of the monotonic clock.
        self.wait_until = 0.0
        self.thread: Thread | None = None
