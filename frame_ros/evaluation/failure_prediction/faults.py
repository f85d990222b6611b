# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Faults that are planted in a simulated pick-and-place episode.

A fault changes the physics, or what the policy is given to see; never a score. Most episodes with a
fault fail; what the policy recovers from is a success.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from frame_ros.core.errors import ValueRangeError
from frame_ros.scenes.generation.clutter import Obstacle
from frame_ros.scenes.simulation.simulation import PickPlaceSimulation

Array = NDArray[np.float64]
Poses = Mapping[str, Array]
# Stands far below the table until a collision puts it into the arm's way; it is in every scene, so
# that a scene with a collision is built as the others are.
POST = Obstacle('post', 'cylinder', (0.02, 0.36), (0.0, 0.0, -5.0))
CARRIED = 0.03  # m of the cube's centre over the table, from which it counts as carried


class Fault:
    """No fault; the base of all. It is used for one episode.

    Args:
        simulation: at the start of the episode.
        rng: of all that the fault draws.
    """

    def __init__(self, simulation: PickPlaceSimulation, rng: np.random.Generator) -> None:
        self._simulation = simulation
        self._rng = rng

    def disturb(self, time: float) -> None:
        """Changes the physics; called before every control step. time: s since the start."""

    def perceived(self, poses: Poses) -> dict[str, Array]:
        """Returns the poses (7,) that the policy is given, from the true ones."""
        return dict(poses)

    def end(self) -> None:
        """Takes back all that outlives a reset of the scene."""


class MissedGrasp(Fault):
    """The object is seen 22 to 35 mm away from its place."""

    def __init__(self, simulation: PickPlaceSimulation, rng: np.random.Generator) -> None:
        super().__init__(simulation, rng)
        angle, length = rng.uniform(-math.pi, math.pi), rng.uniform(0.022, 0.035)
        self._offset = length * np.array((math.cos(angle), math.sin(angle)))

    def perceived(self, poses: Poses) -> dict[str, Array]:
        """The object is displaced."""
        seen = poses['object'].copy()
        seen[:2] += self._offset
        return {**poses, 'object': seen}


class Drop(Fault):
    """The cube slips out of the fingers while it is carried: it has no friction any more."""

    def __init__(self, simulation: PickPlaceSimulation, rng: np.random.Generator) -> None:
        super().__init__(simulation, rng)
        self._delay = rng.uniform(0.0, 0.8)  # s after it was lifted
        self._lifted = math.inf
        geom = simulation.model.geom('cube')
        self._geom, self._before = geom.id, geom.friction.copy()

    def disturb(self, time: float) -> None:
        """Takes the friction away; the cube's own counts, not the fingers'."""
        model = self._simulation.model
        if math.isinf(self._lifted) and self._simulation.object_pose()[2] > CARRIED + 0.02:
            self._lifted = time
        if time >= self._lifted + self._delay:
            model.geom_priority[self._geom] = 1
            model.geom_friction[self._geom] = (0.02, 1e-4, 1e-5)

    def end(self) -> None:
        """Restores it."""
        self._simulation.model.geom_priority[self._geom] = 0
        self._simulation.model.geom_friction[self._geom] = self._before


class WrongObject(Fault):
    """Another object is taken for the cube."""

    def __init__(self, simulation: PickPlaceSimulation, rng: np.random.Generator) -> None:
        super().__init__(simulation, rng)
        self._other = str(rng.choice([p.name for p in simulation.layout.distractors]))

    def perceived(self, poses: Poses) -> dict[str, Array]:
        """The object is that one."""
        body = self._simulation.data.body(self._other)
        return {**poses, 'object': np.concatenate((body.xpos, np.roll(body.xquat, -1)))}


class Stall(Fault):
    """A joint of the arm is stuck from some time on."""

    def __init__(self, simulation: PickPlaceSimulation, rng: np.random.Generator) -> None:
        super().__init__(simulation, rng)
        self._begin = rng.uniform(0.5, 5.0)  # s
        joint = str(rng.choice(simulation.joint_names[:4]))
        self._dof = int(simulation.model.joint(joint).dofadr[0])
        self._before = float(simulation.model.dof_frictionloss[self._dof])

    def disturb(self, time: float) -> None:
        """Holds the joint by a friction that its drive cannot overcome."""
        if time >= self._begin:
            self._simulation.model.dof_frictionloss[self._dof] = 1e3

    def end(self) -> None:
        """Frees it."""
        self._simulation.model.dof_frictionloss[self._dof] = self._before


