"""A model behind an OpenAI-compatible endpoint: ``POST BASE/chat/completions``."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from queue import Empty, Queue
from threading import Thread
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from workbench.errors import UsageError
from workbench.models.model import Answered, ModelError, NotAskedError, UnansweredError, token_count

LARGEST = 4 << 20
"""Bytes of an answer that are read; what needs more is no answer to our question."""
LONGEST_WAIT = 10.0
"""Seconds that a busy endpoint may ask us to wait before the one retry."""
_BUSY = (429, 503, 529)
_NO_SCHEMA = (400, 404, 415, 422, 501)


class _Reply(NamedTuple):
    status: int
    body: bytes
    retry_after: str


@dataclass(frozen=True)
class EndpointModel:
    """Asks an endpoint; redirects are not followed, so that the key goes nowhere else."""

    base_url: str
    """``https://host/v1``: what stands before ``/chat/completions``."""
    model: str
    key: str = field(default="", repr=False)
    timeout: float = 60.0
    """Seconds for a question, retry included."""

    def __post_init__(self) -> None:
        try:
            parts = urlsplit(self.base_url)
            fits = parts.scheme in ("http", "https") and parts.hostname and not parts.query and not parts.username
            fits = fits and (parts.port is None or parts.port > 0)
        except ValueError:
            fits = False
        if not fits:
            raise UsageError(
                f"[model] base_url: {self.base_url!r} is no address of an endpoint",
                "write it as http://localhost:8080/v1 or https://host/v1",
            )

    @property
    def name(self) -> str:
        """The model's name as the endpoint knows it."""
        return self.model

    @property
    def where(self) -> str:
        """Host and port."""
        return urlsplit(self.base_url).netloc

    def ask(self, system: str, text: str, schema: Mapping[str, Any]) -> Answered:
        """See :meth:`Model.ask`; a busy endpoint is asked once more, one that knows no schemas without."""
        sent: list[None] = []
        try:
            reply = self._asked(system, text, schema, sent)
            if reply.status != 200:
                raise ModelError(f"{self.where} answered {reply.status}{_said(reply.body)}")
            return replace(self._read(reply.body), requests=len(sent))
        except ModelError as problem:
            problem.details["requests"] = len(sent)
            raise

    def _asked(self, system: str, text: str, schema: Mapping[str, Any], sent: list[None]) -> _Reply:
        """The last reply to a question; ``sent`` grows with every request."""
        ends = time.monotonic() + self.timeout
        body: dict[str, Any] = {
            "model": self.model,
            "temperature": 0,
            "messages": [{"role": "system", "content": system}, {"role": "user", "content": text}],
        }
        form = {"type": "json_schema", "json_schema": {"name": "items", "strict": True, "schema": dict(schema)}}
        formed = {**body, "response_format": form}
        reply = self._post(formed, ends, sent)
        if reply.status in _NO_SCHEMA:
            formed = body
            reply = self._post(formed, ends, sent)
        if reply.status in _BUSY:
            time.sleep(max(0.0, min(_seconds(reply.retry_after), ends - time.monotonic())))
            reply = self._post(formed, ends, sent)
        return reply

    def _post(self, body: Mapping[str, Any], ends: float, sent: list[None]) -> _Reply:
        """One request. A thread does it: a server that sends a byte a minute would outlast any socket's timeout."""
        left = ends - time.monotonic()
        if left <= 0:
            raise ModelError(f"{self.where} gave no answer within {self.timeout:g} s")
        sent.append(None)
        done: Queue[_Reply | ModelError] = Queue()
        Thread(target=lambda: done.put(self._exchange(body, left)), daemon=True).start()
        try:
            reply = done.get(timeout=left)
        except Empty:
            raise ModelError(f"{self.where} gave no answer within {self.timeout:g} s") from None
        if isinstance(reply, ModelError):
            raise reply
        return reply

    def _exchange(self, body: Mapping[str, Any], left: float) -> _Reply | ModelError:
        # Imported here: a quarter of a second that only those pay who ask a model.
        from http.client import HTTPException
        from urllib.error import HTTPError, URLError
        from urllib.request import HTTPRedirectHandler, Request, build_opener

        class _Stay(HTTPRedirectHandler):
            def redirect_request(self, *_: Any) -> None:
                return None

        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        if self.key:
            headers["Authorization"] = f"Bearer {self.key}"
        url = self.base_url.rstrip("/") + "/chat/completions"
        request = Request(url, json.dumps(body).encode(), headers, method="POST")
        try:
            with build_opener(_Stay).open(request, timeout=left) as reply:
                return _Reply(reply.status, _whole(reply, self.where), reply.headers.get("Retry-After", ""))
        except HTTPError as error:
            with error:
                return _Reply(error.code, error.read(LARGEST), error.headers.get("Retry-After", ""))
        except TimeoutError:
            return ModelError(f"{self.where} gave no answer within {self.timeout:g} s")
        except URLError as error:
            return NotAskedError(f"{self.where} cannot be reached: {error.reason}")
        except (OSError, HTTPException, ValueError) as error:
            return ModelError(f"{self.where}: the connection broke ({type(error).__name__})")
        except ModelError as error:
            return error

    def _read(self, body: bytes) -> Answered:
        try:
            document = json.loads(body)
            choice = document["choices"][0]
            message = choice["message"]
            text, refusal = message.get("content"), message.get("refusal")
        except (ValueError, KeyError, IndexError, TypeError, AttributeError, RecursionError):
            raise UnansweredError(f"{self.where} gave an answer that is no chat completion") from None
        if refusal or choice.get("finish_reason") == "content_filter":
            raise UnansweredError(f"{self.name} refused to answer")
        if choice.get("finish_reason") == "length":
            raise UnansweredError(f"{self.name} was cut off before its answer ended")
        if not isinstance(text, str):
            raise UnansweredError(f"{self.name} gave an empty answer")
        usage = document.get("usage")
        usage = usage if isinstance(usage, dict) else {}
        return Answered(text, token_count(usage.get("prompt_tokens")), token_count(usage.get("completion_tokens")))


def _whole(reply: Any, where: str) -> bytes:
    body: bytes = reply.read(LARGEST + 1)
    if len(body) > LARGEST:
        raise ModelError(f"{where} gave an answer of more than {LARGEST} bytes")
    promised = reply.headers.get("Content-Length", "")
    if promised.isdecimal() and len(body) < int(promised):
        raise ModelError(f"{where}: the connection broke before the answer ended")
    return body


def _seconds(text: str) -> float:
    """What a busy endpoint asks for, as far as we go along with it; half a second where it says nothing."""
    try:
        wanted = float(text)
    except ValueError:
        return 0.5
    return min(wanted, LONGEST_WAIT) if wanted > 0 else 0.5


def _said(body: bytes) -> str:
    """The error's own words, short; empty where there are none."""
    try:
        error = json.loads(body)["error"]
        text = error if isinstance(error, str) else error["message"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return ""
    return f": {text[:200]}" if isinstance(text, str) else ""
