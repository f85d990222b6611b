# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Options of the metric pipeline, recorded with every episode: a bag repeats the same numbers."""

from __future__ import annotations

import json
import math
from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING, Any

from frame_ros.confidence.inference_uncertainty import CONFIDENCE_AGGREGATES, EPISODE_AGGREGATES
from frame_ros.core.errors import ValueRangeError
from frame_ros.core.input_files import load_json
from frame_ros.episodes.reference import Reference
from frame_ros.sensing.contact.grasp import SOURCES, GraspOptions

if TYPE_CHECKING:
    from frame_ros.metrics import ContactLimits

# Task -> whether the object has to go somewhere, so that OT needs a goal and the grasp.
OT_TASKS = {'pick': False, 'move': True, 'put_on': True, 'put_in': True}
CHOICES: dict[str, tuple[str, ...]] = {
    'ot_task': ('', *OT_TASKS),
    'ot_second_term': ('object_to_goal', 'tcp_to_goal'),
    'grasp_source': SOURCES,
    'limited_contacts': ('unexpected', 'all'),
    'reference_match': ('time', 'arc_length'),
    'confidence_aggregate': CONFIDENCE_AGGREGATES,
    'confidence_episode': EPISODE_AGGREGATES,
}
# Positions of a gripper may be negative.
SIGNED = frozenset(('gripper_closed', 'gripper_open', 'gripper_empty'))

DEFINITIONS = 'definitions'  # key of the version, next to the settings


