#!/usr/bin/env bash
# Everything that can be said of the code without running it: lint, format, types, layers.
set -euo pipefail
cd "$(dirname "$0")/.."
.venv/bin/ruff check .
.venv/bin/ruff format --check .
.venv/bin/mypy
.venv/bin/python scripts/layers.py
