"""The commands, one noun a file: a table of what each takes, and a short function that calls a use case."""
