"""Tests of the extraction rules, with a labelled set and the script that measures over it."""
