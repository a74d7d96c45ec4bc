"""From talk to state: what a text holds of facts, decisions, artifacts and open items. Pure; rules are data."""

from workbench.extraction.extract import Extractor, RuleBook
from workbench.extraction.model import KINDS, Extraction, Find, Kind, Place

__all__ = ["KINDS", "Extraction", "Extractor", "Find", "Kind", "Place", "RuleBook"]
