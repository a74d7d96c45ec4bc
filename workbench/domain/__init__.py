"""Records and rules of the workbench: frozen, pure, knowing nothing of files, screens or processes.

The words are those of the specification's ``domain.md``; each module holds one of its nouns.
"""
