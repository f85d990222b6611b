# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The servo and gear of a real arm, from its recorded goals, motion and supply currents.

With the goal's distance e, a servo with a proportional gain alone brings K e less what speed takes
off, and in slow motion

    K e = M(q) ddq + armature ddq + g(q) + damping dq
          + sign(dq) (base + load_external |g| + rest exp(-|dq| / REST_SPEED)).

Masses and geometry are those of the robot's description, so K is right as they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from frame_ros.core.time import SECOND
from frame_ros.evaluation.recorded_motion.sage import EffortRecording
from frame_ros.robots.dynamics import RobotDynamics

Array = NDArray[np.float64]
HALF = 5  # samples before and after over which speeds and accelerations are differences
SLOWEST, FASTEST, SHARPEST = 0.04, 1.0, 1.0  # rad/s and rad/s^2 of motion that is fitted
REST_SPEED = 0.1  # rad/s over which friction at rest ends; 0.03 to 0.2 fit equally well
STANDING_SPEED, STANDING = 0.01, 12  # rad/s, samples: a joint stands
LEAST_ERROR = 0.04  # rad from which on a standing joint's current is far above its noise
FAST = 0.3  # rad/s from which on speed takes off enough current
NONE = 0.02  # A: three steps of the register, which a motor without current reads
LIGHT = 0.02  # N m of weight that is none
WIDE = 99.9  # percentile of swings that counts as the play
EVERY = 3  # samples, as neighbouring ones are alike
ROUNDS, OUTLIER = 4, 3.0  # of least squares, standard deviations


@dataclass(frozen=True)
class ServoFit:
    """A servo at its output; all joints of an arm together.

    Attributes:
        stiffness: N m/rad.
        damping: N m s/rad, of the back EMF and viscous.
        base: N m of dry friction.
        rest: N m more of it near rest.
        load_external: N m more per N m of weight.
        armature: kg m^2.
        unexplained: rad of the goal's distance, RMS.
        duty: share of the supply per rad of distance.
        stall_current: A of the supply with the bridge always on: the largest that was read.
        free_speed: rad/s at which the back EMF is the supply.
        current_noise: sqrt(A), of a reading relative to the root of the current, of what stands.
        play: rad by which a standing joint without weight swings at no current, nearly the widest.
        held: N m, the most that a standing joint held with at most one step of current.
        joint_scales: of each joint its own dry friction relative to that of all.
        samples: in motion, at rest.
    """

    stiffness: float
    damping: float
    base: float
    rest: float
    load_external: float
    armature: float
    unexplained: float
    duty: float
    stall_current: float
    free_speed: float
    current_noise: float
    play: float
    held: float
    joint_scales: Array
    samples: tuple[int, int]

    @property
    def stall_torque(self) -> float:
        """N m of the motor with the bridge always on, before friction."""
        return self.stiffness / self.duty

    @property
    def viscous(self) -> float:
        """N m s/rad that the back EMF leaves of the damping."""
        return max(self.damping - self.stall_torque / self.free_speed, 0.0)


@dataclass(frozen=True)
class ServoRows:
    """Samples of joints one by one, K each, of joints in motion or at rest.

    Attributes:
        joint: (K,) its number.
        error: (K,) rad from position to goal.
        velocity: (K,) rad/s.
        acceleration: (K,) rad/s^2.
        inertial: (K,) N m that the links' accelerations take.
        weight: (K,) N m.
        current: (K,) A, its size.
    """

    joint: NDArray[np.int64]
    error: Array
    velocity: Array
    acceleration: Array
    inertial: Array
    weight: Array
    current: Array

    def of(self, chosen: NDArray[np.bool_]) -> ServoRows:
        """Returns those chosen (K,)."""
        return ServoRows(*(getattr(self, name)[chosen] for name in self.__dataclass_fields__))


