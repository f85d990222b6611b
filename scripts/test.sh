#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
# All tests, or those that the arguments, which go to pytest, select. All of them run in two parts: what needs no
# ROS graph on every core, then nodes and demo one after the other, since they are processes with deadlines.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck disable=SC1091
source env.bash

if [ $# -gt 0 ]; then
  exec python -m pytest "$@"
fi
alone=(test/nodes test/launch test/test_demo*.py)
python -m pytest -q --numprocesses "$(nproc)" --dist loadfile "${alone[@]/#/--ignore=}" test || failed=yes
python -m pytest "${alone[@]}" || failed=yes
if [ -n "${failed:-}" ]; then
  echo 'tests failed; see above, both parts have a summary' >&2
  exit 1
fi
