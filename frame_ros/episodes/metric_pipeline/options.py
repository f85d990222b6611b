# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Options of the metric pipeline, which are recorded with every episode, so that a bag gives the
same numbers again.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from frame_ros.confidence.calibration_file import CalibrationFile
from frame_ros.confidence.inference_uncertainty import CONFIDENCE_AGGREGATES, EPISODE_AGGREGATES
from frame_ros.core.errors import ValueRangeError
from frame_ros.core.input_files import load_json
from frame_ros.core.options import (
    evolved,
    flatten,
    from_values,
    option,
    options,
    rule,
    walk,
)
from frame_ros.episodes.reference import Reference
from frame_ros.metrics.distance_bounds import BOUNDS, MEANING, NEAREST_SEEN
from frame_ros.metrics.resampling import MATCHES

if TYPE_CHECKING:
    from frame_ros.metrics import ContactLimits

# Task -> whether the object has to go somewhere, so that OT needs a goal and the grasp.
OT_TASKS = {'pick': False, 'move': True, 'put_on': True, 'put_in': True}
DEFINITIONS = 'definitions'  # key of the version, next to the options
# Recorded, but no options.
GIVEN = ('action_names', 'action_lower', 'action_upper', 'continuous', 'pose_frame')


@options
class MetricParameters:
    """Metrics that are computed, and how."""

    hold: float = option(
        0.05,
        "time beyond the slowest joined stream's period that a step waits; what lags more "
        'is unavailable',
        unit='s',
        at_least=0.0,
    )
    efficiency_hold: float = option(
        0.25,
        'time that a step waits for inference messages in efficiency_metrics',
        unit='s',
        at_least=0.0,
    )
    silence: float = option(
        1.0, 'time without a message after which a stream is not waited for', unit='s', at_least=0.0
    )
    gap: float = option(
        0.5, 'time between two steps beyond which differences restart', unit='s', at_least=0.0
    )
    max_pose_age: float = option(
        0.1, 'age of a pose beyond which a step does not use it', unit='s', at_least=0.0
    )
    max_contact_age: float = option(0.5, 'age of a contact, likewise', unit='s', at_least=0.0)
    max_distance_age: float = option(0.5, 'age of a distance, likewise', unit='s', at_least=0.0)
    distance_bound: str = option(NEAREST_SEEN, f'distance that counts: {MEANING}', choices=BOUNDS)
    static_threshold: float = option(
        0.005, 'motion of the TCP below which an episode counts as static', unit='m', at_least=0.0
    )
    risk_floor: float = option(
        1e-3, 'smallest distance used in the risk factor', unit='m', above=0.0
    )
    near_distance: float = option(0.05, 'radius of the near zone', unit='m', at_least=0.0)
    moving_speed: float = option(
        0.01, 'speed from which the TCP counts as moving', unit='m/s', at_least=0.0
    )
    force_limit: float = option(
        0.0,
        'quasi-static force that a contact may reach, in the manner of ISO/TS 15066; 0: '
        'none. Monitoring only',
        unit='N',
        at_least=0.0,
    )
    pressure_limit: float = option(
        0.0,
        'pressure that it may reach, which needs contact_area; 0: none',
        unit='Pa',
        at_least=0.0,
    )
    contact_area: float = option(
        0.0, 'area over which a contact is taken to press', unit='m^2', at_least=0.0
    )
    transient_factor: float = option(
        2.0, 'multiple of the two limits that a short contact may reach', at_least=0.0
    )
    transient_time: float = option(
        0.5, 'time for which a contact counts as short', unit='s', at_least=0.0
    )
    limited_contacts: str = option(
        'unexpected', 'contacts that the limits are for', choices=('unexpected', 'all')
    )
    low_pass_cutoff: float = option(
        0.0,
        'cutoff of a causal low-pass of the TCP poses before all metrics of them; 0: none',
        unit='Hz',
        at_least=0.0,
    )
    ot_task: str = option(
        '', 'task of the optimal trajectory difference; empty: none', choices=('', *OT_TASKS)
    )
    ot_second_term: str = option(
        'object_to_goal',
        'term added to the distance from TCP to object before the grasp',
        choices=('object_to_goal', 'tcp_to_goal'),
    )
    max_object_age: float = option(
        0.5,
        'age of an object pose beyond which a step does not use it; 0: no limit',
        unit='s',
        at_least=0.0,
    )
    max_goal_age: float = option(
        0.0, 'age of a goal pose, likewise; it may be published once', unit='s', at_least=0.0
    )
    max_gripper_age: float = option(
        0.5, 'age of the decision on the grasp, likewise', unit='s', at_least=0.0
    )
    grasp_distance: float = option(
        0.0,
        'distance from the TCP within which the object must be to be held; 0: anywhere',
        unit='m',
        at_least=0.0,
    )
    reference_match: str = option(
        'time', 'way in which a pose finds its place on a reference', choices=MATCHES
    )
    rte_delta: int = option(1, 'poses over which rte compares displacements', at_least=1)
    confidence_aggregate: str = option(
        'mean', 'confidence over the tokens of an inference', choices=CONFIDENCE_AGGREGATES
    )
    confidence_episode: str = option(
        'first',
        'confidence over the inferences of an episode; window: of 5',
        choices=EPISODE_AGGREGATES,
    )

    @rule('force_limit', 'consistent with the other limits')
    def _has_limits(self) -> bool:
        self.contact_limits()
        return True

    @property
    def has_goal(self) -> bool:
        """Returns whether the task of OT takes the object somewhere."""
        return OT_TASKS.get(self.ot_task, False)

    def contact_limits(self) -> ContactLimits:
        """Limits of what a contact may do.

        Raises:
            ValueRangeError: settings that contradict each other.
        """
        # Imported here, so that a node without array-api-compat says so in one line.
        from frame_ros.metrics import ContactLimits

        return ContactLimits(
            self.force_limit, self.pressure_limit, self.contact_area,
            self.transient_factor, self.transient_time,
        )  # fmt: skip


