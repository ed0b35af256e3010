#!/usr/bin/env bash
# Runs every benchmark and writes docs/performance.md; arguments go to each of them: benchmarks/all.sh --scale 0.01
# One that fails does not keep the others from running, but is told at the end.
set -uo pipefail
cd "$(dirname "$0")/.."
trap 'exit 130' INT
failed=()
for script in commands projects merge explode format merge_pyspark overhead small_merge pool summarize dedupe query small_query memory executors s3 glue workflow api; do
    echo "== $script"
    .venv/bin/python -m "benchmarks.$script" "$@" || failed+=("$script")
done
.venv/bin/python -m benchmarks.report
if [ ${#failed[@]} -gt 0 ]; then
    echo "failed: ${failed[*]}" >&2
    exit 1
fi
