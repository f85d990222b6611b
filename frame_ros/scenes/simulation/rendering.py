# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Off-screen camera images and depth of the simulated scene, from one drawing pass."""

from __future__ import annotations

import atexit
import math
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from frame_ros.core.engine import load_mujoco
from frame_ros.core.errors import SetupError, ValueRangeError

if TYPE_CHECKING:
    import mujoco

    from frame_ros.scenes.simulation.state import SceneState


@dataclass(frozen=True)
class Intrinsics:
    """A pinhole camera without distortion, in pixels. Pixel centres lie at whole numbers, as in
    OpenCV and ROS.
    """

    width: int
    height: int
    focal: float
    cx: float
    cy: float


@dataclass(frozen=True)
class CameraFrame:
    """An image at `time` (s of simulation).

    Attributes:
        rgb: (H, W, 3) uint8.
        depth: (H, W) float32, m along the optical axis; None if not requested.
    """

    time: float
    rgb: NDArray[np.uint8]
    depth: NDArray[np.float32] | None


def intrinsics(model: mujoco.MjModel, camera: str, width: int, height: int) -> Intrinsics:
    """The intrinsics of a camera of the model, from its vertical field of view and its centre."""
    found = model.cam(camera)
    focal = height / 2 / math.tan(math.radians(float(found.fovy[0])) / 2)
    # In focal lengths; MuJoCo counts it to the left and up.
    off = model.cam_intrinsic[found.id, 2:] if model.cam_sensorsize[found.id, 1] else (0.0, 0.0)
    across, down = (-focal * float(share) for share in off)
    return Intrinsics(width, height, focal, (width - 1) / 2 + across, (height - 1) / 2 + down)


