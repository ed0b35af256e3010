"""Dedupe: of the rows that say the same, the one is kept that an order says."""
