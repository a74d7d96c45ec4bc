"""Asking a language model that the person has set: an endpoint, or an agent's own command line."""

from workbench.models.command import CommandModel
from workbench.models.endpoint import EndpointModel
from workbench.models.model import Answered, Model, ModelError, NotAskedError, UnansweredError

__all__ = ["Answered", "CommandModel", "EndpointModel", "Model", "ModelError", "NotAskedError", "UnansweredError"]
