# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""From what sensors measure to what the robot touches and what is near it; numbers in, no ROS.

| files | what |
|---|---|
| detection, contact_source, threshold | what every detector yields; hysteresis and debounce |
| wrench_*, tool_* | a force-torque sensor: tare, tool, drift, payload, contact |
| momentum_observer, joint_*, motor_model, friction_direction | contact from efforts |
| force_estimate | the force behind the joints' residuals |
| stall | joints that push against something and do not move |
| excitation, joint_identification, still_poses, tool_identification | motors and tools identified |
| robot_flags, wrench_offset | a Franka's own flags and external wrench |
| contact_expectation, contact_tracker | expected or not; contacts over time and their events |
| depth_* | distances from a depth image: range, crop, self-filter, edges, nearest, cloud |
| compiled | loops compiled by numba: the depth_*kernels |
| known_obstacles, obstacle_* | distances to obstacles whose place is known |
| camera_*, robot_view | whether a camera sees the arm where kinematics puts it |
| reading | distances of links, whatever measured them |
| grasp | whether the gripper holds something |
"""
