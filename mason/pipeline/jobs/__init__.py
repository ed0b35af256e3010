"""The types of job that come with Mason, a package each, and what several of them use."""