class SceneRenderer:
    """Draws states of one model. Belongs to the thread that made it, as its OpenGL context does;
    `close` it there.
    """

    def __init__(self, model: mujoco.MjModel, width: int, height: int):
        """Makes an off-screen context of width x height pixels.

        Raises:
            SetupError: no OpenGL context can be made.
            ValueRangeError: the size is not within 16 to 1280 x 960 pixels.
        """
        if not (
            16 <= width <= model.vis.global_.offwidth
            and 16 <= height <= model.vis.global_.offheight
        ):
            raise ValueRangeError(
                f'an image of {width}x{height} pixels: sizes from 16x16 to 1280x960 can be drawn'
            )
        self._mj = mj = load_mujoco()
        self._model = model
        self._data = mj.MjData(model)
        try:
            self._gl = mj.GLContext(width, height)
            self._gl.make_current()
            self._context = mj.MjrContext(model, mj.mjtFontScale.mjFONTSCALE_100)
        except Exception as error:
            raise SetupError(
                f'no off-screen OpenGL context: {error}. Set MUJOCO_GL=egl (needs the packages '
                'libegl1 and libgl1-mesa-dri) or MUJOCO_GL=osmesa (libosmesa6), '
                'or switch the cameras off'
            ) from error
        mj.mjr_setBuffer(mj.mjtFramebuffer.mjFB_OFFSCREEN, self._context)
        self._context.readDepthMap = mj.mjtDepthMap.mjDEPTH_ZEROFAR
        self._viewport = mj.MjrRect(0, 0, width, height)
        self._make_scene()
        self._cameras: dict[str, mujoco.MjvCamera] = {}
        self._thread = threading.get_ident()
        atexit.register(self._close_at_exit)

    def _make_scene(self) -> None:
        mj = self._mj
        self._scene = mj.MjvScene(self._model, maxgeom=400)
        for flag in (
            mj.mjtRndFlag.mjRND_SHADOW,
            mj.mjtRndFlag.mjRND_REFLECTION,
            mj.mjtRndFlag.mjRND_HAZE,
        ):
            self._scene.flags[flag] = 0
        self._option = mj.MjvOption()
        self._perturbation = mj.MjvPerturb()

    def render(self, state: SceneState, camera: str, with_depth: bool = False) -> CameraFrame:
        """The image of `camera` at a state."""
        mj, viewport = self._mj, self._viewport
        self._update(state, camera)
        mj.mjr_render(viewport, self._scene, self._context)
        rgb = np.empty((viewport.height, viewport.width, 3), np.uint8)
        raw = np.empty((viewport.height, viewport.width), np.float32) if with_depth else None
        mj.mjr_readPixels(rgb, raw, viewport, self._context)
        return CameraFrame(state.time, rgb[::-1], None if raw is None else self._metres(raw[::-1]))

    def depth(self, state: SceneState, camera: str) -> NDArray[np.float32]:
        """(H, W) m, the depth that `render` returns, in half of its time: colours are not lit."""
        mj, viewport = self._mj, self._viewport
        self._update(state, camera)
        self._draw_numbers()
        raw = np.empty((viewport.height, viewport.width), np.float32)
        mj.mjr_readPixels(None, raw, viewport, self._context)
        return self._metres(raw[::-1])

    def segment(self, state: SceneState, camera: str) -> NDArray[np.int32]:
        """(H, W): the id of the body that each pixel of `camera` shows at a state; -1: none."""
        mj, viewport, scene = self._mj, self._viewport, self._scene
        self._update(state, camera)
        self._draw_numbers()
        colours = np.empty((viewport.height, viewport.width, 3), np.uint8)
        mj.mjr_readPixels(colours, None, viewport, self._context)
        # A pixel's colour is the number, from 1, of what it shows in the scene; 0 is nothing.
        numbers = colours[::-1].astype(np.int32) @ np.array((1, 1 << 8, 1 << 16), np.int32)
        bodies = np.full(scene.ngeom + 1, -1, np.int32)
        for geom in scene.geoms[: scene.ngeom]:
            if geom.objtype == mj.mjtObj.mjOBJ_GEOM:
                bodies[geom.segid + 1] = self._model.geom_bodyid[geom.objid]
        return bodies[numbers]

    def _draw_numbers(self) -> None:
        """Draws the scene with the number of each thing as its colour."""
        mj, scene = self._mj, self._scene
        flags = (mj.mjtRndFlag.mjRND_SEGMENT, mj.mjtRndFlag.mjRND_IDCOLOR)
        for flag in flags:
            scene.flags[flag] = 1
        mj.mjr_render(self._viewport, scene, self._context)
        for flag in flags:
            scene.flags[flag] = 0

    def _update(self, state: SceneState, camera: str) -> None:
        """Puts the scene, as `camera` sees it, into the state."""
        mj, data = self._mj, self._data
        self._gl.make_current()  # another renderer of this thread may have been used since
        is_same = state.time == data.time and np.array_equal(state.qpos, data.qpos)
        if not is_same or not np.array_equal(state.mocap_positions, data.mocap_pos):
            state.copy_to(data)
            mj.mj_kinematics(self._model, data)
            mj.mj_camlight(self._model, data)
        mj.mjv_updateScene(
            self._model, data, self._option, self._perturbation, self._camera(camera),
            mj.mjtCatBit.mjCAT_ALL, self._scene,
        )  # fmt: skip

    def _camera(self, name: str) -> mujoco.MjvCamera:
        if name not in self._cameras:
            index = self._mj.mj_name2id(self._model, self._mj.mjtObj.mjOBJ_CAMERA, name)
            if index < 0:
                raise ValueRangeError(f'the scene has no camera {name!r}')
            camera = self._mj.MjvCamera()
            camera.type, camera.fixedcamid = self._mj.mjtCamera.mjCAMERA_FIXED, index
            self._cameras[name] = camera
        return self._cameras[name]

    def _metres(self, buffer: NDArray[np.float32]) -> NDArray[np.float32]:
        """Depth from a buffer that is 1 at the near plane, 0 at the far one, linear in 1/depth."""
        extent = self._model.stat.extent
        near, far = self._model.vis.map.znear * extent, self._model.vis.map.zfar * extent
        return np.float32(near * far) / (buffer * np.float32(far - near) + np.float32(near))

    def close(self) -> None:
        """Frees the context; call it in the thread that made this."""
        atexit.unregister(self._close_at_exit)
        self._gl.make_current()
        self._context.free()
        self._gl.free()

    def _close_at_exit(self) -> None:
        """The context must be freed before the interpreter takes the library down."""
        if threading.get_ident() == self._thread:
            self.close()
