#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
# Prints the path of a Python that the environment can be made of: CPython 3.11 to 3.13, 64 bit, with venv, pip's
# bootstrap and the headers that compile the messages. PYTHON=... names one; otherwise 3.11 is preferred, on PATH or
# among pyenv's. Exit 1, with the reasons on stderr, if there is none.
set -euo pipefail

# Prints nothing if the Python `$1` fits, otherwise why not.
objection() {
  "$1" - 2>/dev/null <<'CHECK' || echo 'does not start'
import os
import sys
import sysconfig

version = '.'.join(map(str, sys.version_info[:2]))
if sys.implementation.name != 'cpython' or sys.maxsize < 2**32:
    print('is not a 64-bit CPython')
elif not (3, 11) <= sys.version_info[:2] <= (3, 13):
    print(f'is Python {version}: the ROS 2 wheels and the pinned versions meet on 3.11, 3.12 and 3.13')
elif not os.path.exists(os.path.join(sysconfig.get_path('include'), 'Python.h')):
    print(f'lacks its headers (Debian and Ubuntu: apt install python{version}-dev)')
else:
    try:
        import ensurepip  # noqa: F401
        import venv  # noqa: F401
    except ImportError:
        print(f'lacks venv or ensurepip (Debian and Ubuntu: apt install python{version}-venv)')
CHECK
}

candidates() {
  if [ -n "${PYTHON:-}" ]; then
    echo "$PYTHON"
    return
  fi
  local version
  for version in 3.11 3.12 3.13; do
    type -ap "python$version" || true
    ls -d "${PYENV_ROOT:-$HOME/.pyenv}/versions/$version".*/bin/python 2>/dev/null | sort -rV || true
  done
  type -ap python3 || true
}

reasons=''
while read -r python; do
  why="$(objection "$python" </dev/null)"
  if [ -z "$why" ]; then
    "$python" -c 'import sys; print(sys.executable)'
    exit 0
  fi
  reasons+="  $python $why"$'\n'
done < <(candidates)

{
  echo 'No suitable Python found (CPython 3.11, 3.12 or 3.13):'
  echo -n "${reasons:-  no python3 on PATH$'\n'}"
  echo 'Install one (apt install python3.11 python3.11-venv python3.11-dev; pyenv install 3.11; uv python install'
  echo '3.11), or name it: make setup PYTHON=/path/to/python3.11'
} >&2
exit 1
