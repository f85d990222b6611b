#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
# Every benchmark, one after the other; arguments go to each. Exit 1, with their names, if any of them failed.
#   scripts/benchmarks.sh --short     a few seconds each: that they work, not how fast. Three at a time; one that takes
#                                     more than 10 minutes is stopped where it stands, which it prints, and has failed.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck disable=SC1091
source env.bash || exit 1

results="$(mktemp -d)"
trap 'rm -rf "$results"' EXIT
export results PYTHONFAULTHANDLER=1

# Runs one benchmark, $1; the others are its arguments.
run() {
  local started=$SECONDS limit=()
  [[ " $* " != *' --short '* ]] || limit=(timeout --signal ABRT --kill-after 20 600)
  echo "== $*"
  "${limit[@]}" python "$@" || echo "$1" >>"$results/failed"
  echo "== $1: $((SECONDS - started)) s"
}
# The same for one of several at a time: all that it prints comes at once, at its end.
run_quietly() {
  run "$@" >"$results/$(basename "$1").log" 2>&1
  cat "$results/$(basename "$1").log"
}
export -f run run_quietly

mapfile -t scripts < <(grep -l '^if __name__ == .__main__.:' benchmarks/*.py)
if [[ " $* " == *' --short '* ]]; then
  # An arm that wants a command every millisecond needs the machine for itself.
  mapfile -t alone < <(grep -l 'franky_world\|franka_sim' "${scripts[@]}")
  mapfile -t scripts < <(grep -L 'franky_world\|franka_sim' "${scripts[@]}")
  # In one domain of the user's choice the nodes of two would hear each other.
  printf '%s\n' "${scripts[@]}" | xargs -P "$([ -z "${ROS_DOMAIN_ID:-}" ] && echo 3 || echo 1)" -I {} bash -c 'run_quietly "$@"' run {} "$@"
  scripts=("${alone[@]}")
fi
for script in "${scripts[@]}"; do run "$script" "$@"; done
if [ -f "$results/failed" ]; then
  sed 's/^/failed, or missed a bar: /' "$results/failed" >&2
  exit 1
fi
echo "benchmarks: all done in $SECONDS s"
