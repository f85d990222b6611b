# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""From sensor measurements to contacts of the robot and its distances to objects, without ROS.

| room | what |
|---|---|
| contacts | what every detector yields; expected or not; contacts over time; a Franka's own flags |
| wrench | contact from a force-torque sensor; tools identified |
| joints | contact from efforts, stall, the force behind them; motors identified |
| depth | distances from a depth image |
| obstacles | distances to obstacles whose place is known |
| cameras | whether a camera sees the arm where kinematics puts it |
| reading | distances of links, whatever measured them |
"""
