"""Forms of messages, summaries and notes: data, always inside a fence that names where it came from."""

from __future__ import annotations

from workbench.compiler.collect_history import Placed, own_words
from workbench.compiler.layout import Form, Group, Piece, claimed, either, entry, flat, stale_mark, when
from workbench.compiler.qualify import Judged
from workbench.compiler.values import value_text
from workbench.compiler.words import Words
from workbench.domain.note import Note

_SMALL, _OWN_SMALL, _SUMMARY_SMALL, _NOTE_SMALL = 200, 800, 600, 200
"""Characters of the smallest form: what a person wrote is cut last."""


class HistoryShaper:
    """Makes the forms of what was said."""

    def __init__(self, words: Words) -> None:
        self.words = words
        self._sessions: dict[str, tuple[Group, ...]] = {}

    def message(self, judged: Judged) -> list[Form]:
        """Whole, cut, or by reference; old values go to the history block."""
        candidate = judged.candidate
        words, placed = self.words, candidate.record
        limit = _SUMMARY_SMALL if candidate.source_type == "summary" else _SMALL
        session, who, order = "", words["summary"], (candidate.observed_at, candidate.source_id)
        if isinstance(placed, Placed):
            message = placed.item.message
            session = message.session
            order = (f"{placed.place:09d}", candidate.source_id)
            if candidate.source_type != "summary":
                who = words["person"] if own_words(message) else message.session.partition(":")[0]
            if own_words(message):
                limit = _OWN_SMALL
        head = f"{when(candidate.observed_at, words)} {who}: "
        body = candidate.body.strip()
        forms = [self._form(judged, "body", session, order, head + body)]
        if len(body) > limit:
            cut = words["cut"].format(size=len(body), ref=candidate.source_id)
            forms.append(self._form(judged, "excerpt", session, order, head + flat(body, limit) + cut))
        return forms

    def _form(self, judged: Judged, name: str, session: str, order: tuple[str, ...], text: str) -> Form:
        words, candidate = self.words, judged.candidate
        if judged.handling == "history":
            return Form(name, (self._old(judged, text),))
        if candidate.source_type == "summary":
            group = Group("summary", words["summary"], fenced=True)
            return Form(name, (Piece("background", ("2", *order), entry(text), (group,)),))
        return Form(name, (Piece("background", ("3", *order), entry(text), self._of_session(session)),))

    def _of_session(self, session: str) -> tuple[Group, ...]:
        known = self._sessions.get(session)
        if known is None:
            label = flat(self.words["messages"].format(session=session), 120)
            known = self._sessions[session] = (Group(f"messages:{session}", label, fenced=True),)
        return known

    def _old(self, judged: Judged, text: str) -> Piece:
        """In a fence of its own, marked *was X, now Y since T*."""
        candidate = judged.candidate
        label = f"{stale_mark(judged.stale, self.words)}; {flat(candidate.source_id, 120)}"
        group = Group(f"history:{candidate.source_type}:{candidate.source_id}", flat(label, 400), fenced=True)
        return Piece("history", (candidate.source_type, candidate.source_id), entry(text), (group,))

    def note(self, judged: Judged) -> list[Form]:
        """Key and value, cut, or by reference where the value is long."""
        note, words = judged.candidate.record, self.words
        assert isinstance(note, Note)
        value = value_text(note.value)
        text = f"{note.key}: {value}"
        if claims := note.contests.get("value"):
            text = either(note.key, claimed(claims), _NOTE_SMALL, words)
        kind = "0" if note.kind == "structure" else "1"
        group = Group("notes", words["notes"], fenced=True)

        def form(name: str, said: str) -> Form:
            if judged.handling == "history":
                return Form(name, (self._old(judged, said),))
            return Form(name, (Piece("background", ("1", kind, note.key, note.id), entry(said), (group,)),))

        if len(text) <= _NOTE_SMALL:
            return [form("body", text)]
        reference = words["note.reference"].format(key=note.key, size=len(value))
        return [form("reference", reference), form("body", text)]
