"""The contracts of the four engine roles."""
