#!/usr/bin/env bash
# Checks and tests Mason; sets itself up on a fresh machine. Arguments go to pytest: scripts/test.sh -k config
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/install.sh --dev
scripts/check.sh
exec .venv/bin/python -m pytest -n "${MASON_TEST_PROCESSES:-2}" --dist loadscope "$@"
