"""Keyed pseudonyms and shifts of dates: the same value and key give the same result."""