@dataclass(frozen=True)
class PipelineOptions:
    """Settings of `MetricPipeline`.

    action_names: D joints in the order of the action vector; empty: the order of the first action.
    action_lower, action_upper: D bounds each (rad or m) that normalise actions to [0, 1]; empty:
    raw actions. hold: s a step waits for streams that lag. efficiency_hold: s it waits for the
    slower inference messages. silence: s without a message after which a stream is not waited for.
    gap: s between two steps beyond which differences start again. max_pose_age, max_contact_age,
    max_distance_age:
    s beyond which a joined value is too old to be used. static_threshold: m of TCP motion below
    which an episode counts as static. risk_floor: m, least distance used in the risk factor.
    near_distance: m, the near zone. moving_speed: m/s from which the TCP counts as moving.

    force_limit, pressure_limit, contact_area, transient_factor, transient_time: see
    `ContactLimits`. limited_contacts: which contacts they are meant for, 'unexpected' or 'all'.

    low_pass_cutoff: Hz of the causal low-pass that poses go through first; 0: none. pose_frame: the
    frame of the TCP poses, where they do not say it themselves; empty: not known.

    ot_task: what is done, one of OT_TASKS; empty: no optimal trajectory difference. ot_second_term:
    what is added to the distance from TCP to object before the grasp. max_object_age, max_goal_age,
    max_gripper_age: s beyond which a joined value is too old; 0: no limit, so that one message may
    serve for all episodes. grasp_source, gripper_* and effort_*, contact_links, grasp_debounce: see
    `GraspOptions`; gripper_joint: the joint of joint_states. grasp_distance: m from the TCP within
    which the object must be to be held; 0: anywhere.

    references: trajectories for ATE and RTE. reference_match: what brings a pose to its place on a
    reference, 'time' or 'arc_length'. rte_delta: poses over which RTE compares displacements.

    confidence_aggregate: over the tokens of an inference, one of CONFIDENCE_AGGREGATES.
    confidence_episode: over the inferences of an episode, one of EPISODE_AGGREGATES.
    """

    action_names: tuple[str, ...] = ()
    action_lower: tuple[float, ...] = ()
    action_upper: tuple[float, ...] = ()
    hold: float = 0.05
    efficiency_hold: float = 0.25
    silence: float = 1.0
    gap: float = 0.5
    max_pose_age: float = 0.1
    max_contact_age: float = 0.5
    max_distance_age: float = 0.5
    static_threshold: float = 0.005
    risk_floor: float = 1e-3
    near_distance: float = 0.05
    moving_speed: float = 0.01
    force_limit: float = 0.0
    pressure_limit: float = 0.0
    contact_area: float = 0.0
    transient_factor: float = 2.0
    transient_time: float = 0.5
    limited_contacts: str = 'unexpected'
    low_pass_cutoff: float = 0.0
    pose_frame: str = ''
    ot_task: str = ''
    ot_second_term: str = 'object_to_goal'
    max_object_age: float = 0.5
    max_goal_age: float = 0.0
    max_gripper_age: float = 0.5
    grasp_source: str = 'position'
    gripper_joint: str = 'gripper'
    gripper_closed: float = 0.2
    gripper_open: float = 0.25
    gripper_smaller_is_closed: bool = True
    gripper_empty: float = 0.0
    gripper_margin: float = 0.0
    effort_on: float = 0.5
    effort_off: float = 0.25
    contact_links: int = 2
    grasp_debounce: float = 0.1
    grasp_distance: float = 0.0
    reference_match: str = 'time'
    rte_delta: int = 1
    confidence_aggregate: str = 'mean'
    confidence_episode: str = 'first'
    references: tuple[Reference, ...] = ()

    def __post_init__(self) -> None:
        for field in fields(self):
            self._check(field.name, getattr(self, field.name), field.default)
        if not self.risk_floor > 0:
            raise ValueRangeError(f'risk_floor is {self.risk_floor} m; it must be more than 0')
        self._check_bounds()
        self.contact_limits()
        if self.ot_task:
            self.grasp_settings()
        if self.reference_match == 'arc_length':
            self._check_lengths()

    def _check(self, name: str, value: Any, default: Any) -> None:
        if isinstance(default, tuple):
            self._check_tuple(name, value)
        elif isinstance(default, str):
            if not isinstance(value, str):
                raise ValueRangeError(f'{name} is {value!r}; it must be a text')
            if value not in CHOICES.get(name, (value,)):
                known = ', '.join(repr(choice) for choice in CHOICES[name])
                raise ValueRangeError(f'{name} is {value!r}; it must be one of {known}')
        elif isinstance(default, bool):
            if not isinstance(value, bool):
                raise ValueRangeError(f'{name} is {value!r}; it must be true or false')
        elif isinstance(value, bool) or not isinstance(value, (int, float)):
            raise ValueRangeError(f'{name} is {value!r}; it must be a number')
        elif isinstance(default, int):
            if not (isinstance(value, int) and value >= 1):
                raise ValueRangeError(f'{name} is {value}; it must be a whole number from 1')
        elif not (math.isfinite(value) and (value >= 0 or name in SIGNED)):
            raise ValueRangeError(f'{name} is {value}; it must be finite, not negative')

    def _check_tuple(self, name: str, value: object) -> None:
        kinds: tuple[type, ...] = (int, float)
        kinds = {'action_names': (str,), 'references': (Reference,)}.get(name, kinds)
        if not isinstance(value, tuple) or not all(isinstance(item, kinds) for item in value):
            raise ValueRangeError(f'{name} is {value!r}; it must list {kinds[-1].__name__} values')

    def _check_lengths(self) -> None:
        for reference in self.references:
            if len(set(reference.positions)) == 1:
                raise ValueRangeError(
                    f'reference {reference.origin} has no length; match it by time'
                )

    def _check_bounds(self) -> None:
        names, lower, upper = self.action_names, self.action_lower, self.action_upper
        if len(lower) != len(upper) or (lower and len(lower) != len(names)):
            raise ValueRangeError(
                f'{len(names)} action names with {len(lower)} lower and {len(upper)} upper bounds; '
                'give as many bounds as names, or none'
            )
        for name, low, high in zip(names, lower, upper):
            if not -math.inf < low < high < math.inf:
                raise ValueRangeError(
                    f'bounds of {name} are [{low}, {high}]; both finite, lower below upper'
                )

    @property
    def bounds(self) -> tuple[tuple[float, ...], tuple[float, ...]] | None:
        """(lower, upper), or None for raw actions."""
        return (self.action_lower, self.action_upper) if self.action_lower else None

    @property
    def has_goal(self) -> bool:
        """Tells if the task of OT takes the object somewhere."""
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

    def grasp_settings(self) -> GraspOptions:
        """Conditions that make a grasp.

        Raises:
            ValueRangeError: settings that contradict each other.
        """
        return GraspOptions(
            self.grasp_source, self.gripper_closed, self.gripper_open,
            self.gripper_smaller_is_closed, self.gripper_empty, self.gripper_margin,
            self.effort_on, self.effort_off, self.contact_links, self.grasp_debounce,
        )  # fmt: skip

    def to_json(self) -> str:
        """The settings as JSON text, as published on `metrics_config`, with the version of the
        metrics' definitions; numbers are exact.
        """
        # Here, so that the settings are read where what the metrics need is not installed.
        from frame_ros.metrics.constants import VERSION

        values = {**asdict(self), DEFINITIONS: VERSION}
        for reference in values['references']:
            del reference['orientations']  # nothing that is computed live needs them
        return json.dumps(values)

    @classmethod
    def from_json(cls, text: str) -> PipelineOptions:
        """Reads what `to_json` wrote; names that this version does not know are ignored.

        Raises:
            ValueRangeError: not a JSON object, or a value that cannot be.
        """
        try:
            given = load_json(text)
        except ValueError as error:
            raise ValueRangeError(f'pipeline settings are not JSON: {error}') from error
        if not isinstance(given, dict):
            raise ValueRangeError(f'pipeline settings are a {type(given).__name__}, not an object')
        known = {field.name for field in fields(cls)}
        values: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value
            for name, value in given.items()
            if name in known
        }
        references = values.get('references')
        if isinstance(references, tuple):
            values['references'] = tuple(map(Reference.from_mapping, references))
        return cls(**values)


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
    """The streams that OT needs besides the poses, with what shows the grasp: to pick, only if
    that is named.
    """
    if not config.ot_task:
        return ()
    if config.has_goal:
        return 'object', 'goal', 'gripper'
    is_named = config.gripper_joint or config.grasp_source == 'contact'
    return ('object', 'gripper') if is_named else ('object',)


def sporadic_streams(config: PipelineOptions) -> tuple[str, ...]:
    """Those of them that may come once and stay valid."""
    ages = {'object': config.max_object_age, 'goal': config.max_goal_age}
    return tuple(s for s in target_streams(config) if ages.get(s) == 0)
