"""AWS Glue: its data catalog as metastore, its crawlers as scheduler."""
