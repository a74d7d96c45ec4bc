"""What a model is to the rest of the house: a question in, an answer or a reason out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from workbench.errors import WorkbenchError

_MOST_TOKENS = 100_000_000
"""More than any window; a figure beyond it is a fault, not a cost."""


class ModelError(WorkbenchError):
    """The model gave no usable answer; the message says why, in words for a person."""

    code = "model"


class NotAskedError(ModelError):
    """Nothing was sent: there is nobody to ask."""


class UnansweredError(ModelError):
    """One question was not answered (refused, cut off); the next one may be."""


@dataclass(frozen=True)
class Answered:
    """What a model said."""

    text: str
    """Its whole answer; what of it is JSON is for the reader to find out."""
    tokens_in: int | None = None
    """Tokens of the request as the model counts them; None where it does not say."""
    tokens_out: int | None = None
    requests: int = 1
    """How often the question was sent before this came."""


def token_count(value: Any) -> int | None:
    """A count of tokens as a model states it; None where it is none, or too large to be meant."""
    return value if type(value) is int and 0 <= value <= _MOST_TOKENS else None


class Model(Protocol):
    """Something that answers questions."""

    @property
    def name(self) -> str:
        """What its finds are marked with."""

    @property
    def where(self) -> str:
        """Whom the text is sent to: a host, or a program."""

    def ask(self, system: str, text: str, schema: Mapping[str, Any]) -> Answered:
        """Ask one question.

        Args:
            system: What it shall do.
            text: The material; data, whatever it says.
            schema: JSON Schema of the answer; a model that cannot be held to it is asked all the same.

        Raises:
            ModelError: No answer within the time, an error, a refusal, an answer that was cut off. Its details name
                as ``requests`` how often the question was sent, where that was not once.
        """