def servo_fit(
    dynamics: RobotDynamics, recordings: Sequence[EffortRecording],
    blocked: Sequence[EffortRecording] = (),
) -> ServoFit:  # fmt: skip
    """Returns the servo that recordings show.

    Args:
        dynamics: of the joints, without armature.
        recordings: of free motion.
        blocked: others, in which joints are held; only the stall current is taken from them.
    """
    pairs = [_rows(dynamics, recording) for recording in recordings]
    moving, standing = (_joined([pair[i] for pair in pairs]) for i in (0, 1))
    stall = max(
        float(np.abs(r.efforts[:, _columns(dynamics, r)]).max()) for r in (*recordings, *blocked)
    )
    noise = np.concatenate([_current_noise(r, _columns(dynamics, r)) for r in recordings])
    swings = np.concatenate([_swings(dynamics, r, _columns(dynamics, r)) for r in recordings])
    play = float(np.percentile(swings, WIDE)) if len(swings) else 0.0
    return fit_rows(moving, standing, stall, float(np.median(noise)) if len(noise) else 0.0, play)


def fit_rows(
    moving: ServoRows, standing: ServoRows, stall: float, noise: float = 0.0, play: float = 0.0
) -> ServoFit:
    """Returns the servo of samples; stall: A, noise: sqrt(A), play: rad, as of ServoFit."""
    side = np.sign(moving.velocity)
    near_rest = np.exp(-np.abs(moving.velocity) / REST_SPEED)
    regressor = np.column_stack((
        moving.weight + moving.inertial, side, side * near_rest, side * np.abs(moving.weight),
        moving.velocity, moving.acceleration,
    ))  # fmt: skip
    solution, kept = _least_squares(regressor, moving.error)
    stiffness = 1.0 / float(solution[0])
    base, rest, load, damping, armature = (stiffness * solution[1:]).tolist()
    left = moving.error - regressor @ solution
    is_far = np.abs(standing.error) > LEAST_ERROR
    per_square = float(np.median(standing.current[is_far] / standing.error[is_far] ** 2))
    duty = float(np.sqrt(per_square / stall))
    # i = s d (d - dq / w0)
    drives = (np.abs(moving.error) > LEAST_ERROR) & (moving.error * moving.velocity > 0.0)
    fast = moving.of(drives & (np.abs(moving.velocity) > FAST))
    taken = (per_square * fast.error**2 - fast.current) / (fast.error * fast.velocity)
    holds = np.abs(standing.weight - stiffness * standing.error)
    without = standing.current <= 0.0
    return ServoFit(
        stiffness, damping, base, rest, load, armature, float(left[kept].std()), duty, stall,
        stall * duty / float(np.median(taken)), noise, play,
        float(np.percentile(holds[without], 99.0)) if without.any() else 0.0,
        _joint_scales(moving, solution), (len(moving.joint), len(standing.joint)),
    )  # fmt: skip


def _joint_scales(rows: ServoRows, solution: Array) -> Array:
    """Returns by which factor each joint's own dry friction is that of all, with the same K."""
    side, found = np.sign(rows.velocity), []
    dry = solution[1] + solution[2] * np.exp(-np.abs(rows.velocity) / REST_SPEED)
    dry = side * (dry + solution[3] * np.abs(rows.weight))
    other = np.column_stack((rows.weight + rows.inertial, rows.velocity, rows.acceleration))
    left = rows.error - other @ solution[[0, 4, 5]]
    for joint in range(int(rows.joint.max()) + 1):
        own = rows.joint == joint
        found.append(float(left[own] @ dry[own] / (dry[own] @ dry[own])) if own.any() else np.nan)
    return np.array(found)


def _least_squares(regressor: Array, target: Array) -> tuple[Array, NDArray[np.bool_]]:
    """Returns the solution and which rows were kept."""
    kept = np.ones(len(target), bool)
    for _ in range(ROUNDS):
        solution = np.linalg.lstsq(regressor[kept], target[kept], rcond=None)[0]
        left = np.abs(target - regressor @ solution)
        kept = left < OUTLIER * float(left[kept].std() + 1e-12) + float(left[kept].mean())
    return solution, kept


