#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
# All tests, or those that the arguments, which go to pytest, select. All of them run in three parts: `computing`, what
# needs no ROS graph, on every core; meanwhile `nodes`, which mostly wait, and then `demos`, one after the other. These
# have deadlines: what computes gives way to them. What failed in any part is named at the end.
# FRAME_ROS_TEST_PROCESSES=2: so many files of tests of nodes side by side, each in ROS domains of its own.
# FRAME_ROS_TEST_OLDER=1 also runs `older`, scripts/test_processors.sh, after `computing`.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck disable=SC1091
source env.bash

if [ $# -gt 0 ]; then
  exec python -m pytest "$@"
fi
logs="$(mktemp -d)"
trap 'rm -rf "$logs"' EXIT
# nproc counts no more than OMP_NUM_THREADS, which env.bash sets.
cores="$(env -u OMP_NUM_THREADS nproc)"
export logs cores

# Parts at the same time have ROS domains of their own: FRAME_ROS_TEST_PART.
computing() {
  local others=(test/nodes test/launch test/test_demo*.py)
  FRAME_ROS_TEST_PART=0/2 nice -n 5 python -m pytest -q --numprocesses "$cores" --dist loadfile "${others[@]/#/--ignore=}" test
}
older() { FRAME_ROS_TEST_PART=0/2 nice -n 5 scripts/test_processors.sh; }
nodes() {
  local in_parallel=(--numprocesses "${FRAME_ROS_TEST_PROCESSES:-2}" --dist loadfile)
  # With one domain for all, nodes of two files would hear each other.
  [ -z "${FRAME_ROS_TEST_DOMAIN:-}" ] || in_parallel=()
  FRAME_ROS_TEST_PART=1/2 python -m pytest -q "${in_parallel[@]}" test/nodes test/launch
}
demos() { FRAME_ROS_TEST_PART=1/2 python -m pytest test/test_demo*.py; }

record() { "$1" 2>&1 || echo "$1" >>"$logs/failed"; }
# Runs parts one after the other, until Ctrl-C, and shows what they print: as it comes, or all of it at the end of each.
show() {
  trap 'exit 130' INT
  for part in "$@"; do record "$part" | tee "$logs/$part"; done
}
show_later() {
  trap 'exit 130' INT
  for part in "$@"; do
    record "$part" >"$logs/$part"
    echo "== $part" && cat "$logs/$part"
  done
}
export -f computing older nodes demos record show show_later

chains=("show computing${FRAME_ROS_TEST_OLDER:+ older}" 'show_later nodes demos')
# In one domain the parts, too, would hear each other.
at_once="$([ -z "${FRAME_ROS_TEST_DOMAIN:-}" ] && echo 2 || echo 1)"
# xargs, since Ctrl-C does not end what bash runs in the background.
printf '%s\n' "${chains[@]}" | xargs -P "$at_once" -I {} bash -c '{}'

echo '== all parts'
for part in computing ${FRAME_ROS_TEST_OLDER:+older} nodes demos; do
  grep -E '^(FAILED|ERROR) ' "$logs/$part" || true
  grep -E ' in [0-9.]+s( \([0-9:]+\))?( =+)?$' "$logs/$part" | sed "s/^[= ]*/$part: /" || echo "$part: did not end"
done
if [ -f "$logs/failed" ]; then
  echo "tests failed: $(tr '\n' ' ' <"$logs/failed")" >&2
  exit 1
fi
