"""Configuration: environment > the user's file > the workspace's file > defaults; what is wrong in it is said."""

from workbench.config.dirs import UserDirs, user_dirs
from workbench.config.load import load_config
from workbench.config.model import AgentConfig, BudgetConfig, Config, ModelConfig, WatchConfig

__all__ = [
    "AgentConfig",
    "BudgetConfig",
    "Config",
    "ModelConfig",
    "UserDirs",
    "WatchConfig",
    "load_config",
    "user_dirs",
]
