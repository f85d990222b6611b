# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Source this: a shell in which frame-ros, python, pytest, the nodes and the messages work. `make setup` first.
_frame_ros_env() {
  local root venv distro
  root="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
  venv="$root/.venv"
  if [ ! -f "$venv/bin/activate" ] || [ ! -f "$root/install/setup.bash" ]; then
    echo "frame_ros: not set up yet. Run: make -C $root setup" >&2
    return 1
  fi
  distro="$(cat "$venv/.frame_ros/ros" 2>/dev/null || echo wheels)"
  if [ "$distro" != wheels ] && [ -z "${ROS_DISTRO:-}" ] && [ -f "/opt/ros/$distro/setup.bash" ]; then
    source "/opt/ros/$distro/setup.bash"
  fi
  if [ "$distro" != "${ROS_DISTRO:-wheels}" ]; then
    echo "frame_ros: set up for ROS 2 '$distro', but '${ROS_DISTRO:-none}' is sourced. Source the former, or run: make -C $root setup" >&2
    return 1
  fi
  source "$venv/bin/activate"
  if [ "$distro" = wheels ]; then
    export AMENT_PREFIX_PATH="$venv" CMAKE_PREFIX_PATH="$venv"
  fi
  source "$root/install/setup.bash"
  # The checkout's sources come before the overlay's copy: an edit needs no build.
  export PYTHONPATH="$root${PYTHONPATH:+:$PYTHONPATH}"
  # The tab key completes the commands and options of frame-ros.
  if [[ $- == *i* ]] && command -v register-python-argcomplete >/dev/null; then
    eval "$(register-python-argcomplete frame-ros)"
  fi
  # Nodes find each other on this machine only, unless FRAME_ROS_NETWORK=1 (an arm driven from another machine).
  # Both settings together: the profile keeps receiving ports on 127.0.0.1, LOCALHOST keeps what is sent on this machine.
  if [ "${FRAME_ROS_NETWORK:-}" != 1 ]; then
    export FASTRTPS_DEFAULT_PROFILES_FILE="$root/config/fastdds_loopback.xml"
    export FASTDDS_DEFAULT_PROFILES_FILE="$FASTRTPS_DEFAULT_PROFILES_FILE"
    export ROS_AUTOMATIC_DISCOVERY_RANGE=LOCALHOST
  fi
  export OMP_NUM_THREADS="${OMP_NUM_THREADS:-1}" MUJOCO_GL="${MUJOCO_GL:-egl}"
}

# The files sourced here read variables that may be unset.
case $- in *u*) _frame_ros_nounset=yes ;; *) _frame_ros_nounset='' ;; esac
set +u
_frame_ros_env
_frame_ros_status=$?
[ -z "$_frame_ros_nounset" ] || set -u
unset -f _frame_ros_env
unset _frame_ros_nounset
return "$_frame_ros_status" 2>/dev/null || exit "$_frame_ros_status"
