#!/usr/bin/env bash
# Checks and tests Mason; sets itself up on a fresh machine.
#   scripts/test.sh              the checks, then every test
#   scripts/test.sh --quick      the checks, then the tests of the core, which start no server and no Spark
#   scripts/test.sh -k config    what else is given goes to pytest
set -euo pipefail
cd "$(dirname "$0")/.."
core=(tests/parameters tests/util tests/operators tests/pipeline tests/lineage tests/merge/test_corpus_files.py)
export MASON_CLASS_ARCHIVES=off # the tests have a Java of their own, with one
scripts/install.sh --dev
if [ "${1:-}" = --quick ]; then
  shift
  scripts/check.sh
  exec .venv/bin/python -m pytest -n 2 --dist loadscope "${core[@]}" "$@"
fi
scripts/install_airflow.sh >/dev/null & # the tests that talk to it wait for it
.venv/bin/python -m scripts.quick_java >.venv/quick_java & # Spark is started often: it is to start soon
quick_java=$!
scripts/check.sh
wait "$quick_java"
JAVA_HOME=$(cat .venv/quick_java)
export JAVA_HOME
# Three on two cores: tests that start servers and Spark wait much of their time.
exec .venv/bin/python -m pytest -n "${MASON_TEST_PROCESSES:-3}" --dist loadscope "$@"
