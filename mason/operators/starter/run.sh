#!/usr/bin/env bash
# Checks and saves the configuration, registers the operators of this project, and runs one.
set -euo pipefail
cd "$(dirname "$0")"
mason config config.yaml
mason register -f operators/
mason operator orders describe -c starter -p "table_name:orders"
