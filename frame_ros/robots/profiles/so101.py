# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The SO-101 of LeRobot: six STS3215 servos, the last of which moves a jaw."""

import math

from frame_ros.robots.profile import (
    ControllerPreset,
    Gripper,
    LeRobotTypes,
    Rates,
    RobotProfile,
    TrackingPreset,
)
from frame_ros.robots.simulated import (
    CameraMount,
    EncoderOptions,
    JointServo,
    PickPlaceMotion,
    Simulation,
    Worktable,
)

# Folded back, the gripper above the table's near edge.
HOME = {
    'shoulder_pan': 0.0, 'shoulder_lift': -1.35, 'elbow_flex': 1.25, 'wrist_flex': 0.85,
    'wrist_roll': 0.0, 'gripper': 0.3,
}  # fmt: skip
FINGERS = ('gripper_link', 'moving_jaw_so101_v1_link')
RATES = Rates(
    velocity=45.0 / 60.0 * 2.0 * math.pi,
    acceleration=254.0 * 100.0 * 2.0 * math.pi / 4096.0,
    source='STS3215: 45 rpm without load (data sheet); LeRobot sets the register Acceleration to '
    '254, of 100 steps/s^2 each, with 4096 steps per turn',
)
AXIS = 0.0388353  # m, x of the vertical axis of shoulder_pan

# The STS3215 servo as a position actuator. Stiffness and damping are such that the closed loop
# follows a moving target by about 30 ms and sags by about a degree under the arm's weight, as the
# real one does; the torque limit is that of the 12 V version, the armature its rotor and gears seen
# at the output.
STS3215 = JointServo(90.0, 2.6, 2.94, 0.028, 0.3, 0.04)
# The grip is limited, as by the servo's torque setting.
GRIPPER_SERVO = JointServo(20.0, 2.6, 0.8, 0.028, 0.3, 0.04)

TABLE = Worktable(
    size=(0.74, 0.9, 0.04),
    centre=(0.22, 0.0),
    floor_depth=0.42,
    room=1.8,
    cube_size=0.03,
    cube_mass=0.025,
    bin_inner=0.095,
    bin_height=0.04,
    bin_wall=0.004,
    can=(0.017, 0.03),
    can_mass=0.09,
    block=(0.02, 0.0125, 0.0175),
    block_mass=0.05,
    axis=(AXIS, 0.0),
    object_radii=(0.185, 0.265),
    object_azimuths=(-0.85, 0.05),
    bin_radius=0.235,
    bin_azimuth=0.82,
    distractor_radii=(0.2, 0.34),
    distractor_azimuths=(-1.1, 0.45),
    clearance=0.095,
    bin_clearance=0.13,
)

# The tip's x axis points from the moving to the fixed finger's face and beyond, and its origin lies
# on that face. Unrolled, the fixed finger is towards the base.
SCRIPTED = PickPlaceMotion(
    tip='default',
    opened=0.62, released=0.5, closed=0.02, closing_time=0.6, opening_time=0.45,
    above=0.085, grasp=0.015, lifted=0.12, over_bin=0.125, in_bin=0.062, placed=0.05,
    before_grasp=(-0.0205, 0.0, 0.0), held=(-0.015, 0.0, 0.0),
    closing=0.0, unrolled=math.pi, first_axis=AXIS, first_sign=-1.0, reach=(0.12, 0.36),
    pace=1.0, tremor=0.014, miss=(0.02, 0.02, 0.012),
)  # fmt: skip

SIMULATION = Simulation(
    timestep=0.002,
    watched_links=('upper_arm_link', 'lower_arm_link', 'wrist_link', *FINGERS),
    servos=(STS3215,) * 5 + (GRIPPER_SERVO,),
    cameras={
        'front': CameraMount('', (0.62, -0.40, 0.42), 42.0, target=(0.15, 0.03, 0.07)),
        # Above the fingers, looking along them and a little towards the fixed one.
        'wrist': CameraMount(
            'gripper_link', (0.0, 0.055, -0.005), 70.0, tilt=-math.radians(22.0),
            depth_sensor='D405',
        ),
    },
    table=TABLE,
    # 4096 steps per turn (Feetech's data sheet); the servo's velocity is a difference of steps.
    encoder=EncoderOptions(2 * math.pi / 4096, velocity_window=0.02),
    motors='config/motors/so101.yaml',
    command_rate=50.0,
    sample_steps=10,
    scripted=SCRIPTED,
    parameters={
        # A cube of 3 cm keeps the gripper open by 0.15 rad.
        'kinematics': {'grasp.margin': 0.07},
        # Its middle is 14 mm from the TCP.
        'metrics': {'ot_task': 'put_in', 'grasp_distance': 0.03},
        # The box is what the cameras see of the table.
        'gate': {'workspace.box': [-0.1, -0.4, 0.0, 0.45, 0.4, 0.5]},
        'contact': {'sources': ['joint_effort'], 'joints.motors_file': 'simulated'},
        'proximity': {
            'cameras': ['front'],
            'extrinsics': ['front=base_link 0.62 -0.4 0.42 0.787653 0.346943 -0.20524 -0.46595'],
            'depth.workspace': [-0.15, -0.45, -0.02, 0.59, 0.45, 0.6],
        },
    },
)  # fmt: skip

PROFILE = RobotProfile(
    name='so101',
    title='SO-101',
    urdf='urdf/so101.urdf',
    tips={
        'default': 'gripper_frame_link',
        'tcp': 'gripper_frame_link',
        'gripper': 'gripper_link',
    },
    finger_links=FINGERS,
    sensor_link='gripper_link',
    gripper=Gripper(joint='gripper', closed=0.2, opened=0.25),  # rad, of 1.9
    rates=dict.fromkeys(HOME, RATES),
    # With five joints the orientation follows as far as the position leaves freedom.
    tracking=TrackingPreset('gripper_frame_link', 0.003, 0.02, math.inf),
    controllers={
        'lerobot_so101': ControllerPreset(
            'joint_state', 'joint_commands', 'with_joints', is_partial=True,
            source='frame_ros drivers',
        ),
    },
    postures={'home': HOME},
    shapes='config/shapes/so101.yaml',
    lerobot=LeRobotTypes(follower='so101_follower', leader='so101_leader'),
    rviz='rviz/frame_ros.rviz',
    simulation=SIMULATION,
)  # fmt: skip
