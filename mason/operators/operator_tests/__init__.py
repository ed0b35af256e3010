"""Tests that lie in an operator's folder, as YAML: what is given, and what must come of it on every configuration."""
