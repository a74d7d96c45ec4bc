"""Handing a task over: what a package rests on, the ladder of recorded steps, and starting the receiver."""
