"""The model layer over what the rules left open: off unless the person set a model and asks for it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace

from workbench.config import Config
from workbench.extraction import Extraction, Find, RuleBook
from workbench.extraction.implied import SCHEMA, SYSTEM, NonsenseError, Question, check, questions
from workbench.extraction.model import Undecided
from workbench.models import Answered, CommandModel, EndpointModel, Model, ModelError, NotAskedError, UnansweredError
from workbench.services.context import HUMAN_SHELL
from workbench.store.mask import mask
from workbench.tokens import counter

KEY = "WORKBENCH_MODEL_KEY"
"""The environment variable that holds the key where ``[model] key_env`` names no other."""
OFF = "the model layer is off: no [model] base_url or command is set; rules alone were asked"


@dataclass
class ModelPass:
    """What asking a model brought, and what it cost."""

    name: str
    asked: int = 0
    """Sentences that were asked about."""
    unasked: int = 0
    """Sentences that were not, because something failed."""
    requests: int = 0
    estimate: int = 0
    """Tokens of all questions, counted here before they were sent."""
    tokens_in: int = 0
    tokens_out: int = 0
    counted_by_model: bool = True
    """Whether all token figures are the model's own; else missing ones were counted here."""
    finds: list[Find] = field(default_factory=list)
    refused: list[tuple[str, str]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def cost(self) -> str:
        """One line for a person."""
        basis = "" if self.counted_by_model else " (counted here)"
        tokens = f"{self.tokens_in:,} tokens in, {self.tokens_out:,} out{basis}"
        return f"{self.name}: {_count(self.requests, 'request')}, {tokens}"


@dataclass(frozen=True)
class ModelLayer:
    """Asks one model about sentences."""

    model: Model
    told: Callable[[str], None]
    """Is given what will be sent, where, and what it is expected to cost, before anything is sent."""

    def look(self, sentences: Iterable[Undecided], book: RuleBook) -> ModelPass:
        """Ask about sentences; a model that fails ends the pass with a note, never with an error.

        Args:
            sentences: What the rules left open, in order.
            book: The rules, whose tests a model's finds must pass.
        """
        asked = list(questions(sentences, mask))
        tokens = counter("o200k")
        result = ModelPass(self.model.name)
        result.estimate = sum(tokens.count(SYSTEM) + tokens.count(question.text) for question in asked)
        if not asked:
            result.notes.append("the rules left nothing open that a model could be asked about")
            return result
        count = sum(len(question.sentences) for question in asked)
        self.told(
            f"asking {self.model.name} at {self.model.where} about {_count(count, 'sentence')} in "
            f"{_count(len(asked), 'request')}, about {result.estimate:,} tokens"
        )
        for place, question in enumerate(asked):
            try:
                answer = self.model.ask(SYSTEM, question.text, SCHEMA)
                result.asked += len(question.sentences)
                _charge(result, question, answer, answer.requests)
                found = check(question, answer.text, self.model.name, book)
            except UnansweredError as problem:
                _charge(result, question, None, problem.details.get("requests", 1))
                _note(result, str(problem))
            except NonsenseError as problem:
                _note(result, f"{self.model.name} gave {problem}")
            except ModelError as problem:
                if not isinstance(problem, NotAskedError):
                    _charge(result, question, None, problem.details.get("requests", 1))
                result.unasked = sum(len(later.sentences) for later in asked[place:])
                _note(result, f"{problem}; not asked about: {_count(result.unasked, 'sentence')}")
                break
            else:
                result.finds += found.finds
                result.refused += found.refused
        return result


def configured(config: Config, env: Mapping[str, str], told: Callable[[str], None]) -> ModelLayer | None:
    """The model layer as the person set it; None where she set none.

    Raises:
        UsageError: The address is none.
    """
    chosen = config.model
    if chosen.base_url:
        key = env.get(chosen.key_env or KEY, "")
        return ModelLayer(EndpointModel(chosen.base_url, chosen.model or "default", key, chosen.timeout), told)
    if chosen.command:
        # A program that we start is no person, whoever started us.
        given = {name: value for name, value in env.items() if name not in (HUMAN_SHELL, "WORKBENCH_ACTOR", KEY)}
        return ModelLayer(CommandModel(chosen.command, given, chosen.timeout), told)
    return None


def joined(rules: Extraction, found: Iterable[Find], order: Mapping[str, int]) -> Extraction:
    """What rules and model found, in the order of the text; a sentence that the model reads is process no longer.

    Args:
        rules: What the rules found.
        found: What the model found.
        order: The place of each message, by its reference.
    """
    added = list(found)
    sentences = {(find.place.message, find.place.sentence) for find in added}
    finds = sorted((*rules.finds, *added), key=lambda find: (order.get(find.place.message, 0), find.place.sentence))
    return replace(rules, finds=tuple(finds), process=max(0, rules.process - len(sentences)))


def _charge(result: ModelPass, question: Question, answer: Answered | None, requests: int) -> None:
    """Book what a question cost, by the model's own count where it gives one; what was sent in vain counts, too."""
    tokens = counter("o200k")
    sent = tokens.count(SYSTEM) + tokens.count(question.text)
    result.requests += requests
    if answer is None:
        result.tokens_in += sent * requests
        result.counted_by_model = False
        return
    if answer.tokens_in is None or answer.tokens_out is None:
        result.counted_by_model = False
    result.tokens_in += sent * (requests - 1) + (sent if answer.tokens_in is None else answer.tokens_in)
    result.tokens_out += tokens.count(answer.text) if answer.tokens_out is None else answer.tokens_out


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}" + ("s" if number != 1 else "")


def _note(result: ModelPass, text: str) -> None:
    if text not in result.notes:
        result.notes.append(text)
