# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Least squares for the motor of each joint, in the form that `identification` gives."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from frame_ros.core.errors import SetupError
from frame_ros.core.time import SECOND
from frame_ros.sensing.contact.identification_options import IdentificationOptions
from frame_ros.sensing.contact.joints.fitting.recording import ObservedTerms

Array = NDArray[np.float64]
LOAD = ('load_friction', 'load_stribeck')
WEIGHT = ('weight_friction',)
COLUMNS = ('rigid', 'coulomb', 'stribeck', 'viscous', 'offset', 'armature', *WEIGHT, *LOAD)
NEVER_NEGATIVE = ('coulomb', 'stribeck', 'armature', *WEIGHT, *LOAD)
MOST_LOAD = 0.45  # share that gears lose; more is something else, on a joint with too little load
LEAST_LOAD = 0.5  # share of the motor's torque that load must be, to show what gears lose of it
# Share of the effort that its size times the direction of motion explains, from which a motor
# hardly ever brakes: then any loss by load explains its own effort, and nothing else.
NEVER_BRAKES = 0.6
OPTIONAL = ('stribeck', 'offset', *WEIGHT, *LOAD)  # small ones, whose value may well be 0
OUTLIER = 5.0  # standard deviations beyond which a sample is left out: a bump, a limit
# Terms of the drive, left out where torque is measured behind it; the joint's own friction, between
# sensor and links, is the only one that may be left.
DRIVE = ('stribeck', 'armature', *WEIGHT, *LOAD)
BEHIND = ('coulomb', 'viscous')
# Share of what is unexplained without friction, in the blocks that check the fit, below which a
# torque sensor shows friction: errors that go with the posture alone have passed for 0.99.
SHOWN = 0.9
LITTLE_LOAD = 'too little load on this joint; left out'
NO_BRAKING = 'the motor hardly ever brakes, so that nothing shows it; left out'
OTHERS_LOAD = 'this joint does not show it: the value of the others is used'
BY_WEIGHT = 'the weight of the links explains what gears lose better'
NOT_ASKED = ''  # nothing that a report says
# A fit that leaves more than this share of what masses alone leave, and more than so many N m rms
# (of torque sensors: their own errors are up to about 0.15), explains little.
LITTLE, MUCH_LEFT, MUCH_LEFT_SENSED = 0.7, 0.1, 0.25
ROUNDS = 3
SURE_SCALE = 0.05  # relative standard error up to which a motor constant counts as identified
NEARLY_SURE_SCALE = 0.15  # the same where no joint shows it so well
SURE = 0.5  # the same of the others
BLOCK = 4.0  # s; blocks in turn fit and check
LEAST_WEIGHT = 0.05  # N m of the masses' torque that show what a unit of effort is


@dataclass(frozen=True)
class JointFit:
    """The fit of one joint, in the units of MotorModel.

    Attributes:
        values: by name of the column.
        standard_errors: likewise; NaN where the value was not fitted.
        condition: of the regressor, its columns of equal length.
        rms_before: N m that masses alone leave unexplained, in the blocks not used for fitting.
        rms_after: N m that are left there.
        largest: N m, the largest of these.
        not_identifiable: why a value was not fitted, or is uncertain.
    """

    name: str
    values: Mapping[str, float]
    standard_errors: Mapping[str, float]
    condition: float
    rms_before: float
    rms_after: float
    largest: float
    not_identifiable: Mapping[str, str] = field(default_factory=dict)


