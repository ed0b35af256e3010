"""The metastore role."""
