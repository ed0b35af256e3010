#!/usr/bin/env bash
# Resolves the dependencies anew and writes the lock files (needs `uv` on the PATH; nothing else in Mason does).
# The development lock is made first and the others are held to it, so that one environment serves all; ministack alone
# has another.
set -euo pipefail
cd "$(dirname "$0")/.."

options=(--universal --python-version 3.11 --generate-hashes --no-header --no-annotate
         --no-emit-index-url --no-emit-find-links --quiet)

uv pip compile pyproject.toml --group dev --all-extras "${options[@]}" "$@" -o requirements-dev.lock
uv pip compile pyproject.toml -c requirements-dev.lock "${options[@]}" "$@" -o requirements.lock
uv pip compile pyproject.toml --extra aws -c requirements-dev.lock "${options[@]}" "$@" -o requirements-aws.lock
uv pip compile --group pyproject.toml:build -c requirements-dev.lock "${options[@]}" "$@" -o requirements-build.lock
uv pip compile --group pyproject.toml:ministack "${options[@]}" "$@" -o requirements-ministack.lock

# The Airflow that the tests talk to has an environment of its own (scripts/install_airflow.sh).
echo "apache-airflow>=3.3,<3.4" | uv pip compile - "${options[@]}" "$@" -o requirements-airflow.lock
