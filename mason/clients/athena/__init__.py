"""AWS Athena: SQL over the tables of the Glue catalog."""
