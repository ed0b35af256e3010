"""Where the secrets of a configuration may be kept; each module here knows one such place."""
