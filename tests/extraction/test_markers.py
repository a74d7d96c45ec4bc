"""The markers as data: each is well formed, though most are compiled only when a text may hold them."""

from __future__ import annotations

import pytest

from workbench.extraction.correcting import corrections_for
from workbench.extraction.rules import LANGUAGES, rules_for


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_marker_and_pattern_is_well_formed(language: str) -> None:
    rules = rules_for(language)
    for index in (rules.book.index, rules.readings, corrections_for(language).patterns):
        assert index.markers
        for marker in index.markers:
            marker.compile()
