"""What the tests with faults share with those of the command line."""

from tests.cli.conftest import run as run
