"""Workflows: operators composed into a DAG."""
