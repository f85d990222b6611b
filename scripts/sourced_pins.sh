#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
# Prints the file of requirements/ that goes beside a sourced ROS 2, by the NumPy of its Python, $1: what is compiled
# against one series of NumPy does not load with the other. Exit 1, with the reason on stderr, if there are no wheels.
set -euo pipefail

die() {
  echo "[frame_ros] ERROR: $1" >&2
  echo "            $2" >&2
  exit 1
}

found="$("$1" -c 'import sys, numpy; print("%d.%d" % sys.version_info[:2], numpy.__version__)' 2>/dev/null)" ||
  die "$1, the Python of the sourced ROS 2, has no NumPy." 'sudo apt install python3-numpy'
read -r python numpy <<<"$found"

case "$python $numpy" in
  3.1[12]' '1.*) echo ros-sourced.txt ;;
  3.1[1-4]' '2.*) echo ros-sourced-numpy2.txt ;;
  *)
    die "the sourced ROS 2 runs on Python $python with NumPy $numpy; the pinned packages have no wheels for them." \
      'NumPy 1 goes with Python 3.11 or 3.12, NumPy 2 with 3.11 to 3.14. Or source no ROS: it then comes as wheels.'
    ;;
esac
