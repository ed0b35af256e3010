"""Ids that nobody else has."""

from __future__ import annotations

import random

# Seeded by the system once: asking it for every id would cost a thread that answers requests its turn each time.
_NUMBERS = random.Random(random.SystemRandom().getrandbits(256))


def new_id() -> str:
    """Return 16 characters that no other record has; they are no secret."""
    return f"{_NUMBERS.getrandbits(64):016x}"
