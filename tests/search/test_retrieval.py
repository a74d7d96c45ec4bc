"""Full-text hits in history reach the rendered prompt, the same ones whatever the state of the index."""

from __future__ import annotations

from tests.search.conftest import Place
from workbench.compiler import Compiled
from workbench.services import cutting, facts, packages, search
from workbench.services.packages import CompileOptions

OLD = "The embedded fonts of the invoices come from the vendor folder, and PDF/A needs all of them."


def talk(place: Place, turns: int) -> None:
    """So many turns about something else."""
    for number in range(turns):
        place.person_says(f"what about the weather, part {number}")
        place.says(f"clouds and sun, part {number}")


def compiled(place: Place, *, read_only: bool = True, **options: object) -> Compiled:
    result = packages.preview(
        place.context(read_only=read_only),
        place.task,
        "codex",
        CompileOptions(budget=3000, **options),  # type: ignore[arg-type]
    ).result
    assert isinstance(result, Compiled)
    return result


def test_an_old_answer_that_fits_the_task_reaches_the_prompt(place: Place) -> None:
    ref = place.says(OLD)
    talk(place, 20)
    package = compiled(place)
    (row,) = [row for row in package.manifest if row.source_type == "retrieved_history"]
    assert row.id == ref
    assert row.included
    assert row.tier == "optional"
    assert row.parts["match"] > 0
    assert OLD in package.prompt
    opened = package.prompt.index("<data-")
    assert package.prompt.index(OLD) > opened


def test_an_old_answer_about_something_else_does_not(place: Place) -> None:
    place.says("Penguins live in the south and are good swimmers")
    talk(place, 20)
    assert [row for row in compiled(place).manifest if row.source_type == "retrieved_history"] == []


def test_a_new_answer_is_not_retrieved_twice(place: Place) -> None:
    talk(place, 20)
    ref = place.says(OLD)
    rows = [row for row in compiled(place).manifest if row.id == ref]
    assert [row.source_type for row in rows] == ["recent_message"]


def test_what_a_person_dropped_stays_out(place: Place) -> None:
    ref = place.says(OLD)
    talk(place, 20)
    ctx = place.context()
    cutting.cut(ctx, place.task, cutting.plan_cut(ctx, place.task, [ref], "drop"), yes=True, why="wrong")
    assert OLD not in compiled(place).prompt


def test_what_tools_printed_is_not_retrieved(place: Place) -> None:
    place.runs("cat notes", OLD)
    talk(place, 20)
    assert OLD not in compiled(place).prompt


def test_an_old_answer_that_states_an_old_value_is_left_out(place: Place) -> None:
    ctx = place.context()
    facts.propose(ctx, "invoices.font", "Garamond")
    place.says("The embedded fonts of the invoices are Garamond, as PDF export needs it.")
    talk(place, 20)
    facts.confirm(ctx, facts.propose(ctx, "invoices.font", "Bodoni").fact.id)
    package = compiled(place)
    (row,) = [row for row in package.manifest if row.source_type == "retrieved_history"]
    assert (row.included, row.reason) == (False, "states_superseded")


def test_a_pin_carries_it_word_for_word_and_a_toggle_takes_it_out(place: Place) -> None:
    ref = place.says(OLD)
    talk(place, 20)
    (row,) = [row for row in compiled(place, pins=frozenset({ref})).manifest if row.id == ref]
    assert (row.tier, row.included) == ("required", True)
    assert OLD not in compiled(place, without=frozenset({ref})).prompt


def test_the_prompt_does_not_depend_on_the_state_of_the_index(place: Place) -> None:
    place.says(OLD)
    for number in range(40):
        place.says(f"invoices export fonts, thought {number}")
    talk(place, 20)
    place.index.unlink(missing_ok=True)
    without = compiled(place)
    assert not place.index.exists()
    search.update(place.context())
    with_index = compiled(place)
    assert (with_index.prompt, with_index.snapshot) == (without.prompt, without.snapshot)
    place.index.write_bytes(b"broken")
    assert compiled(place).snapshot == without.snapshot
    assert compiled(place, read_only=False).snapshot == without.snapshot


def test_a_review_is_not_given_the_writers_old_words(place: Place) -> None:
    place.says(OLD)
    talk(place, 20)
    assert OLD not in compiled(place, mode="review").prompt
