"""Tests answers of the service that are too slow or too long. A read of events must not wait for them for ever, or fill the
memory.
"""

import socket
import time
import tracemalloc
import unittest
from collections.abc import Callable
from threading import Event as Flag
from threading import Thread
from unittest import mock

from identity_client import EventsError, pull_events
from identity_client.fetch import MAX_BYTES
from identity_client.strict_json import parse_strict_json

from .support import Site, SECRET, NEXT_SECRET

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
MIB = 1024 * 1024


class Slow:
    """A server that answers each connection with a function, until the function raises."""

    def __init__(self, answer: Callable[[socket.socket], None]) -> None:
        self.ended = Flag()
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.listener.getsockname()[1]}"
        self.answer = answer
        Thread(target=self.accept, daemon=True).start()

    def accept(self) -> None:
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            Thread(target=self.serve, args=(connection,), daemon=True).start()

    def serve(self, connection: socket.socket) -> None:
        with connection:
            try:
                connection.recv(65_536)
                self.answer(connection)
            except OSError:
                self.ended.set()


def send(answer: bytes) -> Callable[[socket.socket], None]:
    return lambda connection: connection.sendall(answer)


class Answers(unittest.TestCase):
    def open(self, answer: Callable[[socket.socket], None]) -> tuple[Slow, Site]:
        server = Slow(answer)
        self.addCleanup(server.listener.close)
        return server, Site(issuer=server.url, secrets=(SECRET, NEXT_SECRET))

    def pull(self, site: Site) -> int | None:
        with self.assertRaises(EventsError) as caught:
            pull_events(site.config, positions=site.nonces, start_over=lambda: None)  # type: ignore[arg-type]
        self.why = str(caught.exception)
        # Another pull can claim the position now.
        with site.nonces.claim_position("shop") as claim:  # type: ignore[attr-defined]
            self.assertIsNotNone(claim)
        return None

    def test_that_trickle_are_given_up_in_time(self) -> None:
        def trickle(*begin: bytes, byte: bytes) -> Callable[[socket.socket], None]:
            def answer(connection: socket.socket) -> None:
                for part in begin:
                    connection.sendall(part)
                while True:
                    connection.sendall(byte)
                    time.sleep(0.02)

            return answer

        for begin, byte in (((HEAD, b"\r\n"), b" "), ((HEAD, b"X-Pad: "), b"a"), ((), b"a")):
            server, site = self.open(trickle(*begin, byte=byte))
            began = time.monotonic()
            with mock.patch("identity_client.events._WITHIN_SECONDS", 0.5):
                self.pull(site)
            self.assertEqual(self.why, "events cannot be read: TimeoutError")
            self.assertLess(time.monotonic() - began, 10)
            self.assertTrue(server.ended.wait(10), "the connection goes on")

    def test_that_trickle_have_one_time_for_both_secrets(self) -> None:
        def refuse_late(connection: socket.socket) -> None:
            time.sleep(0.4)
            connection.sendall(b"HTTP/1.1 401 No\r\nContent-Length: 0\r\n\r\n")
            time.sleep(0.1)

        _, site = self.open(refuse_late)
        with mock.patch("identity_client.events._WITHIN_SECONDS", 0.6):
            self.pull(site)
        self.assertEqual(self.why, "events cannot be read: TimeoutError")

    def test_that_are_long_are_not_kept(self) -> None:
        sent: list[int] = []

        def flood(connection: socket.socket) -> None:
            connection.sendall(HEAD + b'\r\n{"events":[],"x":"')
            piece = b"x" * MIB
            for _ in range(64):
                connection.sendall(piece)
                sent.append(len(piece))
            connection.sendall(b'"}')

        server, site = self.open(flood)
        tracemalloc.start()
        self.addCleanup(tracemalloc.stop)
        self.pull(site)
        self.assertEqual(self.why, "events cannot be read: TooLong")
        self.assertLess(tracemalloc.get_traced_memory()[1], 3 * MAX_BYTES)
        self.assertTrue(server.ended.wait(10))
        self.assertLess(sum(sent), 3 * MAX_BYTES)

    def test_of_the_greatest_length_are_taken(self) -> None:
        for more in (0, 1):
            page = b'{"events":[],"x":"'
            body = page + b"x" * (MAX_BYTES - len(page) - 2 + more) + b'"}'
            _, site = self.open(send(HEAD + b"\r\n" + body))
            if more:
                self.pull(site)
            else:
                latest = pull_events(site.config, positions=site.nonces, start_over=lambda: None)  # type: ignore[arg-type]
                self.assertEqual(latest, 0)

    def test_are_parsed_in_a_few_times_their_length(self) -> None:
        for text in (b"x" * MIB, b"\\n" * (MIB // 2)):
            tracemalloc.start()
            self.addCleanup(tracemalloc.stop)
            parse_strict_json(b'{"x":"' + text + b'"}')
            self.assertLess(tracemalloc.get_traced_memory()[1], 8 * MIB)
            tracemalloc.stop()

    def test_are_as_deep_as_they_say(self) -> None:
        deep = "[{" * 20
        brackets = f'["{deep}\\"{deep}\\\\"]'
        self.assertEqual(parse_strict_json(brackets.encode()), [f'{deep}"{deep}\\'])
        parse_strict_json(b"[" * 16 + b"]" * 16)
        for wrong in ("[" * 17 + "]" * 17, '["\\\\",' + "[" * 16 + "]" * 17, '["\\ud83d"]', '["\\uD83D\\u0041"]', '["\\uDC00"]'):
            with self.assertRaises(ValueError):
                parse_strict_json(wrong.encode())
        self.assertEqual(parse_strict_json(b'["\\ud83d\\ude00"]'), ["\U0001f600"])


if __name__ == "__main__":
    unittest.main()
