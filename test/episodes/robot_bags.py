# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Bags of a robot that moves: joint states, commands, images, takeovers, the gate, inferences."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from bag_making import T0, event, message, stamp, write_bag

from frame_ros.core.events import EventType
from frame_ros.core.time import SECOND

JOINTS = ('shoulder_pan', 'shoulder_lift', 'elbow_flex', 'wrist_flex', 'wrist_roll', 'gripper')
RATE = 30
SIZE = (16, 12)


def commands(count: int) -> np.ndarray:
    """(count, 6) rad: what is commanded at each step."""
    time = np.arange(count)[:, None] / RATE
    return 0.3 * np.sin(time + np.arange(len(JOINTS))) + 0.05


def joint_state(at: int, positions: Sequence[float], names: Sequence[str] = JOINTS) -> Any:
    """A JointState."""
    return message(
        'sensor_msgs/msg/JointState',
        header__stamp=stamp(at),
        name=list(names),
        position=np.array(positions, float),
    )


def image(at: int, value: int, size: tuple[int, int] = SIZE) -> Any:
    """An rgb8 image of one colour: red is `value`."""
    width, height = size
    pixels = np.zeros((height, width, 3), np.uint8)
    pixels[:, :, 0] = value
    return message(
        'sensor_msgs/msg/Image',
        header__stamp=stamp(at),
        height=height,
        width=width,
        encoding='rgb8',
        step=3 * width,
        data=pixels.ravel(),
    )


def step_stamp(step: int, start: int = T0) -> int:
    """ns of a control step."""
    return start + round(step * SECOND / RATE)


def robot_messages(
    count: int = 30,
    cameras: Sequence[str] = ('front',),
    image_every: int = 1,
    start: int = T0,
    episode_id: str = 'e1',
    outcome: int = 1,
    instruction: str = 'pick',
) -> list[tuple[str, int, Any]]:
    """Commands, joint states 2 ms and images 1 ms before them, from START to END."""
    first = event(start - 1000, EventType.START, episode_id, instruction=instruction)
    sent: list[tuple[str, int, Any]] = [('/episode_events', start - 2000, first)]
    wanted = commands(count)
    for step in range(count):
        at = step_stamp(step, start)
        state = wanted[max(step - 1, 0)]
        sent.append(('/joint_states', at, joint_state(at - 2_000_000, state)))
        if step % image_every == 0:
            for camera in cameras:
                sent.append((f'/{camera}/image_raw', at, image(at - 1_000_000, step)))
        sent.append(('/joint_commands', at, joint_state(at, wanted[step])))
    # Seen before the first command, as a robot is.
    sent.insert(1, ('/joint_states', start, joint_state(start - 20_000_000, wanted[0])))
    end = step_stamp(count, start)
    sent.append(('/episode_events', end, event(end, EventType.END, episode_id, outcome=outcome)))
    return sent


def takeover(begin: int, end: int, source: str = 'gate', start: int = T0) -> list:
    """Events of a person who drives from step `begin` to step `end`."""
    kinds = ((begin, EventType.INTERVENTION_START), (end, EventType.INTERVENTION_END))
    sent = []
    for step, kind in kinds:
        at = step_stamp(step, start)
        content = event(at, kind, '')
        object.__setattr__(content, 'source', source)
        sent.append(('/episode_events', at, content))
    return sent


def gate(
    at: float, action: int, cause: str, count: int = 1, is_over: bool = False, **more
) -> tuple:
    """A GateIntervention at a time, s since the start."""
    when = T0 + round(at * SECOND)
    content = message(
        'frame_ros/msg/GateIntervention',
        header__stamp=stamp(when),
        action=action,
        cause=cause,
        count=count,
        is_over=is_over,
        **more,
    )
    return ('/gate_interventions', when, content)


def inference(request: int, actions: np.ndarray, ready: int | None = None, **values) -> tuple:
    """A PolicyInference whose request (and readiness) is at a control step."""
    at = step_stamp(request if ready is None else ready)
    content = message(
        'frame_ros/msg/PolicyInference',
        header__stamp=stamp(at),
        request_stamp=stamp(step_stamp(request)),
        observation_stamp=stamp(step_stamp(request)),
        horizon=actions.shape[0],
        action_dimension=actions.shape[1],
        actions=np.ascontiguousarray(actions, float).ravel(),
        action_dt=1 / RATE,
        action_space='joint_position',
        action_names=list(JOINTS),
        action_units=['rad'] * len(JOINTS),
        **values,
    )
    return ('/policy_inference', at, content)


def robot_bag(folder: Path, extra: Sequence[tuple] = (), metadata=None, **options) -> Path:
    """Writes a bag of `robot_messages` and what is given beside them."""
    sent = sorted([*robot_messages(**options), *extra], key=lambda m: m[1])
    return write_bag(folder, sent, metadata)
