"""Screens: the main one, and modals that return a value. None of them touches a file."""
