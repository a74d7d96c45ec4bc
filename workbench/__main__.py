"""The program ``workbench``."""

import gc

gc.disable()  # nothing of what is loaded now is garbage; the collector begins once a workspace is open

from workbench.cli.run import main  # noqa: E402

if __name__ == "__main__":
    raise SystemExit(main())
