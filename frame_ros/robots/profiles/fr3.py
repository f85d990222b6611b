# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The Franka Research 3 with its hand."""

import math

from frame_ros.robots.franka import franka_profile
from frame_ros.robots.simulated import (
    CameraMount,
    EncoderOptions,
    JointServo,
    PickPlaceMotion,
    SimulatedStreams,
    Simulation,
    Worktable,
)

# A joint-impedance control, critically damped for the arm's inertia in the middle of its range,
# that lags a moving target by about 50 ms. The torque limits are the URDF's. Rotors and gears: the
# joints of a Panda move as if 0.5 to 0.1 kg m2 were added (identified by Gaz et al., Dynamic
# Identification of the Franka Emika Panda Robot, RA-L 2019, as part of the links' inertias).
# Franka's interface passes commands through a low-pass filter.
DELAY = 0.01
SHOULDER = JointServo(1500.0, 80.0, 87.0, 0.2, 1.0, 0.3, DELAY)
WRIST = JointServo(300.0, 15.0, 12.0, 0.08, 0.4, 0.1, DELAY)
# Franka Hand: up to 70 N of continuous grip; here 40 N on each finger, and 0.1 m/s.
GRIPPER_SERVO = JointServo(2500.0, 150.0, 80.0, 0.2, 5.0, 0.5, 0.1)

# The hand is 0.204 m wide and its lower side is 45 mm above the finger tips' middle: what stands
# higher must be further from the cube than half of that, whichever way the hand is turned.
TABLE = Worktable(
    size=(1.3, 1.5, 0.05),
    centre=(0.35, 0.0),
    floor_depth=0.75,
    room=2.4,
    cube_size=0.045,
    cube_mass=0.08,
    bin_inner=0.17,
    bin_height=0.06,
    bin_wall=0.006,
    can=(0.033, 0.055),
    can_mass=0.3,
    block=(0.04, 0.02, 0.03),
    block_mass=0.15,
    axis=(0.0, 0.0),
    object_radii=(0.40, 0.58),
    object_azimuths=(-0.75, 0.05),
    bin_radius=0.5,
    bin_azimuth=0.72,
    distractor_radii=(0.38, 0.68),
    distractor_azimuths=(-0.95, 0.35),
    clearance=0.17,
    bin_clearance=0.22,
)

# The fingers move along the y axis of fr3_hand_tcp, symmetrically about its origin.
SCRIPTED = PickPlaceMotion(
    tip='tcp', gripper_unit='m',
    # The hand moves its fingers at 0.1 m/s at most.
    opened=0.04, released=0.034, closed=0.0, closing_time=0.9, opening_time=0.8,
    above=0.17, grasp=0.0225, lifted=0.2, over_bin=0.18, in_bin=0.055, placed=0.08,
    before_grasp=(0.0, 0.0, 0.0), held=(0.0, 0.0, 0.0),
    closing=math.pi / 2, unrolled=-math.pi / 2, first_axis=0.0, first_sign=1.0, reach=(0.3, 0.7),
    pace=1.0, tremor=0.007, miss=(0.03, 0.03, 0.015),
)  # fmt: skip

SIMULATION = Simulation(
    timestep=0.001,
    watched_links=(
        *(f'fr3_link{i}' for i in range(2, 8)), 'fr3_hand', 'fr3_leftfinger', 'fr3_rightfinger',
    ),
    servos=(SHOULDER,) * 4 + (WRIST,) * 3 + (GRIPPER_SERVO,),
    cameras={
        'front': CameraMount(
            '', (0.95, -0.75, 0.75), 58.0, target=(0.32, 0.03, 0.28), depth_sensor='D455'
        ),
        # Before the hand, looking at what is between the fingers; a D405's vertical view.
        'wrist': CameraMount(
            'fr3_hand', (0.075, 0.0, 0.015), 58.0, target=(0.031, 0.0, 0.15), up=(1.0, 0.0, 0.0),
            depth_sensor='D405',
        ),
    },
    table=TABLE,
    # Franka publishes no figures; of the order of what stands in recordings at rest.
    encoder=EncoderOptions(1e-5, velocity_noise=1e-3),
    motors='config/motors/fr3.yaml',
    streams=SimulatedStreams(
        interpolation=0.04, joints=1000.0, wrench=1000.0, franka=100.0, wrist_depth=10.0
    ),
    command_rate=200.0,
    sample_steps=1,
    scripted=SCRIPTED,
    tip='tcp',
    parameters={
        # A cube of 45 mm keeps each finger open by 22 mm.
        'kinematics': {'grasp.margin': 0.01},
        'metrics': {'ot_task': 'put_in', 'grasp_distance': 0.03},
        'gate': {'workspace.box': [0.15, -0.7, 0.0, 0.85, 0.7, 0.9]},
        'contact': {
            'sources': ['wrench', 'robot'],
            'wrench.is_force_on_tool': False,
            # Where physics gives time up, the motion is not what the stamps say it was.
            'wrench.force_on': 2.0,
            'wrench.on_time': 0.03,
            'joint_wait': 0.2,
            # The hand with both fingers, by the masses of its URDF.
            'tool.mass': 0.7126,
            'tool.centre_of_mass': [0.0, 0.0109, 0.0256],
        },
        'proximity': {
            'cameras': ['front', 'wrist'],
            'extrinsics': [
                'front=fr3_link0 0.95 -0.75 0.75 -0.795703 -0.281207 0.178751 0.505794',
                'wrist=fr3_hand 0.075 0.0 0.015 -0.110934 -0.110934 0.698351 0.698351',
            ],
            'depth.workspace': [-0.3, -0.75, -0.02, 1.0, 0.75, 1.3],
            'depth.min_range': 0.07,
            # A D405 hangs at the wrist: 18 mm of baseline.
            'depth.noises': ['wrist=0.021'],
        },
        'markers': {
            'text.position': [0.0, 0.0, 1.15], 'text.height': 0.04, 'contact.bar_spacing': 0.1,
        },
        # Two cores cannot do it all at a kilohertz while drawing: every node that reads the joint
        # states pays for each of them.
        'simulator': {
            'rates.joints': 100.0, 'rates.wrench': 250.0, 'rates.franka': 50.0,
            'rates.truth': 25.0, 'images.rate': 10.0, 'images.wrist_rate': 5.0,
            'depth.wrist_rate': 5.0,
        },
    },
)  # fmt: skip

PROFILE = franka_profile('fr3', 'FR3', (10.0,) * 7, simulation=SIMULATION)
