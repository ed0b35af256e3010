#!/usr/bin/env bash
# Shows Mason at work on sample data, in a folder and a MASON_HOME of its own: ./demo
set -euo pipefail
exec 2>&1 3>&1  # 3: where command lines are shown, whatever a step does with the output of its command
cd "$(dirname "$0")/.."
scripts/install.sh

rm -rf demo
mkdir demo
cp -R mason/examples/data/suppliers demo/suppliers
export MASON_HOME="$PWD/demo/.mason" PATH="$PWD/.venv/bin:$PATH"
unset MASON_CONFIG MASON_STATE
# A Spark server of its own as well, however the demo ends: stopping another one would fail the jobs that run on it.
MASON_RUNTIME_DIR="$(mktemp -d)"
export MASON_RUNTIME_DIR
trap 'mason spark stop >/dev/null 2>&1 || true; rm -rf "$MASON_RUNTIME_DIR"' EXIT
cd demo

step() { printf '\n\033[1m# %s\033[0m\n' "$1"; }
run() { shown "$@" >&3; "$@" 3>&-; }
shown() {  # as it could be typed: in quotes what the shell would take apart
  printf '$'
  for word in "$@"; do
    case $word in *[!A-Za-z0-9_.,:/=-]*) printf " '%s'" "$word" ;; *) printf ' %s' "$word" ;; esac
  done
  printf '\n'
}

step "Register the operators that come with Mason"
run mason register mason/examples/operators/

step "Three suppliers sent files: what is there?"
columns() { python -c 'import json, sys
for row in json.load(sys.stdin)["Data"]:
    print("  ", row["Name"])
    for column in row.get("Schema", {}).get("Columns", ()):
        print("     ", column["Name"].ljust(10), column["Type"])'; }
run mason operator table list -p "database_name:suppliers" 2>/dev/null | columns

step "One supplier, two months, columns that moved: matched by name, article numbers kept as text"
run mason operator table get -p "database_name:suppliers,table_name:acme"

step "What would one table of all suppliers look like? A plan writes nothing (what it says on stderr)"
run mason operator table infer --plan -p "database_name:suppliers,storage_path:suppliers,table_name:articles" >/dev/null

step "Keep it"
run mason operator table infer -p "database_name:suppliers,storage_path:suppliers,table_name:articles" >/dev/null

step "And look at it"
run mason operator table get -p "database_name:suppliers,table_name:articles" 2>/dev/null | columns

step "Plan a merge of all of it: what would be read, which columns conflict, which record is odd"
run mason operator table merge --plan -p "input_path:suppliers,output_path:warehouse/articles" >/dev/null

step "Merge it on Spark: every record counted, the bad one set aside"
run mason operator table merge -p "input_path:suppliers,output_path:warehouse/articles" >/dev/null

step "The record that did not fit, with its place"
run mason operator table quarantine -p "path:warehouse/articles" 2>/dev/null

step "Write it to a file, mend it (its last field was missing), and merge it again"
run mason operator table quarantine -p "path:warehouse/articles,action:export,file:bad.csv" >/dev/null
run sed -i.before 's/2.90;true/2.90;true;2026-01-16 17:05:00/' bad.csv
run mason operator table quarantine -p "path:warehouse/articles,action:replay,file:bad.csv" >/dev/null

step "The merged table"
run mason operator table get -p "database_name:warehouse,table_name:articles" 2>/dev/null | columns

step "Ask it in SQL"
rows() { python -c 'import json, sys
for row in json.load(sys.stdin)["Data"][0]["Rows"]:
    print("  ", ", ".join(f"{name}: {value}" for name, value in row.items()))'; }
query="select in_stock, count(*) as articles, min(name) as first, max(updated) as newest from articles group by in_stock order by in_stock"
run mason operator table query -p "database_name:warehouse,query_string:$query" 2>/dev/null | rows

step "An operator of one's own: a folder with what it reads and writes, and the SQL in between"
mkdir stocked
cat > stocked/operator.yaml <<'YAML'
type: operator
namespace: articles
command: stocked
description: Articles in stock
parameters:
  required:
    - {name: articles, type: table, access: read}
    - {name: output, type: table, access: write}
checks:
  - not_null name
YAML
echo "SELECT * FROM articles WHERE in_stock" > stocked/transform.sql
run mason operator ./stocked -p "articles:warehouse.articles,output:warehouse.stocked" >/dev/null

step "What do its columns hold?"
run mason operator table summarize -p "path:warehouse/articles,html:summary.html" >/dev/null

step "Is this machine ready for more?"
run mason doctor

cat <<TEXT

The merged table is in $PWD/warehouse/articles (plain Parquet). To look around yourself:

  source $(dirname "$PWD")/.venv/bin/activate
  cd $PWD && export MASON_HOME=$MASON_HOME
  mason operator
TEXT