class JointFitting:
    """Least squares joint by joint, with outliers left out.

    Gears lose by the motor's torque, or by what holds the links. Both are not fitted together: of a
    motor that hardly ever brakes they are nearly the same.
    """

    def __init__(
        self,
        joint_names: tuple[str, ...],
        terms: ObservedTerms,
        settings: IdentificationOptions,
        rate: float,
        by_weight: bool = False,
        is_supply: bool = False,
    ) -> None:
        """by_weight: whether gears lose by the weight of the links, not by the motor's torque.
        is_supply: whether the efforts are of a supply's current, which has no offset: no current is
        no torque.
        """
        self._by_weight, self._is_supply = by_weight, is_supply
        self._losses = WEIGHT if by_weight else LOAD
        # Behind a torque sensor nothing is lost between commands that could look so.
        more = ('viscous',) if settings.has_torque_sensors else ()
        self._never_negative = (*NEVER_NEGATIVE, *more)
        self._names, self._terms, self._settings = joint_names, terms, settings
        decay = math.exp(-settings.observer_gain / rate)
        # Neighbouring samples of the filter are alike: so many count as one.
        self._alike = (1.0 + decay) / (1.0 - decay)
        block = (terms.stamps - terms.stamps[0]) // int(BLOCK * SECOND)
        # (K, N): of torque sensors, behind the gears, all that is settled.
        usable = terms.is_settled[:, None] & (terms.slides | settings.has_torque_sensors)
        self._is_fitted = usable & (block % 2 == 0)[:, None]
        self._is_checked = usable & (block % 2 == 1)[:, None]
        if min(self._is_fitted.sum(axis=0).min(), self._is_checked.sum(axis=0).min()) < 100:
            raise SetupError('the recording is too short to fit to one half and check the other')
        self.left_out = 0.0

    def unexplained(self) -> float:
        """Returns N m that a free fit leaves, the sum over the joints that bear weight."""
        total = 0.0
        for joint in range(len(self._names)):
            if self._weight(joint) < LEAST_WEIGHT:
                continue
            matrix, target = self._equations(joint, None)
            kept = matrix[:, self._free_columns(joint)]
            solution, _, rows = self._solve(joint, kept, target)
            left = np.abs(target[rows] - kept[rows] @ solution)
            total += float(np.median(left)) / max(abs(float(solution[0])), 1e-9)
        return total

    def cost(self) -> float:
        """Returns the sum over the joints of the residual of a free fit, relative to the effort."""
        total = 0.0
        for joint in range(len(self._names)):
            matrix, target = self._equations(joint, None)
            matrix = matrix[:, self._free_columns(joint, compares_shapes=True)]
            rows = self._is_fitted[:, joint]
            solution = np.linalg.lstsq(matrix[rows], target[rows], rcond=None)[0]
            left = np.abs(target[rows] - matrix[rows] @ solution)
            total += float(np.median(left)) / (float(target[rows].std()) + 1e-9)
        return total

    def _free_columns(self, joint: int, compares_shapes: bool = False) -> list[int]:
        # Without losses by load the joints that bear nothing would choose the shape of friction.
        shown = self._by_weight or compares_shapes or not self._never_brakes(joint)
        left_out = {*LOAD, *WEIGHT} - set(self._losses if shown else ())
        left_out |= {'offset'} if self._is_supply else set()
        return [k for k, name in enumerate(COLUMNS) if name not in left_out]

    def checked(self, fits: Sequence[JointFit]) -> float:
        """Returns what fits leave in the blocks that check them, the sum over the joints that bear
        weight: in the unit of the effort, as each fit has its own constants.
        """
        return sum(
            f.rms_after / abs(f.values['effort_scale'])
            for j, f in enumerate(fits)
            if self._weight(j) >= LEAST_WEIGHT
        )

    def fits(self, effort_limits: Array) -> list[JointFit]:
        """Returns the fit of each joint; raises SetupError if none shows the effort's unit.

        effort_limits: (N,) N m of the joints; motors of the same limit are taken for one kind.
        """
        scale = self._settings.known_scale
        joints = range(len(self._names))
        if self._settings.has_torque_sensors:
            return [self._behind_sensor(j, scale) for j in joints]
        first = [self._fit(j, scale) for j in joints]
        if scale is not None:
            return [
                f if shows_load(f) else self._with_shared_load(j, f, first)
                for j, f in enumerate(first)
            ]
        sure = [f for f in first if 'effort_scale' not in f.not_identifiable]
        # Better than none, and named as uncertain.
        sure = sure or [f for j, f in enumerate(first) if self._nearly_shows_scale(j, f)]
        if not sure:
            raise SetupError(
                'no joint shows what a unit of effort is in N m: give it (--effort-scale), or what '
                'the efforts are (--effort-kind), or let the joints that carry weight move further'
            )
        # Where gravity does not show it, a motor is taken for one of those of the same limit, or
        # else of all.
        is_sure = [any(f is each for each in sure) for f in first]
        scales = np.array([f.values['effort_scale'] for f in first])
        fits = []
        for j, fit in enumerate(first):
            alike = np.array(is_sure) & (effort_limits == effort_limits[j])
            shared = float(np.median(scales[alike if alike.any() else is_sure]))
            fits.append(fit if is_sure[j] else self._with_shared(j, shared))
        return [
            f if shows_load(f) else self._with_shared_load(j, f, fits) for j, f in enumerate(fits)
        ]

    def _behind_sensor(self, joint: int, scale: float | None) -> JointFit:
        """Returns the fit of a joint behind its torque sensor: with dry and viscous friction if it
        is significant and leaves clearly less, else without.
        """
        without = self._fit(joint, scale, behind=())
        fit = self._fit(joint, scale)
        is_sure = any(fit.standard_errors[n] <= SURE * fit.values[n] for n in BEHIND)
        is_shown = is_sure and fit.rms_after < SHOWN * without.rms_after
        return fit if is_shown else without

    def _nearly_shows_scale(self, joint: int, fit: JointFit) -> bool:
        scale, error = fit.values['effort_scale'], fit.standard_errors['effort_scale']
        return self._weight(joint) >= LEAST_WEIGHT and error <= NEARLY_SURE_SCALE * abs(scale)

    def _with_shared(self, joint: int, shared: float) -> JointFit:
        fit = self._fit(joint, shared)
        why = {
            'effort_scale': 'too little weight on this joint: the value of the others is used, of '
            'those with its largest effort where there are such'
        }
        return replace(fit, not_identifiable={**why, **fit.not_identifiable})

    def _with_shared_load(self, joint: int, fit: JointFit, fits: list[JointFit]) -> JointFit:
        """Returns the fit of a joint that bears too little to show what its gear loses of its load,
        with what the gears of the others lose: they are of one kind.
        """
        shown = [f for f in fits if shows_load(f)]
        if not shown or self._settings.has_torque_sensors:
            return fit
        loads = {name: float(np.median([f.values[name] for f in shown])) for name in self._losses}
        found = self._fit(joint, fit.values['effort_scale'], loads)
        why = dict.fromkeys(loads, OTHERS_LOAD)
        return replace(
            found, not_identifiable={**fit.not_identifiable, **found.not_identifiable, **why}
        )

    def _equations(self, joint: int, scale: float | None) -> tuple[Array, Array]:
        """Returns matrix and left-hand side, which includes the masses if the scale is known."""
        terms = self._terms
        columns = [
            terms.direction[:, joint], terms.slow[:, joint], terms.velocity[:, joint],
            terms.one[:, joint], terms.acceleration[:, joint], terms.weighed[:, joint],
            terms.loaded[:, joint], terms.slow_loaded[:, joint],
        ]  # fmt: skip
        rigid, effort = terms.rigid[:, joint], terms.effort[:, joint]
        if scale is None:
            return np.column_stack([rigid, *columns]), effort
        columns[-2:] = [abs(scale) * column for column in columns[-2:]]
        return np.column_stack(columns), scale * effort - rigid

    def _fit(
        self, joint: int, scale: float | None, loads: Mapping[str, float] | None = None,
        behind: Sequence[str] = BEHIND,
    ) -> JointFit:  # fmt: skip
        matrix, target = self._equations(joint, scale)
        names = list(COLUMNS if scale is None else COLUMNS[1:])
        for name, value in (loads or {}).items():
            target = target - value * matrix[:, names.index(name)]
        why = self._left_out(joint, scale, loads is not None, behind)
        while True:
            kept = [names.index(n) for n in names if n not in why]
            solution, errors, rows = self._solve(joint, matrix[:, kept], target)
            found = dict(zip([names[k] for k in kept], solution, strict=True))
            sign = 1.0 if scale is not None else math.copysign(1.0, found.get('rigid', 1.0))
            negative = [n for n in self._never_negative if sign * found.get(n, 0.0) < 0.0]
            # One at a time: a wrongly fitted one may take from another.
            if large := [n for n in LOAD if sign * found.get(n, 0.0) > MOST_LOAD]:
                why[large[-1]] = f'it came out above {MOST_LOAD}, which no gear has; left out'
            elif negative:
                why[min(negative, key=lambda n: sign * found[n])] = 'it came out negative; left out'
            else:
                break
        spread = dict(zip([names[k] for k in kept], errors, strict=True))
        norms = np.linalg.norm(matrix[rows][:, kept], axis=0)
        condition = float(np.linalg.cond(matrix[rows][:, kept] / norms))
        values, deviations = _in_units({**found, **(loads or {})}, spread, scale)
        for name, value in values.items():
            limit = SURE_SCALE if name == 'effort_scale' else SURE
            error = deviations[name]
            if name not in OPTIONAL and name not in why and error > limit * abs(value):
                why.setdefault(name, f'{value:.3g} +- {error:.2g}: the motion does not show it')
        why = {name: text for name, text in why.items() if text != NOT_ASKED}
        if scale is None and self._weight(joint) < LEAST_WEIGHT:
            why.setdefault('effort_scale', 'too little weight on this joint')
        return self._checked(joint, values, deviations, condition, why)

    def _left_out(
        self, joint: int, scale: float | None, is_shared: bool, behind: Sequence[str]
    ) -> dict[str, str]:
        """Returns why the columns that are not to be fitted are not."""
        if self._settings.has_torque_sensors:
            return dict.fromkeys({*DRIVE, *BEHIND} - {*behind}, NOT_ASKED)
        others = (
            dict.fromkeys(LOAD, BY_WEIGHT) if self._by_weight else dict.fromkeys(WEIGHT, NOT_ASKED)
        )
        if self._is_supply:
            others['offset'] = NOT_ASKED
        if is_shared:
            return {**others, **dict.fromkeys(self._losses, NOT_ASKED)}
        if self._by_weight:
            why = LITTLE_LOAD if self._weight(joint) < LEAST_WEIGHT else ''
        elif self._load_share(joint, scale) < LEAST_LOAD:
            why = LITTLE_LOAD
        else:
            why = NO_BRAKING if self._never_brakes(joint) else ''
        return {**others, **(dict.fromkeys(self._losses, why) if why else {})}

    def _weight(self, joint: int) -> float:
        """N m of the masses' torque that show what a unit of effort is: its deviation, or, where
        efforts have no offset, its root mean square.
        """
        rigid = self._terms.rigid[self._is_fitted[:, joint], joint]
        return float(np.sqrt((rigid**2).mean()) if self._is_supply else rigid.std())

    def _never_brakes(self, joint: int) -> bool:
        rows, terms = self._is_fitted[:, joint], self._terms
        effort, loaded = terms.effort[rows, joint], terms.loaded[rows, joint]
        squares = float((effort @ effort) * (loaded @ loaded))
        return squares > 0.0 and float(effort @ loaded) ** 2 > NEVER_BRAKES * squares

    def _load_share(self, joint: int, scale: float | None) -> float:
        """Returns the torque of the masses as a share of the motor's; 1 while unknown."""
        if scale is None:
            return 1.0
        rows, terms = self._is_fitted[:, joint], self._terms
        load, motor = (
            float(np.sqrt((values[rows, joint] ** 2).mean()))
            for values in (terms.rigid, scale * terms.effort)
        )
        return load / max(motor, 1e-12)

    def _solve(
        self, joint: int, matrix: Array, target: Array
    ) -> tuple[Array, Array, NDArray[np.bool_]]:
        fitted = rows = self._is_fitted[:, joint]
        for _ in range(ROUNDS):
            solution = np.linalg.lstsq(matrix[rows], target[rows], rcond=None)[0]
            left = np.abs(target - matrix @ solution)
            deviation = 1.4826 * float(np.median(left[rows]))
            rows = fitted & (left <= OUTLIER * max(deviation, 1e-9))
        self.left_out = max(self.left_out, 1.0 - float(rows.sum() / fitted.sum()))
        variance = float((left[rows] ** 2).mean()) * self._alike
        covariance = variance * np.linalg.pinv(matrix[rows].T @ matrix[rows])
        return solution, np.sqrt(np.diag(covariance).clip(min=0.0)), rows

    def _checked(
        self, joint: int, values: dict[str, float],
        deviations: dict[str, float], condition: float, why: dict[str, str],
    ) -> JointFit:  # fmt: skip
        rows, terms = self._is_checked[:, joint], self._terms
        scale = values['effort_scale']
        plain = terms.rigid[rows, joint] - scale * terms.effort[rows, joint]
        left = (
            plain
            + values['coulomb'] * terms.direction[rows, joint]
            + values['stribeck'] * terms.slow[rows, joint]
            + values['viscous'] * terms.velocity[rows, joint]
            + values['offset'] * terms.one[rows, joint]
            + values['armature'] * terms.acceleration[rows, joint]
            + values['weight_friction'] * terms.weighed[rows, joint]
            + values['load_friction'] * abs(scale) * terms.loaded[rows, joint]
            + values['load_stribeck'] * abs(scale) * terms.slow_loaded[rows, joint]
        )
        return JointFit(
            self._names[joint], values, deviations, condition,
            float(np.sqrt((plain**2).mean())), float(np.sqrt((left**2).mean())),
            float(np.abs(left).max()), why,
        )  # fmt: skip


