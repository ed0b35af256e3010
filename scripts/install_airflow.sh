#!/usr/bin/env bash
# Makes the environment of the Airflow that the tests talk to, once, and prints its folder. Mason itself does not need it.
set -euo pipefail
cd "$(dirname "$0")/.."

lock=requirements-airflow.lock
python=${PYTHON:-.venv/bin/python}
digest=$(sha256sum "$lock" 2>/dev/null || shasum -a 256 "$lock")
folder=${XDG_CACHE_HOME:-$HOME/.cache}/mason/airflow-${digest:0:16}
mkdir -p "$(dirname "$folder")"

make_environment() {
  rm -rf "$folder"
  "$python" -m venv "$folder"
  # The lock is whole, so there is nothing to resolve.
  "$folder/bin/python" -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes -r "$lock" >&2
  # The tests begin with a copy of this database: making it takes longer than starting Airflow.
  AIRFLOW_HOME="$folder/home" AIRFLOW__CORE__LOAD_EXAMPLES=False "$folder/bin/airflow" db migrate >&2
  touch "$folder/ready"
}

exec 9> "$folder.lock"
"$python" -c 'import fcntl; fcntl.flock(9, fcntl.LOCK_EX)'
[ -e "$folder/ready" ] || make_environment
printf '%s\n' "$folder"
