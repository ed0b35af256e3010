"""A project: a folder with a `mason.yaml`, which says what belongs together on disk."""
