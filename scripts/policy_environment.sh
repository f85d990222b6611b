#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
# Makes .venv-policy: Python 3.12 or 3.13 with LeRobot 0.6 and `frame-ros serve`, without ROS. Several GB.
#   scripts/policy_environment.sh          for serving
#   scripts/policy_environment.sh tests    and what the tests of policies need
# PYTHON=... names the Python.
set -euo pipefail
ROOT="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
VENV="$ROOT/.venv-policy"
cd "$ROOT"

die() {
  echo "[frame_ros] ERROR: $1" >&2
  exit 1
}

find_python() {
  local candidate version
  for version in 3.12 3.13; do
    for candidate in ${PYTHON:+"$PYTHON"} "$(command -v "python$version" || true)" \
      "${PYENV_ROOT:-$HOME/.pyenv}/versions/$version".*/bin/python; do
      if [ -n "$candidate" ] && "$candidate" -c 'import sys, venv; sys.exit(not (3, 12) <= sys.version_info[:2] <= (3, 13))' 2>/dev/null; then
        echo "$candidate"
        return
      fi
    done
  done
  die 'LeRobot 0.6 needs Python 3.12 or 3.13, with venv: install one, or name it: make policy-environment PYTHON=...'
}

key="$(cat requirements/policy-server.txt setup.cfg setup.py package.xml | sha256sum | cut -d' ' -f1) ${1:-serve}"
if [ -f "$VENV/.frame_ros" ] && [ "$(cat "$VENV/.frame_ros")" = "$key" ]; then
  echo '[frame_ros] .venv-policy is up to date'
  exit 0
fi
python="$(find_python)"
echo "[frame_ros] making .venv-policy of $("$python" --version): LeRobot 0.6, torch and frame_ros (several GB)"
[ -x "$VENV/bin/python" ] || "$python" -m venv "$VENV"
touch "$VENV/COLCON_IGNORE"
pip=("$VENV/bin/python" -m pip install --disable-pip-version-check --quiet)
"${pip[@]}" -r requirements/policy-server.txt
[ "${1:-serve}" = serve ] || "${pip[@]}" -r <(grep -E '^(pytest|hypothesis)==' requirements/test.txt)
# The sources are used where they lie, as in the robot's environment: one edit counts for both.
"$VENV/bin/python" - "$ROOT" <<'CODE'
import pathlib
import sys
import sysconfig

pathlib.Path(sysconfig.get_path('purelib'), 'frame_ros_checkout.pth').write_text(sys.argv[1] + '\n')
CODE
install -m 755 scripts/frame-ros "$VENV/bin/frame-ros"
sed -i "1s|.*|#!$VENV/bin/python|" "$VENV/bin/frame-ros"
echo "$key" >"$VENV/.frame_ros"
echo "[frame_ros] ready: .venv-policy/bin/frame-ros serve --policy lerobot --checkpoint DIR"