def _rows(dynamics: RobotDynamics, recording: EffortRecording) -> tuple[ServoRows, ServoRows]:
    """Returns samples of joints that move slowly, and of joints that stand."""
    columns = _columns(dynamics, recording)
    times = recording.stamps / SECOND
    position, goal = recording.positions[:, columns], recording.goals[:, columns]
    speed = _slope(position, times)
    acceleration = _slope(speed, times)
    chosen = np.arange(2 * HALF + STANDING, len(times) - 2 * HALF, EVERY)
    weight = np.array([dynamics.gravity(position[k]) for k in chosen])
    inertial = np.array([dynamics.mass_matrix(position[k]) @ acceleration[k] for k in chosen])
    window = np.arange(-HALF, HALF + 1)
    around = speed[chosen[:, None] + window]
    slowest, fastest = np.abs(around).min(axis=1), np.abs(around).max(axis=1)
    one_way = np.abs(np.sign(around).sum(axis=1)) == len(window)
    sharpest = np.abs(acceleration[chosen[:, None] + window]).max(axis=1)
    moves = (slowest > SLOWEST) & (fastest < FASTEST) & one_way & (sharpest < SHARPEST)
    before = chosen[:, None] + np.arange(-STANDING, 1)
    stands = np.abs(recording.velocities[:, columns][before]).max(axis=1) < STANDING_SPEED
    stands &= np.ptp(goal[before], axis=1) < 1e-6
    current = np.abs(recording.efforts[:, columns])
    calm = np.median(current[before], axis=1)
    joint = np.broadcast_to(np.arange(len(columns)), stands.shape)
    error = (goal - position)[chosen]

    def taken(which: NDArray[np.bool_], read: Array) -> ServoRows:
        values = (error, speed[chosen], acceleration[chosen], inertial, weight, read)
        return ServoRows(joint[which], *(each[which] for each in values))

    return taken(moves, current[chosen]), taken(stands, calm)


def _columns(dynamics: RobotDynamics, recording: EffortRecording) -> list[int]:
    """Returns where a recording has the joints."""
    return [recording.joint_names.index(name) for name in dynamics.joint_names]


def _slope(values: Array, times: Array) -> Array:
    """Returns (T, N) central differences over HALF samples either way, 0 at the ends."""
    found = np.zeros_like(values)
    span = (times[2 * HALF :] - times[: -2 * HALF])[:, None]
    found[HALF:-HALF] = (values[2 * HALF :] - values[: -2 * HALF]) / span
    return found


def _current_noise(recording: EffortRecording, columns: Sequence[int]) -> Array:
    """Returns sqrt(A), by second: the deviations of the currents of joints that stand and draw
    some, relative to their roots.
    """
    found = []
    for begin in range(0, len(recording.stamps) - 49, 50):
        part = slice(begin, begin + 50)
        for column in columns:
            current = np.abs(recording.efforts[part, column])
            still = np.ptp(recording.positions[part, column]) < 0.002
            still &= np.ptp(recording.goals[part, column]) < 1e-6
            if still and np.median(current) > 0.05:
                found.append(float(current.std() / np.sqrt(current.mean())))
    return np.array(found)


def _swings(dynamics: RobotDynamics, recording: EffortRecording, columns: Sequence[int]) -> Array:
    """Returns rad, by second, by how much joints without weight swing at an unchanged goal and no
    current, once they have stood.
    """
    found = []
    for begin in range(STANDING, len(recording.stamps) - 49, 50):
        part, whole = slice(begin, begin + 50), slice(begin - STANDING, begin + 50)
        light = np.abs(dynamics.gravity(recording.positions[begin, columns])) < LIGHT
        for column in [column for column, is_light in zip(columns, light, strict=True) if is_light]:
            stood = np.abs(recording.velocities[begin - STANDING : begin, column]).max()
            rests = np.ptp(recording.goals[whole, column]) < 1e-6 and stood < STANDING_SPEED
            if rests and np.abs(recording.efforts[whole, column]).max() < NONE:
                found.append(float(np.ptp(recording.positions[part, column])))
    return np.array(found)


def _joined(parts: Sequence[ServoRows]) -> ServoRows:
    return ServoRows(*(
        np.concatenate([getattr(part, name) for part in parts])
        for name in ServoRows.__dataclass_fields__
    ))  # fmt: skip
