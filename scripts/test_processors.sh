#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
# The tests that compute with torch and BLAS, with the instructions of older x86-64 processors. Arguments go to pytest;
# without any: what compares numbers with torch in the room of metrics, and the policies that infer.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck disable=SC1091
source env.bash || exit 1

logs="$(mktemp -d)"
trap 'rm -rf "$logs"' EXIT
export logs

# $1: what torch may use; $2: the processor that OpenBLAS takes this one for; $3: what NumPy must not use. One process:
# to import torch and LeRobot takes as long as the tests.
run_as() {
  local rooms status=0
  mapfile -t rooms <"$logs/rooms"
  ATEN_CPU_CAPABILITY="$1" OPENBLAS_CORETYPE="$2" NPY_DISABLE_CPU_FEATURES="$3" \
    python -m pytest -q "${rooms[@]}" >"$logs/$1" 2>&1 || status=$?
  echo "== torch: $1, OpenBLAS: $2, NumPy without: $3" && cat "$logs/$1"
  return "$((status > 0))"
}
export -f run_as

# NumPy refuses the names of features that it was not built with.
features() {
  python - "$@" <<'PYTHON'
import sys

from numpy._core import _multiarray_umath as built

print(*(name for name in built.__cpu_dispatch__ if name.startswith(tuple(sys.argv[1:]))))
PYTHON
}

rooms=("$@")
checkpoints=test/policies/lerobot_checkpoints
if [ $# -eq 0 ]; then
  mapfile -t rooms < <(grep -lr torch test/metrics --include='test_*.py' | xargs grep -lE 'approx|allclose|array_equal')
  rooms+=("$checkpoints/test_lerobot.py" "$checkpoints/test_lerobot_families.py")
  rooms+=(test/policies/test_features.py test/policies/token_vla/test_token_vla.py)
fi
printf '%s\n' "${rooms[@]}" >"$logs/rooms"
# Side by side; all that one prints comes at once, at its end.
printf '%s\n' "run_as avx2 Haswell '$(features AVX512)'" \
  "run_as default Nehalem '$(features AVX512 AVX2 FMA3 AVX F16C)'" | xargs -P 2 -d '\n' -I {} bash -c '{}'
