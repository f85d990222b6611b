# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Source this: a shell in which frame-ros, python, pytest, the nodes and the messages work.
_frame_ros_root="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
source "$_frame_ros_root/.venv/bin/activate"
if [ -z "${ROS_DISTRO:-}" ]; then
  export AMENT_PREFIX_PATH="$_frame_ros_root/.venv" CMAKE_PREFIX_PATH="$_frame_ros_root/.venv"
fi
[ -f "$_frame_ros_root/install/setup.bash" ] && source "$_frame_ros_root/install/setup.bash"
export PYTHONPATH="$_frame_ros_root${PYTHONPATH:+:$PYTHONPATH}"
export FASTRTPS_DEFAULT_PROFILES_FILE="$_frame_ros_root/config/fastdds_loopback.xml"
export FASTDDS_DEFAULT_PROFILES_FILE="$FASTRTPS_DEFAULT_PROFILES_FILE"
export ROS_AUTOMATIC_DISCOVERY_RANGE=LOCALHOST OMP_NUM_THREADS="${OMP_NUM_THREADS:-1}"
export MUJOCO_GL="${MUJOCO_GL:-egl}"
unset _frame_ros_root
