#!/usr/bin/env bash
# Installs Mason into .venv at the project's root, from the hashed locks, and makes sure of a Java for Spark.
#   scripts/install.sh                what running Mason needs
#   scripts/install.sh --extras aws   and what the clients of AWS need
#   scripts/install.sh --dev          and what its tests and checks need, every extra included
set -euo pipefail
cd "$(dirname "$0")/.."

say() { printf '%s\n' "$*" >&2; }

# Each lock holds all of those before it.
locks=(requirements.lock requirements-aws.lock requirements-dev.lock)
lock=${locks[0]}
while [ $# -gt 0 ]; do
  case "$1" in
    --dev) lock=${locks[2]} ;;
    --extras)
      [ "${2:-}" = aws ] || { say "--extras takes aws: for others, pip install 'mason-data[…]'."; exit 2; }
      [ "$lock" = "${locks[2]}" ] || lock=${locks[1]}
      shift ;;
    *) say "scripts/install.sh takes --extras aws and --dev, not $1."; exit 2 ;;
  esac
  shift
done

find_python() {
  for python in "${PYTHON:-}" python3.11 python3.12 python3.13 python3; do
    if [ -n "$python" ] && command -v "$python" >/dev/null 2>&1 &&
       "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
      command -v "$python"; return
    fi
  done
  say "Mason needs Python 3.11 or newer, and none was found. Install it, or set PYTHON to it."; exit 1
}

fingerprint() {
  cat requirements-build.lock "$1" pyproject.toml |
    .venv/bin/python -c 'import hashlib, sys; print(hashlib.sha256(sys.stdin.buffer.read()).hexdigest(), end="")'
}

install_packages() {
  if [ ! -x .venv/bin/python ]; then
    say "Making .venv …"
    python=$(find_python)
    "$python" -m venv .venv || {
      say "The Python at $python cannot make virtual environments."
      say "Debian, Ubuntu: apt-get install python3-venv"; exit 1; }
  fi
  wanted=$(fingerprint "$lock")
  stamp=".venv/installed-$lock"
  if [ "$(cat "$stamp" 2>/dev/null)" != "$wanted" ]; then
    say "Installing packages (the first time this takes some minutes: Spark is large) …"
    local pip=(.venv/bin/python -m pip install --quiet --disable-pip-version-check --no-build-isolation)
    "${pip[@]}" --require-hashes -r requirements-build.lock
    "${pip[@]}" --require-hashes -r "$lock"
    "${pip[@]}" --no-deps --editable .
    # What a larger lock installed need not be looked at again for a smaller one.
    for held in "${locks[@]}"; do
      fingerprint "$held" > ".venv/installed-$held"
      [ "$held" != "$lock" ] || break
    done
  fi
}

install_java() {
  if .venv/bin/python -m mason.util.java >/dev/null 2>&1; then return; fi
  local apt=(apt-get)
  [ "$(id -u)" = 0 ] || apt=(sudo -n apt-get)
  if command -v apt-get >/dev/null 2>&1 && { [ "$(id -u)" = 0 ] || sudo -n true 2>/dev/null; }; then
    say "Installing Java 17 with apt …"
    "${apt[@]}" update -qq >&2 || true
    DEBIAN_FRONTEND=noninteractive "${apt[@]}" install -y -qq openjdk-17-jre-headless >&2 ||
      DEBIAN_FRONTEND=noninteractive "${apt[@]}" install -y -qq openjdk-21-jre-headless >&2 || true
  fi
  .venv/bin/python -m mason.util.java >/dev/null || {
    say "Mason is installed, but its Spark jobs will not run before there is a Java."; exit 1; }
}

prepare_spark() {  # so that it starts in half the time from the first command on; without it, it still works
  [ -z "${MASON_CLASS_ARCHIVES:-}" ] || [ "$MASON_CLASS_ARCHIVES" != off ] || return 0
  say "Preparing Spark (once, about 20 s) …"
  .venv/bin/python -m mason.clients.spark.class_archive >/dev/null || true
}

case "$(uname -s)" in
  Linux | Darwin) ;;
  *) say "Mason runs on Linux, macOS and WSL; Windows itself is not supported."; exit 1 ;;
esac
install_packages
[ "$lock" != requirements-dev.lock ] || .venv/bin/python tests/ministack.py
install_java
prepare_spark
say "Mason is installed. Run .venv/bin/mason, or activate the environment first: source .venv/bin/activate"
