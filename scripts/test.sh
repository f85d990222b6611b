#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
# All tests, or those that the arguments, which go to pytest, select. All of them run in three parts: what needs no
# ROS graph on every core, then the nodes and the demos, one after the other, since they are processes with deadlines.
# FRAME_ROS_TEST_PROCESSES=2 runs files of tests of nodes side by side, each in ROS domains of its own.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck disable=SC1091
source env.bash

if [ $# -gt 0 ]; then
  exec python -m pytest "$@"
fi
nodes=(test/nodes test/launch) demos=(test/test_demo*.py)
# nproc counts no more than OMP_NUM_THREADS, which env.bash sets.
in_parallel=(-q --numprocesses "$(env -u OMP_NUM_THREADS nproc)" --dist loadfile)
# With one domain for all, nodes of two files would hear each other.
nodes_in_parallel=(-q --numprocesses "${FRAME_ROS_TEST_PROCESSES:-1}" --dist loadfile)
[ -z "${FRAME_ROS_TEST_DOMAIN:-}" ] || nodes_in_parallel=(-q)
ignored=("${nodes[@]}" "${demos[@]}")
python -m pytest "${in_parallel[@]}" "${ignored[@]/#/--ignore=}" test || failed=yes
python -m pytest "${nodes_in_parallel[@]}" "${nodes[@]}" || failed=yes
python -m pytest "${demos[@]}" || failed=yes
if [ -n "${failed:-}" ]; then
  echo 'tests failed; see above, all three parts have a summary' >&2
  exit 1
fi
