#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
# The tests that compute with torch and BLAS, with the instructions of older x86-64 processors. Arguments go to pytest;
# without any: what uses torch in the rooms of metrics, policies and robots.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck disable=SC1091
source env.bash || exit 1

# $1: what torch may use; $2: the processor that OpenBLAS takes this one for; $3: what NumPy must not use.
run_as() {
  echo "== torch: $1, OpenBLAS: $2, NumPy without: $3"
  ATEN_CPU_CAPABILITY="$1" OPENBLAS_CORETYPE="$2" NPY_DISABLE_CPU_FEATURES="$3" \
    python -m pytest -q --numprocesses "$(nproc)" --dist loadfile "${@:4}"
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
[ $# -gt 0 ] || mapfile -t rooms < <(grep -lrE 'torch|lerobot' test/metrics test/policies test/robots --include='test_*.py')
run_as avx2 Haswell "$(features AVX512)" "${rooms[@]}" &&
  run_as default Nehalem "$(features AVX512 AVX2 FMA3 AVX F16C)" "${rooms[@]}"