@options
class PipelineOptions(MetricParameters):
    """Options of `MetricPipeline`.

    Attributes:
        action_names: D joints in the order of the action vector; empty: the order of the first
            action.
        action_lower, action_upper: D bounds each (rad or m) that normalise actions to [0, 1];
            empty: raw actions.
        continuous: joints that turn without end: each of their positions counts as the turn of it
            that is nearest the one before, whether a driver publishes them from -pi to pi or not.
        pose_frame: frame of the TCP poses, where they do not name it; empty: not known.
        references: trajectories for ATE and RTE.
        calibration: what is applied to confidences and scores; None: nothing.
    """

    action_names: tuple[str, ...] = ()
    action_lower: tuple[float, ...] = ()
    action_upper: tuple[float, ...] = ()
    continuous: tuple[str, ...] = ()
    pose_frame: str = ''
    references: tuple[Reference, ...] = ()
    calibration: CalibrationFile | None = None

    @rule('action_lower', 'as many bounds as action_names, or none, each finite and below upper')
    def _has_bounds(self) -> bool:
        names, lower, upper = self.action_names, self.action_lower, self.action_upper
        if len(lower) != len(upper) or (lower and len(lower) != len(names)):
            return False
        if not all(isinstance(value, (int, float)) for value in (*lower, *upper)):
            return False
        return all(-math.inf < low < high < math.inf for low, high in zip(lower, upper))

    @rule('references', 'trajectories with a length, where they are matched by it')
    def _have_lengths(self) -> bool:
        is_matched = self.reference_match == 'arc_length'
        return not is_matched or all(len(set(r.positions)) > 1 for r in self.references)

    @property
    def bounds(self) -> tuple[tuple[float, ...], tuple[float, ...]] | None:
        """(lower, upper), or None for raw actions."""
        return (self.action_lower, self.action_upper) if self.action_lower else None

    def to_json(self) -> str:
        """The settings as JSON text, as published on `metrics_config`, with the version of the
        metrics' definitions; numbers are exact.
        """
        # Here, so that the settings are read where what the metrics need is not installed.
        from frame_ros.metrics.constants import VERSION

        values = {**flatten(self), **{name: getattr(self, name) for name in GIVEN}}
        references = [asdict(each) for each in self.references]
        for reference in references:
            del reference['orientations']  # nothing that is computed live needs them
        values |= {'references': references, DEFINITIONS: VERSION}
        if self.calibration is not None:
            values['calibration'] = self.calibration.to_dict()
        return json.dumps(values)

    @classmethod
    def from_json(cls, text: str) -> PipelineOptions:
        """Reads what `to_json` wrote; names that this version does not know are ignored.

        Raises:
            ValueRangeError: not a JSON object, or a value that cannot be.
            CalibrationError: the calibration cannot be.
        """
        try:
            given = load_json(text)
        except ValueError as error:
            raise ValueRangeError(f'pipeline settings are not JSON: {error}') from error
        if not isinstance(given, dict):
            raise ValueRangeError(f'pipeline settings are a {type(given).__name__}, not an object')
        values: dict[str, Any] = {
            str(name): tuple(value) if isinstance(value, list) else value
            for name, value in given.items()
        }
        declared = {each.name: each for each in walk(cls) if each.name in values}
        known = {name: each.checked(values[name]) for name, each in declared.items()}
        return evolved(from_values(cls, known), **_given(values))


def _given(values: Mapping[str, Any]) -> dict[str, Any]:
    """Returns what was recorded of the run itself, each of its type.

    Raises:
        ValueRangeError: a value is of another type.
        CalibrationError: the calibration cannot be.
    """
    found = {name: values[name] for name in (*GIVEN, 'references') if name in values}
    for name, value in found.items():
        if name == 'pose_frame':
            is_right = isinstance(value, str)
        else:
            kinds = {'action_names': str, 'continuous': str, 'references': Mapping}
            kind = kinds.get(name, (int, float))
            is_right = isinstance(value, tuple) and all(isinstance(each, kind) for each in value)
        if not is_right:
            raise ValueRangeError(f'{name} of the pipeline settings cannot be {value!r}')
    if 'references' in found:
        found['references'] = tuple(map(Reference.from_mapping, found['references']))
    if 'calibration' in values:
        found['calibration'] = CalibrationFile.from_dict(values['calibration'])
    return found


def recorded_definitions(text: str) -> int | None:
    """Returns the version of the definitions that recorded settings were used with; None where
    there are no settings.
    """
    try:
        version = load_json(text).get(DEFINITIONS, 1)
    except (ValueError, AttributeError, RecursionError):
        return None
    return version if isinstance(version, int) else None


def target_streams(config: PipelineOptions) -> tuple[str, ...]:
    """The streams that OT needs in addition to the poses."""
    if not config.ot_task:
        return ()
    return ('object', 'goal', 'grasp') if config.has_goal else ('object', 'grasp')


def sporadic_streams(config: PipelineOptions) -> tuple[str, ...]:
    """Those of them that may be published only once."""
    ages = {'object': config.max_object_age, 'goal': config.max_goal_age}
    return tuple(s for s in target_streams(config) if ages.get(s) == 0)
