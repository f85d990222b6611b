#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
# Every benchmark, one after the other; arguments go to each. Exit 1, with their names, if any of them failed.
#   scripts/benchmarks.sh --short     a few seconds each: that they work, not how fast
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck disable=SC1091
source env.bash || exit 1

failed=()
for script in $(grep -l '^if __name__ == .__main__.:' benchmarks/*.py); do
  started=$SECONDS
  echo "== $script $*"
  python "$script" "$@" || failed+=("$script")
  echo "== $script: $((SECONDS - started)) s"
done
if [ ${#failed[@]} -gt 0 ]; then
  printf 'failed, or missed a bar: %s\n' "${failed[@]}" >&2
  exit 1
fi
echo "benchmarks: all done in $SECONDS s"
