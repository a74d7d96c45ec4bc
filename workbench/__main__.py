"""The program ``workbench``."""

from workbench.cli.run import main

if __name__ == "__main__":
    raise SystemExit(main())
