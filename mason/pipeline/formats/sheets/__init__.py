"""Sheets of workbooks: where their tables stand, and what their cells hold."""
