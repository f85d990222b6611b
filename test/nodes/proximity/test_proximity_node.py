# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The proximity node over real topics, with pictures whose true distances are known."""

import itertools
import math
import os
import signal
import subprocess
import sys
import time
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import yaml
from patience import PATIENCE

pytest.importorskip('rclpy')

from proximity_bench import (
    BOX,
    POSE,
    SECOND,
    SIDE,
    START,
    TRIPOD,
    Bench,
    Box,
    distances,
    draw,
    extrinsics_text,
    info_message,
    looking,
    millimetres,
    placed,
    stamp_of,
    true_distances,
)
from rclpy.parameter import Parameter
from rclpy.qos import DurabilityPolicy, QoSProfile
from scipy.spatial.transform import Rotation
from sensor_msgs.msg import PointCloud2
from std_msgs.msg import String

from frame_ros.core.errors import RobotError, SetupError
from frame_ros.core.options import from_values
from frame_ros.msg import GraspState, Proximity
from frame_ros.nodes.proximity import node as proximity
from frame_ros.nodes.proximity.options import ProximityOptions
from frame_ros.nodes.runtime.message_parts import time_message
from frame_ros.nodes.runtime.readiness_watch import ReadinessWatch
from frame_ros.robots import find_urdf
from frame_ros.robots.link_frames import LinkFrames
from frame_ros.scenes.running_scene import RunningScene

ROOT = Path(__file__).resolve().parents[3]
SURFACE = {'depth.surface_height': 0.0, 'depth.surface_margin': 0.02}
FRONT = 'front=' + extrinsics_text('base_link', *TRIPOD)
ARM = ('lower_arm_link', 'wrist_link', 'gripper_link', 'moving_jaw_so101_v1_link')
CLOSE = 0.008  # m: a pixel is 5 mm wide there


@cache
def metres(pose='tripod', boxes=(BOX,)):
    return draw({'tripod': TRIPOD, 'side': SIDE}[pose], boxes)


def picture(pose='tripod', boxes=(BOX,)):
    return millimetres(metres(pose, boxes))


@pytest.fixture()
def bench(ros_domain):
    import rclpy

    made = []

    def make(*arguments, **options):
        options = {'extrinsics': [FRONT], **SURFACE, **options}
        made.append(Bench(rclpy, *arguments, **options))
        return made[-1]

    yield make
    for each in made:
        each.close()


def assert_near(message, truth, links=ARM, tolerance=CLOSE):
    assert not message.unavailable
    found = distances(message)
    assert {link: found[link] for link in links} == pytest.approx(
        {link: truth[link] for link in links}, abs=tolerance
    )


def test_the_distance_to_a_box_is_measured(bench):
    message = bench().see(START, picture())
    assert_near(message, true_distances())
    assert stamp_of(message) == START
    assert message.header.frame_id == 'base_link'
    assert (message.source, message.sources) == (Proximity.SOURCE_DEPTH, ['front'])
    row = message.link_names.index(message.link)
    assert message.link == min(distances(message), key=distances(message).get) == 'gripper_link'
    assert message.distance == message.link_distances[row]
    robot, box = message.link_points_on_robot[row], message.link_points_on_obstacle[row]
    assert (message.point_on_robot, message.point_on_obstacle) == (robot, box)
    across = np.array([robot.x - box.x, robot.y - box.y, robot.z - box.z])
    assert np.linalg.norm(across) == pytest.approx(message.distance, abs=1e-6)
    outside = np.abs(np.subtract([box.x, box.y, box.z], BOX.middle)) - np.divide(BOX.size, 2)
    assert np.abs(outside).min() < CLOSE and outside.max() < CLOSE
    assert 0.5 < message.valid_fraction < 1.0
    assert 0.02 < message.occluded_fraction < 0.2


