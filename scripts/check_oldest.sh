#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
# The oldest series of packages that setup.cfg allows (of >=4.8 the newest 4.8.x), in an environment of their own, and the
# core's tests on them: a version that is too old fails here, not at a user's. PYTHON=... chooses the Python; further arguments go to pytest.
set -euo pipefail
ROOT="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
PYTHON="${PYTHON:-$("$ROOT/scripts/find_python.sh")}"
FOLDER="$(mktemp -d)"
trap 'rm -rf "$FOLDER"' EXIT
unset PYTHONPATH AMENT_PREFIX_PATH CMAKE_PREFIX_PATH COLCON_PREFIX_PATH

# What pip says is shown where it fails: otherwise it is about the indexes that this machine's pip is set to.
fail_with_log() {
  cat "$FOLDER/log" >&2
  exit 1
}

"$PYTHON" - "$ROOT/setup.cfg" >"$FOLDER/oldest.txt" <<'OLDEST'
import configparser
import sys

metadata = configparser.ConfigParser()
metadata.read(sys.argv[1], encoding='utf-8')
for line in metadata['options']['install_requires'].split():
    print(line.replace('>=', '==') + '.*')
OLDEST
"$PYTHON" -m venv "$FOLDER/venv"
"$FOLDER/venv/bin/python" -m pip install --disable-pip-version-check --quiet --no-compile -r "$FOLDER/oldest.txt" \
  "$(grep '^pytest==' "$ROOT/requirements/test.txt")" "$(grep '^hypothesis==' "$ROOT/requirements/test.txt")" \
  >"$FOLDER/log" 2>&1 || fail_with_log
echo "oldest allowed: $(tr '\n' ' ' <"$FOLDER/oldest.txt")"
cd "$ROOT"
PYTHONPATH="$ROOT" "$FOLDER/venv/bin/python" -m pytest -q -p no:cacheprovider test/core/test_input_files.py test/metrics/test_safety_metrics.py \
  test/metrics/test_trajectory_metrics.py test/metrics/test_bad_input.py test/episodes/test_reading.py test/bags/test_file_limits.py test/robots/test_robot.py "$@"
