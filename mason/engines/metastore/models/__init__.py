"""What clients of the metastore role speak about."""
