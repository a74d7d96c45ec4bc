"""Fifth stage: the forms in which each item can be carried, smallest first."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from workbench.compiler.candidates import TYPE_ORDER
from workbench.compiler.classify import is_literal
from workbench.compiler.layout import Form
from workbench.compiler.material import Material
from workbench.compiler.qualify import Judged
from workbench.compiler.request import Request
from workbench.compiler.shape_evidence import EvidenceShaper
from workbench.compiler.shape_facts import FactShaper
from workbench.compiler.shape_history import HistoryShaper
from workbench.compiler.shape_state import StateShaper
from workbench.compiler.shape_task import TaskShaper
from workbench.compiler.staleness import Staleness
from workbench.compiler.words import Words

_LARGER = {"reference": 0, "excerpt": 1, "body": 2}


class Shaper:
    """Makes the forms of every qualified candidate of one compile."""

    def __init__(
        self, material: Material, request: Request, words: Words, staleness: Staleness, judged: Iterable[Judged]
    ) -> None:
        qualified = [one for one in judged if one.refusal is None]
        task = TaskShaper(material, words, staleness)
        state = StateShaper(material, request, words, staleness)
        facts = FactShaper(material, words, staleness, qualified)
        evidence = EvidenceShaper(material, words)
        history = HistoryShaper(words)
        self._makers: dict[str, Callable[[Judged], list[Form]]] = {
            "guideline": task.guideline,
            "role": task.role,
            "contract": task.contract,
            "upstream_input": task.upstream_input,
            "workspace_state": task.workspace_state,
            "question": task.question,
            "diff": task.diff,
            "state": state.state,
            "open_item": state.open_item,
            "constraint": facts.fact,
            "decision": facts.fact,
            "fact": facts.fact,
            "failure": evidence.failure,
            "evidence": evidence.evidence,
            "structure_note": history.note,
            "note": history.note,
            "summary": history.message,
            "recent_message": history.message,
            "retrieved_history": history.message,
        }
        assert self._makers.keys() <= TYPE_ORDER.keys()

    def forms(self, judged: Judged) -> tuple[Form, ...]:
        """Its forms, smallest first; one alone where it is carried literally or not at all."""
        made = self._makers[judged.candidate.source_type](judged)
        if len(made) == 1:
            return tuple(made)
        made.sort(key=lambda form: _LARGER[form.name])
        distinct: list[Form] = []
        for form in made:
            if not distinct or _size(form) > _size(distinct[-1]):
                distinct.append(form)
            else:
                # A larger form that says no more replaces the smaller one.
                distinct[-1] = form
        return (distinct[-1],) if is_literal(judged) else tuple(distinct)


def _size(form: Form) -> int:
    return sum([len(piece.text) for piece in form.pieces])
