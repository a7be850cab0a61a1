#!/usr/bin/env bash
# Installs the package into a new virtual environment, as a user would, and runs all its tests there.
#
#   wheel_test.sh PYTHON PROGRAM
set -euo pipefail
source=$(cd "$(dirname "$0")/../.." && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$1" -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet "$source[test]"
cd "$folder"
export DEWPOINT=$2
"$folder/venv/bin/python" -m pytest -q -p no:cacheprovider "$source/python/tests"
"$folder/venv/bin/python" -m pytest -q -p no:cacheprovider --doctest-glob='*.md' \
  "$source/docs/guide/python.md"
[ "$("$folder/venv/bin/dewpoint" --version | head -n 1 | cut -d' ' -f2)" = \
  "$("$2" --version | head -n 1 | cut -d' ' -f2)" ]
