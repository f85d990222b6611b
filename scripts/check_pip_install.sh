#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
# `pip install .` in a clean environment, without ROS: the command answers, the robots' descriptions are found, every
# ROS-free module imports, and a bag with live metrics is read by the definitions that it holds. PYTHON=... chooses the Python; further arguments go to pip (such as 'numpy<2').
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

# pip builds in the source folder: it gets a copy, so that the checkout stays clean.
mkdir "$FOLDER/source"
(cd "$ROOT" && cp -r setup.py setup.cfg pyproject.toml package.xml README.md LICENSE frame_ros urdf config msg "$FOLDER/source")
"$PYTHON" -m venv "$FOLDER/venv"
"$FOLDER/venv/bin/python" -m pip install --disable-pip-version-check --quiet "$FOLDER/source" "$@" \
  >"$FOLDER/log" 2>&1 || fail_with_log

cd "$FOLDER"
venv/bin/frame-ros --help >/dev/null
venv/bin/python - <<'CHECK'
import importlib
import pkgutil
import sys

import frame_ros
from frame_ros.core.errors import MissingExtraError
from frame_ros.robots import load_robot

ROS_SIDE = ('frame_ros.nodes', 'frame_ros.cli.ros2')
imported, without = 0, []
for module in pkgutil.walk_packages(frame_ros.__path__, 'frame_ros.', onerror=lambda name: None):
    if module.name.startswith(ROS_SIDE):
        continue
    try:
        importlib.import_module(module.name)
        imported += 1
    except MissingExtraError:
        without.append(module.name)
for name in ('so101', 'fr3', 'panda'):
    robot = load_robot(name)
    robot.forward([0.5 * (low + high) for low, high in zip(robot.lower, robot.upper)])
version = importlib.import_module('importlib.metadata').version('frame_ros')
print(f'frame_ros {version} on Python {sys.version.split()[0]}: {imported} modules import,', end=' ')
print(f'{len(without)} wait for their extra ({", ".join(without) or "none"}); 3 robots load')
CHECK

# A bag brings the definitions of its messages: none of the installation's may be needed to read it.
venv/bin/python "$ROOT/test/episodes/live_bags.py" "$FOLDER/bag"
rm -r venv/share/frame_ros/msg
venv/bin/frame-ros report "$FOLDER/bag" --json "$FOLDER/report.json"
venv/bin/python - "$FOLDER/report.json" <<'CHECK'
import json
import sys

with open(sys.argv[1], encoding='utf-8') as file:
    parity = json.load(file)['parity']
print(f'a bag with live metrics: {parity["text"]}')
sys.exit(0 if parity['holds'] and parity['compared'] > 1000 else 1)
CHECK
