"""Where each key leads. Loaded once the panes are painted: a start has to be quicker than all of this."""

from __future__ import annotations

from collections.abc import Coroutine
from typing import TYPE_CHECKING, Any

from workbench.tui.flows import found, hand, other, saw, sessions, settle, timeline, trim, write
from workbench.tui.messages import Act

if TYPE_CHECKING:
    from workbench.tui.app import WorkbenchApp


def flow_of(app: WorkbenchApp, event: Act) -> Coroutine[Any, Any, Any] | None:
    """What is to be done for ``event``, one step after the other; None where no flow is meant."""
    match event.what:
        case "trim":
            return trim.trim(app, event.refs)
        case "suggest":
            return trim.suggest(app)
        case "settle":
            return settle.settle(app, event.subject)
        case "found":
            return found.found(app)
        case "contest":
            return settle.settle_contest(app, event.subject)
        case "hand":
            return hand.hand_off(app)
        case "renew":
            return hand.renew(app, event.subject)
        case "package":
            return hand.open_package(app, event.subject)
        case "fact":
            return other.look_at_fact(app, event.subject)
        case "edit":
            return write.edit(app, event.subject)
        case "new":
            return write.new(app)
        case "timeline":
            return timeline.timeline(app, event.subject)
        case "saw":
            return saw.saw(app, event.subject)
        case "sessions":
            return sessions.pick(app)
        case "switch":
            return other.switch_task(app)
        case "undo":
            return other.undo(app)
        case "copy":
            return app.copy(event.subject, event.label)
        case "quit":
            return app.leave()
    return None
