"""One file a figure; results/ holds what was measured, and on what."""
