"""The use cases: one function each, used by the app, the command line and agents' tools alike."""
