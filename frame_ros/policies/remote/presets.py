# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Names of values on the wire: those of OpenPI's platforms, and your own.

A preset maps each key on the wire to what it holds, in these words, with + between parts of one
vector:

    joints          positions of all joints
    arm_joints      without the gripper
    gripper         the gripper joints
    fingers         the opening as LIBERO's Panda has it: two fingers at q and -q, 0 to 0.04 m
    tcp_position    m, base frame; tcp_rotation_vector: rad (both from the pose `tcp`)
    tcp_rotation_vector_down  the same rotation, written so that it does not jump by a whole turn
                    about a hand that points down, whose vector is (pi, 0, 0)
    instruction     the text
    images.NAME     the image of camera NAME

A key goes out as it is written; `a>b` is key b in a map under key a.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from frame_ros.core.errors import PolicyError

IMAGES = 'images.'
PARTS = (
    'joints',
    'arm_joints',
    'gripper',
    'fingers',
    'tcp_position',
    'tcp_rotation_vector',
    'tcp_rotation_vector_down',
)
ACTIONS = ('joint_position', 'joint_velocity', 'ee_delta')
TCP = 'tcp'
TCP_PARTS = PARTS[-3:]
INSTRUCTION = 'instruction'


@dataclass(frozen=True)
class Preset:
    """The wire format of one kind of server.

    Attributes:
        keys: key -> what it holds; empty: the wire format of frame_ros itself.
        dt: s between two actions; 0: not known.
        image_size: (H, W) that images are resized to, with black borders; None: they stay.
        is_channel_first: images are (3, H, W).
        gripper: how its opening is written, one of robots.grippers.GRIPPER_CONVENTIONS.
        is_in_degrees: the arm's joints are, state and action.
        actions: 'joint_position'; 'joint_velocity' (DROID: a share of 0.2 rad per step, integrated
            to positions); 'ee_delta' (LIBERO: a share of 0.05 m and 0.5 rad per step; gripper from
            -1, open, to 1).
        has_binary_gripper: actions of it above one half are 1, others 0.
        gripper_columns: where a gripper is among the joints of an action; -1: last; empty:
            anywhere.
    """

    name: str
    keys: Mapping[str, str]
    dt: float = 0.0
    image_size: tuple[int, int] | None = None
    is_channel_first: bool = False
    gripper: str = 'position'
    is_in_degrees: bool = False
    actions: str = 'joint_position'
    has_binary_gripper: bool = False
    gripper_columns: tuple[int, ...] = ()

    @property
    def cameras(self) -> tuple[str, ...]:
        """The cameras that the keys name."""
        return tuple(v[len(IMAGES) :] for v in self.keys.values() if v.startswith(IMAGES))

    @property
    def needs_tcp(self) -> bool:
        """True if it needs the pose of the TCP."""
        return any(part in TCP_PARTS for value in self.keys.values() for part in value.split('+'))


# The keys are those of openpi's src/openpi/policies (droid_policy, aloha_policy, libero_policy);
# sizes, rates and what the actions mean are those of its examples (droid/main.py, aloha_real,
# libero/main.py), of DROID's robot_ik_solver.py (0.2 rad per step) and robosuite's OSC_POSE
# controller, which LIBERO runs.
PRESETS = {
    'frame_ros': Preset('frame_ros', {}),
    'openpi': Preset('openpi', {}),
    'droid': Preset(
        'droid',
        {
            'observation/exterior_image_1_left': 'images.front',
            'observation/wrist_image_left': 'images.wrist',
            'observation/joint_position': 'arm_joints',
            'observation/gripper_position': 'gripper',
            'prompt': INSTRUCTION,
        },
        dt=1 / 15,
        image_size=(224, 224),
        gripper='closed',
        actions='joint_velocity',
        has_binary_gripper=True,
        gripper_columns=(-1,),
    ),
    'aloha': Preset(
        'aloha',
        {
            'images>cam_high': 'images.cam_high',
            'images>cam_left_wrist': 'images.cam_left_wrist',
            'images>cam_right_wrist': 'images.cam_right_wrist',
            'state': 'joints',
            'prompt': INSTRUCTION,
        },
        dt=1 / 50,
        image_size=(224, 224),
        is_channel_first=True,
        gripper='open',
        gripper_columns=(6, 13),
    ),
    'libero': Preset(
        'libero',
        {
            'observation/image': 'images.front',
            'observation/wrist_image': 'images.wrist',
            'observation/state': 'tcp_position+tcp_rotation_vector_down+fingers',
            'prompt': INSTRUCTION,
        },
        dt=1 / 20,
        image_size=(224, 224),
        actions='ee_delta',
    ),
}


def make_preset(
    name: str,
    observation_keys: Mapping[str, str] | None = None,
    camera_names: Mapping[str, str] | None = None,
    **changes: object,
) -> Preset:
    """Returns the preset `name` with other keys, cameras or fields.

    Args:
        observation_keys: in place of the preset's keys; 'openpi' needs them.
        camera_names: key of an image -> camera.
        changes: fields of Preset; None leaves a field as it is.

    Raises:
        PolicyError: an unknown preset, or a key that holds something unknown.
    """
    if name not in PRESETS:
        raise PolicyError(f'there is no preset {name!r}; known: {", ".join(PRESETS)}')
    preset = PRESETS[name]
    given = {key: value for key, value in changes.items() if value is not None}
    if observation_keys and name == 'frame_ros':
        raise PolicyError("observation_keys are for other presets than 'frame_ros'")
    keys = dict(observation_keys or preset.keys)
    if name == 'openpi' and not keys:
        raise PolicyError(
            "the preset 'openpi' needs observation_keys, such as {'observation/image': "
            "'images.front', 'observation/state': 'joints', 'prompt': 'instruction'}"
        )
    for key, camera in (camera_names or {}).items():
        if not keys.get(key, '').startswith(IMAGES):
            raise PolicyError(f'camera_names has {key!r}; the image keys are {_image_keys(keys)}')
        keys[key] = IMAGES + camera
    for key, value in keys.items():
        _check_source(key, value)
    if given.get('actions', 'joint_position') not in ACTIONS:
        raise PolicyError(f'actions is {given["actions"]!r}; known: {", ".join(ACTIONS)}')
    return replace(preset, keys=keys, **given)  # type: ignore[arg-type]


def _image_keys(keys: Mapping[str, str]) -> list[str]:
    return [key for key, value in keys.items() if value.startswith(IMAGES)]


def _check_source(key: str, value: str) -> None:
    is_known = (
        value == INSTRUCTION
        or (value.startswith(IMAGES) and len(value) > len(IMAGES))
        or all(part in PARTS for part in value.split('+'))
    )
    if not is_known:
        raise PolicyError(
            f'key {key!r} holds {value!r}; it must be {INSTRUCTION}, {IMAGES}CAMERA, or of '
            f'{", ".join(PARTS)}, with + between'
        )
