"""Runs of workflows: driven, recorded, followed from any process, and resumed."""
