#!/usr/bin/env bash
# Shows Mason at work on sample data, in a folder and a MASON_HOME of its own: ./demo
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/install.sh

rm -rf demo
mkdir demo
cp -R mason/examples/data/suppliers demo/suppliers
export MASON_HOME="$PWD/demo/.mason" PATH="$PWD/.venv/bin:$PATH"
unset MASON_CONFIG
cd demo

step() { printf '\n\033[1m# %s\033[0m\n' "$1"; }
run() { printf '$ %s\n' "$*"; "$@" 2>&1; }

step "Register the operators that come with Mason"
run mason register mason/examples/operators/

step "Three suppliers sent files: what is there?"
run mason operator table list -p "database_name:suppliers"

step "One supplier's files, two months, columns that moved: matched by name, article numbers kept as text"
run mason operator table get -p "database_name:suppliers,table_name:acme"

step "What would one table of all suppliers look like? Nothing is written yet"
run mason operator table infer --plan -p "database_name:suppliers,storage_path:suppliers,table_name:articles"

step "Keep it"
run mason operator table infer -p "database_name:suppliers,storage_path:suppliers,table_name:articles"

step "Is this machine ready for more?"
run mason doctor

printf '\nThe data, and what Mason keeps of them, are in %s. Look around: cd demo; mason operator --help\n' "$PWD"
