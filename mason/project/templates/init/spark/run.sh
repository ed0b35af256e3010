#!/usr/bin/env bash
# Checks the project, tests its operators, and runs its workflow.
set -euo pipefail
cd "$(dirname "$0")"
mason validate
mason test operators --require spark
mason workflow orders daily -f parameters/daily.yaml -r
