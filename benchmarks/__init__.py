"""What Mason costs beside its rivals. Each script measures both in one run; `report.py` writes docs/performance.md."""
