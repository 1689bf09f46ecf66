"""Wikidata: its ids, its JSON and its values."""
