#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
# Style, formatting, types; shell syntax; well-formed XML. Says all that is wrong before it fails.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck disable=SC1091
source env.bash || exit 1

failed=()
check() {
  echo "== $*"
  "$@" || failed+=("$1 ${2:-}")
}

shell_syntax() {
  local file status=0
  for file in env.bash scripts/*.sh .ci/run; do bash -n "$file" || status=1; done
  return "$status"
}

well_formed_xml() {
  python - <<'PYTHON'
import sys
import xml.etree.ElementTree
from pathlib import Path

wrong = 0
for path in [Path('package.xml'), *Path('config').glob('*.xml'), *Path('urdf').rglob('*.urdf'), *Path('urdf').rglob('*.xml')]:
    try:
        xml.etree.ElementTree.parse(path)
    except xml.etree.ElementTree.ParseError as error:
        print(f'{path}: {error}')
        wrong += 1
sys.exit(wrong > 0)
PYTHON
}

check ruff check --quiet .
check ruff format --check --quiet .
check mypy
check shell_syntax
check well_formed_xml
if command -v shellcheck >/dev/null; then
  check shellcheck env.bash scripts/*.sh .ci/run
fi

if [ ${#failed[@]} -gt 0 ]; then
  printf 'failed: %s\n' "${failed[@]}" >&2
  exit 1
fi
echo 'lint: all checks passed'