def explains_little(fit: JointFit, has_torque_sensors: bool) -> bool:
    """Returns whether a fit leaves much of what masses alone leave, more than sensors explain."""
    much = MUCH_LEFT_SENSED if has_torque_sensors else MUCH_LEFT
    return fit.rms_after > max(LITTLE * fit.rms_before, much)


def shows_load(fit: JointFit) -> bool:
    """Returns whether a joint shows what its gear loses of its load."""
    return not {LITTLE_LOAD, NO_BRAKING, OTHERS_LOAD} & set(fit.not_identifiable.values())


def loses_by_motor(fit: JointFit) -> bool:
    """Returns whether a joint clearly shows that its gear loses by the motor's torque."""
    return shows_load(fit) and any(
        fit.values[name] > 0.0 and fit.standard_errors[name] <= SURE * fit.values[name]
        for name in LOAD
    )


def _in_units(
    found: Mapping[str, float], spread: Mapping[str, float], scale: float | None
) -> tuple[dict[str, float], dict[str, float]]:
    """Returns values and standard errors of the motor model's columns."""
    values = {name: found.get(name, 0.0) for name in COLUMNS[1:]}
    deviations = {name: spread.get(name, math.nan) for name in COLUMNS[1:]}
    if scale is not None:
        return {'effort_scale': scale, **values}, {'effort_scale': math.nan, **deviations}
    per_torque = found['rigid'] or 1e-12
    factor = 1.0 / per_torque
    for name in COLUMNS[1 : -len(LOAD)]:
        values[name] *= factor
        deviations[name] *= abs(factor)
    for name in LOAD:
        values[name] *= math.copysign(1.0, factor)
    return (
        {'effort_scale': factor, **values},
        {'effort_scale': spread['rigid'] * factor**2, **deviations},
    )
