#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
# Known vulnerabilities of the packages that the set-up installs, by pip-audit and its database. Exit 1 where there are
# any; where the database cannot be reached, a line says of what nothing was checked.
set -euo pipefail
ROOT="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
PYTHON="${PYTHON:-$("$ROOT/scripts/find_python.sh")}"
FOLDER="$(mktemp -d)"
trap 'rm -rf "$FOLDER"' EXIT
unset PYTHONPATH

skip() {
  echo "audit: SKIPPED, nothing was checked: $1"
  exit 0
}

"$PYTHON" -m venv "$FOLDER/venv"
"$FOLDER/venv/bin/python" -m pip install --disable-pip-version-check --quiet --no-compile pip-audit >"$FOLDER/log" 2>&1 ||
  skip "pip-audit cannot be installed ($(tail -n 1 "$FOLDER/log"))"
options=(--disable-pip --no-deps --progress-spinner off --timeout 15 --format json)
# Each file by itself, side by side: those of different environments have different versions of a package.
for file in "$ROOT"/requirements/locked/*.txt; do
  name="$(basename "$file" .txt)"
  timeout 300 "$FOLDER/venv/bin/pip-audit" "${options[@]}" -r "$file" >"$FOLDER/$name.json" 2>"$FOLDER/$name.log" &
done
wait
came=()
missing=()
for found in "$FOLDER"/*.json; do
  if [ -s "$found" ]; then came+=("$found"); else missing+=("$found"); fi
done
why() {
  echo "its database cannot be reached ($(tail -n 1 "${1%.json}.log" | cut -c1-200))"
}
[ ${#came[@]} -gt 0 ] || skip "$(why "${missing[0]}")"
for found in "${missing[@]}"; do
  echo "audit: $(basename "$found" .json).txt was not checked: $(why "$found")"
done
status=0
"$PYTHON" - "${came[@]}" <<'COUNT' || status=$?
import json
import sys

packages = {}  # name and version -> the package
for path in sys.argv[1:]:
    with open(path, encoding='utf-8') as file:
        every = json.load(file)['dependencies']
    packages |= {(each['name'], each.get('version')): each for each in every}
known = [package for package in packages.values() if 'skip_reason' not in package]
found = [(package, each) for package in known for each in package['vulns']]
for package, each in found:
    fixed = ', '.join(each['fix_versions']) or 'no version yet'
    print(f'{package["name"]} {package["version"]}: {each["id"]}, mended in {fixed}')
print(f'audit: {len(known)} of {len(packages)} packages are in the database, {len(found)} vulnerabilities')
sys.exit(3 if not known else 1 if found else 0)
COUNT
[ $status -ne 3 ] || skip 'its database knows none of the packages: the package index in use has none'
exit $status
