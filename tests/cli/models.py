"""An endpoint on loopback that says what a test tells it to."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Reply = Callable[["Handler", dict[str, Any]], None]


def completion(content: Any, *, finish: str = "stop", usage: Any = None, **message: Any) -> dict[str, Any]:
    """A chat completion; ``content`` that is no text is sent as JSON."""
    text = content if isinstance(content, str | None) else json.dumps(content, ensure_ascii=False)
    choice = {"index": 0, "finish_reason": finish, "message": {"role": "assistant", "content": text, **message}}
    return {"id": "c1", "choices": [choice], "usage": usage}


def items(*rows: tuple[int, str, str, str | None, str | None]) -> dict[str, Any]:
    """An answer as the schema wants it: ``(sentence, kind, quote, key, value)`` each."""
    names = ("sentence", "kind", "quote", "key", "value")
    return {"items": [dict(zip(names, row, strict=True)) for row in rows]}


def says(document: Any, status: int = 200, **headers: str) -> Reply:
    """Answers with a document, or with raw bytes."""

    def reply(handler: Handler, _body: dict[str, Any]) -> None:
        data = document if isinstance(document, bytes) else json.dumps(document).encode()
        handler.send_response(status)
        for name, value in headers.items():
            handler.send_header(name.replace("_", "-"), value)
        handler.send_header("Content-Length", str(len(data)))
        handler.end_headers()
        handler.wfile.write(data)

    return reply


def hangs(handler: Handler, _body: dict[str, Any]) -> None:
    """Answers nothing, until the test is over."""
    handler.served.over.wait(30)


def drips(handler: Handler, _body: dict[str, Any]) -> None:
    """Sends a byte now and then, so that no single wait is long."""
    handler.send_response(200)
    handler.send_header("Content-Length", "100000")
    handler.end_headers()
    while not handler.served.over.wait(0.05):
        handler.wfile.write(b" ")
        handler.wfile.flush()


def breaks_off(handler: Handler, _body: dict[str, Any]) -> None:
    """Promises more than it sends."""
    handler.send_response(200)
    handler.send_header("Content-Length", "1000")
    handler.end_headers()
    handler.wfile.write(b'{"choices"')


@dataclass
class Served:
    """The endpoint of a test."""

    url: str = ""
    replies: list[Reply] = field(default_factory=list)
    requests: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    over: threading.Event = field(default_factory=threading.Event)

    def sentences(self, number: int = 0) -> list[str]:
        """The sentences that request ``number`` asked about."""
        rows = self.requests[number]["messages"][1]["content"].split("\n")
        return [json.loads(row)["text"] for row in rows]


class Handler(BaseHTTPRequestHandler):
    """Gives the next reply; the last one again and again."""

    served: Served

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.served.requests.append({"path": self.path, **body})
        self.served.headers.append(dict(self.headers))
        replies = self.served.replies
        reply = replies.pop(0) if len(replies) > 1 else replies[0]
        try:
            reply(self, body)
        except OSError:
            # Whoever asked has gone; that is what some tests are about.
            self.close_connection = True

    def log_message(self, *_: Any) -> None:
        """Says nothing."""


@contextmanager
def endpoint(*replies: Reply) -> Iterator[Served]:
    """An endpoint that gives these replies in turn."""
    served = Served(replies=list(replies))
    handler = type("Bound", (Handler,), {"served": served})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    served.url = f"http://127.0.0.1:{server.server_address[1]}/v1"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield served
    finally:
        served.over.set()
        server.shutdown()
        server.server_close()
        thread.join()
