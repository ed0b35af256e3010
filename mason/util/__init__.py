"""Leaves: small things with one job that everything else may use."""
