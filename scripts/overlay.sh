# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Sourced by setup.sh, which sets ROOT, VENV and `ros` and has the stamps: the colcon overlay install/ is built when
# something that is installed into it has changed.

overlay_key() {
  {
    cat "$STAMPS/venv"
    find msg srv frame_ros launch config rviz urdf -type f ! -name '*.pyc' ! -name '*.nb[ic]' -print0 | sort -z | xargs -0 sha256sum
    sha256sum CMakeLists.txt package.xml setup.cfg scripts/frame-ros scripts/node.in
  } | digest
}

overlay_is_fresh() { [ -f install/setup.bash ] && is_fresh overlay "$(overlay_key)"; }

# Which libraries and modules are generated, with these options of CMake.
interfaces_key() { { echo "$@" && cat CMakeLists.txt package.xml && ls msg srv; } | digest; }

build_overlay() {
  local options=(-DBUILD_TESTING=OFF "-DPython3_EXECUTABLE=$VENV/bin/python")
  [ "$ros" != wheels ] || options+=(-DFRAME_ROS_PYTHON_INTERFACES_ONLY=ON)
  # Installing takes nothing away: modules that are gone would stay, as would libraries of other generators and interfaces.
  rm -rf "$ROOT/install"
  is_fresh interfaces "$(interfaces_key "${options[@]}")" || rm -rf "$ROOT/build"
  (
    # shellcheck disable=SC1091
    set +u && source "$VENV/bin/activate" && set -u
    if [ "$ros" = wheels ]; then
      export AMENT_PREFIX_PATH="$VENV" CMAKE_PREFIX_PATH="$VENV"
      unset COLCON_PREFIX_PATH PYTHONPATH
    fi
    # Without a -j of ours, colcon has make wait for an idle machine.
    export MAKEFLAGS="-j$(nproc)"
    logged colcon build --base-paths "$ROOT" --packages-select frame_ros --event-handlers console_direct+ \
      --cmake-args "${options[@]}"
  )
  stamp interfaces "$(interfaces_key "${options[@]}")"
  stamp overlay "$(overlay_key)"
}
