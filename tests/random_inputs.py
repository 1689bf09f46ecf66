"""How many random inputs the property tests try: fewer with `make quick`."""

from hypothesis import settings

USUAL, QUICK = "kgraft", "quick"

settings.register_profile(USUAL, max_examples=40, deadline=None)
settings.register_profile(QUICK, max_examples=10, deadline=None)


def at_most(examples):
    """Return a number of examples for `max_examples`; the profile `quick` lowers it."""
    if settings.get_current_profile_name() == QUICK:
        return min(examples, settings.get_profile(QUICK).max_examples)
    return examples
