"""The command line: it parses, calls, and shows. It decides nothing."""