class Collision(Fault):
    """A post that nobody reports to the policy stands between the arm and the bin."""

    def __init__(self, simulation: PickPlaceSimulation, rng: np.random.Generator) -> None:
        super().__init__(simulation, rng)
        self._begin = rng.uniform(0.0, 2.5)  # s
        self._share = rng.uniform(0.35, 0.65)

    def disturb(self, time: float) -> None:
        """Puts it on the arc from the cube to the bin, as seen from the arm's first axis."""
        if not self._begin <= time < math.inf:
            return
        scene, self._begin = self._simulation, math.inf
        axis = np.array(scene.robot.table.axis)
        ends = scene.object_pose()[:2] - axis, scene.goal_pose()[:2] - axis
        azimuths, radii = [math.atan2(y, x) for x, y in ends], [np.hypot(*end) for end in ends]
        azimuth = azimuths[0] + self._share * (azimuths[1] - azimuths[0])
        radius = float(np.mean(radii))
        place = axis + radius * np.array((math.cos(azimuth), math.sin(azimuth)))
        scene.move_obstacle(POST.name, (*place, POST.size[1] / 2))

    def end(self) -> None:
        """Takes it away; a reset does, too."""
        self._simulation.move_obstacle(POST.name, POST.position)


class MovedGoal(Fault):
    """The bin is moved by 10 to 14 cm after the policy last saw it."""

    def __init__(self, simulation: PickPlaceSimulation, rng: np.random.Generator) -> None:
        super().__init__(simulation, rng)
        self._begin = rng.uniform(0.5, 4.0)  # s
        self._distance = rng.uniform(0.10, 0.14) * rng.choice((-1.0, 1.0))
        self._seen = simulation.goal_pose()

    def disturb(self, time: float) -> None:
        """Moves it about the arm's first axis."""
        if time < self._begin:
            return
        self._begin = math.inf
        scene = self._simulation
        axis = np.array((*scene.robot.table.axis, 0.0))
        arm = scene.data.mocap_pos[0] - axis
        angle = self._distance / float(np.hypot(*arm[:2]))
        cosine, sine = math.cos(angle), math.sin(angle)
        turned = (cosine * arm[0] - sine * arm[1], sine * arm[0] + cosine * arm[1], arm[2])
        scene.data.mocap_pos[0] = axis + turned

    def perceived(self, poses: Poses) -> dict[str, Array]:
        """The bin stands where it stood."""
        return {**poses, 'goal': self._seen}


class CameraShifted(Fault):
    """The front camera was pushed, by 3 to 6 cm, after the policy was trained."""

    def __init__(self, simulation: PickPlaceSimulation, rng: np.random.Generator) -> None:
        super().__init__(simulation, rng)
        direction = rng.standard_normal(3)
        offset = rng.uniform(0.03, 0.06) * direction / np.linalg.norm(direction)
        self._camera = int(simulation.model.cam('front').id)
        self._before = simulation.model.cam_pos[self._camera].copy()
        simulation.model.cam_pos[self._camera] += offset

    def end(self) -> None:
        """Puts it back."""
        self._simulation.model.cam_pos[self._camera] = self._before


class LightChanged(Fault):
    """The lamps have another brightness, each, and another colour than in training."""

    def __init__(self, simulation: PickPlaceSimulation, rng: np.random.Generator) -> None:
        super().__init__(simulation, rng)
        model = simulation.model
        head = model.vis.headlight
        self._lamps = (head.ambient, head.diffuse, *model.light_diffuse)
        self._before = [np.array(lamp) for lamp in self._lamps]
        colour = rng.uniform(0.3, 1.0, 3)
        for lamp in self._lamps:
            lamp[:] = np.array(lamp) * colour * rng.uniform(0.1, 1.6)

    def end(self) -> None:
        """Restores them."""
        for lamp, before in zip(self._lamps, self._before, strict=True):
            lamp[:] = before


NONE = 'none'
FAULTS: dict[str, type[Fault]] = {
    NONE: Fault,
    'missed grasp': MissedGrasp,
    'drop': Drop,
    'wrong object': WrongObject,
    'stall': Stall,
    'collision': Collision,
    'moved goal': MovedGoal,
    'camera shifted': CameraShifted,
    'light changed': LightChanged,
}
# Without effect on a policy that takes no image.
OF_IMAGES = ('camera shifted', 'light changed')


def make_fault(kind: str, simulation: PickPlaceSimulation, seed: int) -> Fault:
    """The fault of one episode. seed: the same gives the same.

    Raises:
        ValueRangeError: there is no such kind.
    """
    if kind not in FAULTS:
        raise ValueRangeError(f'there is no fault {kind!r}; there are {", ".join(FAULTS)}')
    return FAULTS[kind](simulation, np.random.default_rng((seed, 0xFA)))
