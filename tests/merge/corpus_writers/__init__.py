"""Writes the small files of the corpus with what they hold, by hand and by libraries other than Mason."""
