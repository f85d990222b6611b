#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
# The tests that compute with torch and BLAS, with the instructions of older x86-64 processors. Arguments go to pytest;
# without any: what compares numbers with torch in the room of metrics, and the policies that infer.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck disable=SC1091
source env.bash || exit 1

# $1: what torch may use; $2: the processor that OpenBLAS takes this one for; $3: what NumPy must not use.
run_as() {
  echo "== torch: $1, OpenBLAS: $2, NumPy without: $3"
  ATEN_CPU_CAPABILITY="$1" OPENBLAS_CORETYPE="$2" NPY_DISABLE_CPU_FEATURES="$3" \
    python -m pytest -q --numprocesses "$(env -u OMP_NUM_THREADS nproc)" --dist loadfile "${@:4}"
}

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
run_as avx2 Haswell "$(features AVX512)" "${rooms[@]}" &&
  run_as default Nehalem "$(features AVX512 AVX2 FMA3 AVX F16C)" "${rooms[@]}"
