#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
# Every benchmark, one after the other; arguments go to each. Exit 1, with their names, if any of them failed.
#   scripts/benchmarks.sh --short     a few seconds each: that they work, not how fast. Those without ROS run beside
#                                     those with it.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck disable=SC1091
source env.bash || exit 1

results="$(mktemp -d)"
trap 'rm -rf "$results"' EXIT

# Runs these benchmarks one after the other, with the arguments of this script.
run() {
  local script started
  for script in "$@"; do
    started=$SECONDS
    echo "== $script ${options[*]}"
    python "$script" "${options[@]}" || echo "$script" >>"$results/failed"
    echo "== $script: $((SECONDS - started)) s"
  done
}

options=("$@")
mapfile -t scripts < <(grep -l '^if __name__ == .__main__.:' benchmarks/*.py)
if [[ " $* " == *' --short '* ]]; then
  # An arm that wants a command every millisecond needs the machine for itself.
  mapfile -t alone < <(grep -l 'franky_world' "${scripts[@]}")
  mapfile -t scripts < <(grep -L 'franky_world' "${scripts[@]}")
  mapfile -t with_ros < <(grep -lE 'rclpy|frame_ros\.nodes|frame-ros' "${scripts[@]}")
  mapfile -t without_ros < <(grep -LE 'rclpy|frame_ros\.nodes|frame-ros' "${scripts[@]}")
  run "${without_ros[@]}" >"$results/without_ros" 2>&1 &
  run "${with_ros[@]}"
  wait
  cat "$results/without_ros"
  run "${alone[@]}"
else
  run "${scripts[@]}"
fi
if [ -f "$results/failed" ]; then
  sed 's/^/failed, or missed a bar: /' "$results/failed" >&2
  exit 1
fi
echo "benchmarks: all done in $SECONDS s"
