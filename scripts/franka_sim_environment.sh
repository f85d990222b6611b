#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
# Makes .venv-franka-sim: Python 3.11 or 3.12 with franka-sim, which benchmarks/franka_sim.py runs there; docs/real-arms.md
# has its size. What is there already and up to date is kept. PYTHON=... names the Python.
set -euo pipefail
ROOT="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
VENV="$ROOT/.venv-franka-sim"
LOCKED="$ROOT/requirements/locked/franka-sim.txt"
unset PYTHONPATH
cd "$ROOT"

find_python() {
  local candidate version
  for version in 3.11 3.12; do
    for candidate in ${PYTHON:+"$PYTHON"} "$(command -v "python$version" || true)" \
      "${PYENV_ROOT:-$HOME/.pyenv}/versions/$version".*/bin/python "$ROOT/.venv/bin/python"; do
      if [ -n "$candidate" ] && "$candidate" -c 'import sys, venv; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 12))' 2>/dev/null; then
        echo "$candidate"
        return
      fi
    done
  done
  echo '[frame_ros] ERROR: franka-sim asks for NumPy 1.26, so for Python 3.11 or 3.12, with venv: install one, or name it: PYTHON=...' >&2
  return 1
}

key="$(sha256sum <"$LOCKED" | cut -d' ' -f1)"
if [ -f "$VENV/.frame_ros" ] && [ "$(cat "$VENV/.frame_ros")" = "$key" ]; then
  echo '[frame_ros] .venv-franka-sim is up to date'
  exit 0
fi
python="$(find_python)"
echo "[frame_ros] making .venv-franka-sim of $("$python" --version): $(grep -o '^franka-sim==[0-9.]*' "$LOCKED")"
rm -rf "$VENV"
"$python" -m venv "$VENV"
touch "$VENV/COLCON_IGNORE"
"$VENV/bin/python" -m pip install --disable-pip-version-check --quiet --no-deps --require-hashes -r "$LOCKED"
echo "$key" >"$VENV/.frame_ros"