def test_criteria_can_be_set_while_it_runs(bench):
    node = bench()

    def put(**values):
        given = [Parameter(name.replace('__', '.'), value=value) for name, value in values.items()]
        result = node.node.set_parameters_atomically(given)
        return result.successful or result.reason

    assert_near(node.see(START, picture()), true_distances())
    assert put(depth__min_range=1.5, depth__max_range=1.0).startswith('depth.')
    assert "names the camera 'left'" in put(depth__noises=['left=0.1'])
    assert put(depth__min_valid_fraction=1.0) is True
    assert 'depth' in node.see(START + SECOND // 10, picture()).unavailable
    assert put(depth__min_valid_fraction=0.1) is True
    assert_near(node.see(START + SECOND // 5, picture()), true_distances())
    assert put(alignment__rate=10.0) is True
    node.see(START + SECOND // 2, picture())
    node.until(lambda: node.heard.alignment)


def test_links_with_a_mesh_are_what_it_shows(bench, tmp_path):
    trimesh = pytest.importorskip('trimesh')
    trimesh.creation.box((0.004, 0.004, 0.004)).export(tmp_path / 'small.stl')
    link = '<link name="gripper_link">'
    mesh = '<visual><geometry><mesh filename="small.stl"/></geometry></visual>'
    text = find_urdf('so101').read_text()
    assert link in text
    (tmp_path / 'arm.urdf').write_text(text.replace(link, link + mesh))
    message = bench(**{'meshes.file': str(tmp_path / 'arm.urdf')}).see(START, picture())
    # All that its picture shows of the gripper is beside this mesh.
    assert distances(message)['gripper_link'] == 0.0
    (tmp_path / 'small.stl').unlink()
    settings = from_values(ProximityOptions, {'meshes.file': str(tmp_path / 'arm.urdf')})
    with pytest.raises(RobotError, match='small.stl is not there'):
        settings.watched(settings.load_robot())


def test_metres_are_as_good_as_millimetres(bench):
    message = bench().see(START, metres().astype('<f4'), encoding='32FC1')
    assert_near(message, true_distances())


def test_joints_are_interpolated_at_the_images_stamp(bench):
    node = bench()
    swing = np.zeros(6)
    swing[0] = 0.4
    node.send_joints(START - 30_000_000, POSE - swing)
    node.send_image(START, picture())
    end = time.monotonic() + 0.1
    node.until(lambda: time.monotonic() > end)
    assert not node.heard.proximity  # it waits for what comes after
    node.send_joints(START + 10_000_000, POSE + swing / 3)
    node.until(lambda: node.heard.proximity)
    assert_near(node.heard.proximity[-1], true_distances())


def test_what_was_not_measured_is_unavailable(bench):
    node = bench()
    stamps = iter(range(START, START + 100 * SECOND, SECOND // 10))
    good = picture()
    half = np.zeros_like(good)
    bad = {
        'all zero': (half, {}),
        'saturated': (np.full_like(good, 65535), {}),
        'encoding': (good, {'encoding': 'rgb8'}),
        'size': (good, {'info': info_message(320, 240)}),
        'focal length': (good, {'info': info_message(focal=0.0)}),
        'distortion': (good, {'info': info_message(distortion_model='odd', d=[0.1] * 5)}),
        'binning': (good, {'info': info_message(binning_x=2)}),
    }
    said = {}
    for name, (pixels, options) in bad.items():
        message = node.see(next(stamps), pixels, **options)
        assert math.isnan(message.distance), name
        assert all(map(math.isnan, message.link_distances)), name
        assert message.link_names == list(true_distances()) and message.link == ''
        said[name] = message.unavailable
    assert all(text.startswith('camera front: ') for text in said.values()), said
    assert 'rgb8' in said['encoding'] and '16UC1' in said['encoding']
    assert '320x240' in said['size'] and '160x120' in said['size']
    assert 'calibrated' in said['focal length']
    assert "'odd'" in said['distortion']
    assert 'binning' in said['binning']
    assert len(set(said.values())) >= 6
    assert_near(node.see(next(stamps), good), true_distances())


def test_stale_and_missing_joint_states(bench):
    node = bench(joint_wait=0.05)
    node.send_image(START, picture())
    node.until(lambda: node.heard.proximity)
    assert 'no joint state' in node.heard.proximity[-1].unavailable
    node.send_joints(START + SECOND, POSE)
    node.send_image(START + SECOND // 2, picture())
    node.until(lambda: len(node.heard.proximity) == 2)
    assert 'joint states begin 0.500 s after' in node.heard.proximity[-1].unavailable
    node.send_image(START + 3 * SECOND // 2, picture())
    node.until(lambda: len(node.heard.proximity) == 3)
    message = node.heard.proximity[-1]
    assert 'joint states are 0.500 s older than the image' in message.unavailable
    assert math.isnan(message.distance)
    node.send_joints(START + 2 * SECOND, POSE)
    time.sleep(0.5)  # it arrives before the image that is not to wait for it
    node.send_image(START + SECOND + 10_000_000 + SECOND, picture())
    node.until(lambda: len(node.heard.proximity) == 4)
    assert_near(node.heard.proximity[-1], true_distances())  # 10 ms older: young enough


def test_images_that_come_while_one_waits_do_not_put_it_off(bench):
    node = bench(joint_wait=0.2)
    pixels, stamps = picture(), iter(range(START, START + 100 * SECOND, SECOND // 100))

    def is_published():
        node.send_image(next(stamps), pixels)
        return node.heard.proximity

    node.until(is_published)
    assert 'no joint state has come' in node.heard.proximity[-1].unavailable


def test_extrinsics_that_are_not_known(bench):
    message = bench(extrinsics=['']).see(START, picture())
    assert 'no extrinsics' in message.unavailable
    assert math.isnan(message.distance)


def test_cameras_stand_where_the_running_scene_says(bench):
    wrong = 'front=' + extrinsics_text('base_link', TRIPOD[0], TRIPOD[1] + (0.0, 0.3, 0.0))
    node = bench(extrinsics=[wrong], scene_topic='scene')
    assert 'no scene has come on /scene' in node.see(START, picture()).unavailable
    latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
    scenes = node.tester.create_publisher(String, 'scene', latched)
    mount = extrinsics_text('base_link', *TRIPOD)
    stamps = itertools.count(START + SECOND, SECOND // 20)
    for name, mounts, is_right in (('one', {'front': mount}, True), ('two', {}, False)):
        scenes.publish(String(data=RunningScene(number=1, name=name, mounts=mounts).text))
        node.until(lambda n=name: node.node._scene._scene.name == n)
        found, truth = distances(node.see(next(stamps), picture())), true_distances()
        assert all(abs(found[link] - truth[link]) < CLOSE for link in ARM) is is_right


def test_images_without_stamp_or_out_of_order_are_not_used(bench):
    node = bench(silence=0.3)
    node.send_joints(START)
    node.send_image(0, picture())

    def is_said():
        node.node.look()
        return any('no header.stamp' in each.unavailable for each in node.heard.proximity)

    node.until(is_said)
    good = node.see(START, picture())
    assert not good.unavailable
    count = len(node.heard.proximity)
    node.send_image(START - SECOND // 2, picture())
    assert stamp_of(node.see(START + SECOND // 10, picture())) == START + SECOND // 10
    assert len(node.heard.proximity) == count + 1


def test_silence_is_said(bench):
    node = bench(silence=0.2)
    node.until(lambda: node.node.look() or node.heard.proximity)
    message = node.heard.proximity[-1]
    assert message.unavailable == 'camera front: no image has come'
    assert math.isnan(message.distance) and stamp_of(message) > 0


def two_cameras(bench, **options):
    side = 'side=' + extrinsics_text('base_link', *SIDE)
    return bench(('front', 'side'), extrinsics=[FRONT, side], **options)


def test_the_nearer_of_two_cameras_counts(bench):
    node = two_cameras(bench)
    near, hidden = Box((0.25, 0.08, 0.04), (0.04, 0.04, 0.08)), BOX
    node.see(START, picture('tripod'))
    message = node.see(START + 5_000_000, picture('side', (near, hidden)), 'side')
    assert (message.source, message.sources) == (Proximity.SOURCE_FUSED, ['front', 'side'])
    assert stamp_of(message) == START + 5_000_000
    assert_near(message, true_distances((near, hidden)))
    # The other camera's image is too old by now, and says nothing any more.
    message = node.see(START + SECOND, picture('tripod'))
    assert message.sources == ['front']
    assert_near(message, true_distances((hidden,)))
    # One that measures nothing gives the other's distances no stamp that is not theirs.
    count = len(node.heard.proximity)
    node.send_image(START + SECOND + 1000, np.zeros_like(picture()), 'side')
    message = node.see(START + SECOND + 2000, picture())
    assert message.sources == ['front'] and len(node.heard.proximity) == count + 1
    assert_near(message, true_distances((hidden,)))


def test_cameras_of_one_stamp_are_in_one_message(bench):
    node = two_cameras(bench)
    node.send_joints(START)
    for camera, pose in (('side', 'side'), ('front', 'tripod')):
        node.send_image(START, picture(pose), camera)
    time.sleep(1.0)  # both arrive before either is measured
    node.until(lambda: node.heard.proximity)
    assert node.heard.proximity[0].sources == ['front', 'side']
    assert stamp_of(node.heard.proximity[0]) == START


def test_a_camera_whose_clock_is_wrong_does_not_silence_the_other(bench):
    node = two_cameras(bench, joint_wait=0.05)
    node.send_joints(START - SECOND // 100)
    node.send_image(START + 10 * SECOND, picture('side'), 'side')
    node.until(lambda: node.heard.proximity)
    assert 'older than the image' in node.heard.proximity[-1].unavailable
    message = node.see(START, picture())
    assert (message.sources, stamp_of(message)) == (['front'], START)
    assert_near(message, true_distances())


def test_a_clock_set_back_leaves_no_old_distance(bench):
    node = two_cameras(bench)
    later = START + 100 * SECOND
    node.see(later, picture())
    node.see(later + 1_000_000, picture('side'), 'side')
    count = len(node.heard.proximity)
    stamps = iter(range(START, START + 90 * SECOND, SECOND // 100))

    def is_published():
        stamp = next(stamps)
        node.send_joints(stamp)
        node.send_image(stamp, picture())
        return len(node.heard.proximity) > count

    node.until(is_published)
    message = node.heard.proximity[count]
    assert message.sources == ['front'] and stamp_of(message) < later


def test_every_camera_can_be_needed(bench):
    node = two_cameras(bench, needs_all_cameras=True)
    message = node.see(START, picture())
    assert message.unavailable == 'camera side: no image has come'
    message = node.see(START + 1000, picture('side'), 'side')
    assert_near(message, true_distances())


def test_a_camera_on_the_hand_moves_with_it(bench):
    """The same mount at two poses of the arm: the box is where it is."""
    from proximity_bench import FRAMES

    rotations, translations = FRAMES.compute(POSE)
    row = FRAMES.index('gripper_link')
    turn, eye = looking((0.3, 0.0, 0.35), (0.42, 0.02, 0.05))
    mount = rotations[row].T @ turn, rotations[row].T @ (eye - translations[row])
    node = bench(
        extrinsics=['front=' + extrinsics_text('gripper_link', *mount)],
        **{'depth.needs_links_in_view': False},
    )
    other = POSE + np.array([0.15, -0.05, 0.05, 0.05, 0.0, 0.0])
    for index, positions in enumerate((POSE, other)):
        rotations, translations = FRAMES.compute(positions)
        turn = rotations[row] @ mount[0]
        eye = translations[row] + rotations[row] @ mount[1]
        pixels = millimetres(draw((turn, eye), positions=positions))
        message = node.see(START + index * SECOND, pixels, positions=positions)
        truth = true_distances(positions=positions)
        assert_near(message, truth, ('gripper_link',))


def test_known_obstacles_alone_and_with_a_camera(bench, tmp_path):
    path = tmp_path / 'obstacles.yaml'
    shelf = Box((0.2, 0.0, 0.5), (0.3, 0.3, 0.02))
    entry = {'name': 'shelf', 'shape': 'box', 'size': shelf.size, 'position': shelf.middle}
    entry = {k: list(v) if isinstance(v, tuple) else v for k, v in entry.items()}
    path.write_text(yaml.safe_dump({'obstacles': [entry]}))
    node = bench((), extrinsics=[''], **{'obstacles.file': str(path)})
    for index in range(3):
        node.send_joints(START + index * SECOND // 50)  # of which only every second is due
        node.until(lambda count=1 + index // 2: len(node.heard.proximity) == count)
    message = node.heard.proximity[0]
    assert (message.source, message.sources) == (Proximity.SOURCE_MODEL, ['known obstacles'])
    assert (stamp_of(message), message.obstacle) == (START, 'shelf')
    assert_near(message, true_distances((shelf,)), tolerance=1e-6)
    assert math.isnan(message.valid_fraction)
    node.node._publish_silence(0.0)
    node.until(lambda: node.heard.proximity[-1].unavailable)
    assert node.heard.proximity[-1].source == Proximity.SOURCE_MODEL
    node.close()

    node = bench(**{'obstacles.file': str(path)})
    message = node.see(START, picture())
    assert message.source == Proximity.SOURCE_FUSED
    assert message.sources == ['front', 'known obstacles']
    assert_near(message, true_distances((BOX, shelf)))
    nearest = dict(zip(message.link_names, message.link_distances))
    assert nearest['upper_arm_link'] == pytest.approx(
        true_distances((shelf,))['upper_arm_link'], abs=1e-6
    )


def test_what_the_gripper_holds_is_no_obstacle(bench):
    from proximity_bench import ROBOT

    tip = LinkFrames(ROBOT)
    rotations, translations = tip.compute(POSE)
    middle = translations[tip.index(ROBOT.tip_link)]
    cube = Box(tuple(middle), (0.03, 0.03, 0.03))
    pixels = millimetres(draw(boxes=(BOX, cube)))
    node = bench(**{'held.size': [0.1, 0.1, 0.1], 'depth.outline': 0.0})
    grasp = node.tester.create_publisher(GraspState, 'grasp', 10)
    node.until(grasp.get_subscription_count)
    decided = node.node._grasp._subscription
    assert node.see(START, pixels).distance < 0.05
    for state, least, largest in (
        (GraspState.HELD, 0.08, 1.0), (GraspState.EMPTY, 0.0, 0.05),
        (GraspState.HELD, 0.08, 1.0), (GraspState.UNKNOWN, 0.0, 0.05),
    ):  # fmt: skip
        stamp = stamp_of(node.heard.proximity[-1]) + SECOND // 10
        message = GraspState(state=state, source='position')
        message.header.stamp = time_message(stamp)
        before = decided.received
        grasp.publish(message)
        node.until(lambda before=before: decided.received > before)
        assert least < node.see(stamp, pixels).distance < largest


def test_a_misaligned_camera_gives_no_distances(bench):
    rotation, eye = TRIPOD
    wrong = Rotation.from_euler('z', 0.05).as_matrix() @ rotation, eye + (0.0, 0.05, 0.03)
    node = bench(
        extrinsics=['front=' + extrinsics_text('base_link', *wrong)], **{'alignment.rate': 30.0}
    )
    for index in range(40):
        message = node.see(START + index * SECOND // 20, picture())
        if message.unavailable:
            break
    assert 'misaligned' in message.unavailable and math.isnan(message.distance)
    node.until(lambda: any(not each.unavailable for each in node.heard.alignment))
    found = [each for each in node.heard.alignment if not each.unavailable][-1]
    assert found.camera == 'front' and not found.is_aligned
    assert found.header.frame_id == 'front_optical'
    shift = np.array([found.translation.x, found.translation.y, found.translation.z])
    assert found.error > found.error_after
    assert np.isfinite(shift).all()


def test_an_aligned_camera_is_said_to_be(bench):
    node = bench(**{'alignment.rate': 30.0})
    for index in range(20):
        message = node.see(START + index * SECOND // 20, picture())
        assert_near(message, true_distances())
    node.until(lambda: any(not each.unavailable for each in node.heard.alignment))
    assert all(each.is_aligned for each in node.heard.alignment if not each.unavailable)


def test_points_are_made_while_somebody_listens(bench):
    node = bench()
    heard = []
    node.tester.create_subscription(PointCloud2, 'proximity/points', heard.append, 5)
    node.until(lambda: node.tester.count_publishers('proximity/points'))
    stamp = START
    while not heard:
        stamp += SECOND
        node.see(stamp, picture())
    cloud = heard[0]
    assert [each.name for each in cloud.fields] == ['x', 'y', 'z', 'rgb', 'self']
    rows = np.frombuffer(cloud.data, '<f4').reshape(-1, 5)
    assert cloud.header.frame_id == 'base_link' and 500 < len(rows) == cloud.width <= 10000
    gaps = placed().shape_distances(rows[:, :3].astype(float)).min(axis=1)
    assert (gaps[rows[:, 4] == 1.0] < 0.02).all() and (gaps[rows[:, 4] == 0.0] > 0.0).all()
    assert 0 < rows[:, 4].mean() < 0.5


def test_parameters_that_cannot_be(bench):
    for wrong, said in (
        ({'extrinsics': ['front=nowhere 0 0 0 0 0 0']}, 'nowhere'),
        ({'extrinsics': ['front=base_link 0 0']}, 'roll pitch yaw'),
        ({'extrinsics': ['side=base_link 0 0 0 0 0 0']}, 'side'),
        ({'cameras': ['']}, 'neither a camera'),
        ({'depth.padding': -1.0}, 'depth.padding'),
        ({'links': ['wheel']}, 'wheel'),
        ({'assumed_joints': ['gripper=wide']}, 'assumed_joints'),
    ):
        with pytest.raises(Exception, match=said):
            bench(**wrong)
        import rclpy

        rclpy.try_shutdown()
    with pytest.raises(SetupError, match='planes'):
        from_values(ProximityOptions, {'depth.planes': ('0 0 0 1',)}).depth_options()


def test_a_node_that_compiles_says_so(bench, monkeypatch):
    import rclpy

    heard = []

    def compile_loops():
        other = rclpy.create_node('other', use_global_arguments=False)
        watch = ReadinessWatch(other, ['proximity'])
        end = time.monotonic() + PATIENCE
        while not any('loops' in text for text in heard) and time.monotonic() < end:
            heard.extend(watch.missing())
            time.sleep(0.01)
        other.destroy_node()
        return 0.0

    monkeypatch.setattr(proximity, 'compile_loops', compile_loops)
    made = bench()
    assert 'proximity: it loads its loops over depth images' in heard[-1]
    assert 'loops' not in made.node._readiness.state().reason


def test_the_process_starts_and_ends_well(ros_domain, tmp_path):
    log = tmp_path / 'log'
    command = [sys.executable, '-m', 'frame_ros.nodes.proximity', '--ros-args', '--params-file']
    command += [str(ROOT / 'config' / 'proximity.yaml'), '-p', 'silence:=0.05']
    with log.open('w') as out:
        process = subprocess.Popen(command, stderr=out, stdout=out, cwd=ROOT, env=os.environ)
        end = time.monotonic() + PATIENCE
        while 'no image has come' not in log.read_text() and time.monotonic() < end:
            time.sleep(0.05)
        process.send_signal(signal.SIGTERM)
        assert process.wait(PATIENCE) == 0, log.read_text()
    assert 'so101: 6 links' in log.read_text() and 'Traceback' not in log.read_text()
