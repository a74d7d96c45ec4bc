"""The command line: a door for people, scripts and agents onto the same use cases as the app."""
