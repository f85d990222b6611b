# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Set-up cards and mats: what is printed, and where on the paper."""

import json
import re

import attrs
import cv2
import numpy as np
import pytest

from frame_ros.cli import main
from frame_ros.core.errors import SetupError, ValueRangeError
from frame_ros.reports.set_up_cards.drawings import mat_drawing, tile_drawing
from frame_ros.reports.set_up_cards.page import build_cards
from frame_ros.scenes.cards.camera_files import read_lens
from frame_ros.scenes.cards.choice import find_scene
from frame_ros.scenes.cards.facts import camera_texts, object_facts, standing_of
from frame_ros.scenes.cards.mat import Mat, MatOptions, letters, mats_of
from frame_ros.scenes.cards.robot_pose import pose_at_home
from frame_ros.scenes.description.files import write_scenes
from frame_ros.scenes.description.vlatest import read_vlatest
from frame_ros.scenes.generation.changes import move_cameras, turn_cameras
from frame_ros.scenes.generation.setting import nominal_scene, orientation_of, setting, standing
from frame_ros.scenes.simulation.scene_robot import SO101

PLACE = setting(SO101, 'put_in')
SCENE = nominal_scene(PLACE)
MAT = Mat(0.05, (0.05, -0.35), 8, 13)
LENS_FILE = """\
image_width: 640
image_height: 480
camera_name: front
camera_matrix: {rows: 3, cols: 3, data: [600.0, 0.0, 319.5, 0.0, 600.0, 239.5, 0.0, 0.0, 1.0]}
distortion_model: plumb_bob
distortion_coefficients: {rows: 1, cols: 5, data: [0.1, -0.05, 0.0, 0.0, 0.0]}
projection_matrix:
  {rows: 3, cols: 4, data: [580.0, 0.0, 320.0, 0.0, 0.0, 580.0, 240.0, 0.0, 0.0, 0.0, 1.0, 0.0]}
"""


def test_cells_are_lettered_from_the_left_and_numbered_from_the_near_edge():
    assert MAT.label(0.051, 0.299) == 'A1'
    assert MAT.label(0.449, -0.349) == 'M8'
    assert MAT.label(0.45, -0.35) == 'M8'  # the very corner
    assert MAT.label(0.46, 0.0) == ''
    assert all(MAT.label(*middle) == name for name, middle in MAT.cells())
    assert [letters(i) for i in (0, 25, 26, 52)] == ['A', 'Z', 'AA', 'BA']


def test_the_mat_of_a_robot_holds_all_that_its_scenes_have_and_does_not_depend_on_them():
    from frame_ros.scenes.generation.generator import generate

    drawn = generate('put_in', SO101, 3, 2).scenes
    mat = mats_of(drawn)['so101']
    assert mat == mats_of([SCENE])['so101'] == MAT
    assert all(mat.holds(*each.position) for scene in drawn for each in scene.objects)
    chosen = mats_of(drawn, MatOptions(cell=0.1, area=(0.4, 0.3, 0.1, -0.25)))['so101']
    assert (chosen.low, chosen.rows, chosen.columns) == ((0.1, -0.3), 3, 6)
    with pytest.raises(ValueRangeError, match='at most 60'):
        mats_of(drawn, MatOptions(cell=0.01, area=(0.0, 0.0, 1.0, 1.0)))


def test_sheets_cover_the_mat_once_and_name_their_neighbours():
    tiles = list(MAT.tiles(0.19, 0.25))
    area = sum((t.high[0] - t.low[0]) * (t.high[1] - t.low[1]) for t in tiles)
    assert area == pytest.approx(0.4 * 0.65)
    assert tiles[0].neighbours == {'far': '2-1', 'right': '1-2'}
    assert all(t.high[1] - t.low[1] <= 0.19 and t.high[0] - t.low[0] <= 0.25 for t in tiles)


def test_sheets_are_true_to_scale():
    """In mm of the SVG, whose own size is in mm too."""
    drawing = tile_drawing(MAT, next(MAT.tiles(0.19, 0.25)), 210.0, 297.0)
    assert 'width="210.00mm" height="297.00mm"' in drawing and 'viewBox="0 0 210.00' in drawing
    lines = re.findall(
        r'class="(strong|check)" x1="(.+?)" y1="(.+?)" x2="(.+?)" y2="(.+?)"', drawing
    )
    strong = np.array([[float(v) for v in line[1:]] for line in lines if line[0] == 'strong'])
    across = np.unique(strong[strong[:, 0] == strong[:, 2], 0])
    np.testing.assert_allclose(np.diff(across), 50.0, atol=0.01)
    bar = max(float(line[3]) - float(line[1]) for line in lines if line[0] == 'check')
    assert bar == pytest.approx(100.0, abs=0.01)


def test_objects_are_drawn_to_scale_where_they_stand():
    drawing = mat_drawing(SCENE, MAT, object_facts(SCENE, MAT), np.empty((0, 7)), 190.0, 125.0)
    scale = float(re.search(r'1 : ([\d.]+)', drawing)[1])
    points = re.search(r'<polygon class="target"[^>]*points="([^"]*)"', drawing)[1]
    corners = np.array([[float(v) for v in pair.split(',')] for pair in points.split()])
    edges = re.findall(r'class="edge" x1="(.+?)" y1="(.+?)" x2="(.+?)" y2="(.+?)"', drawing)
    mat = np.array(edges, float)
    middle = corners.mean(axis=0)
    left, near = mat[:, [0, 2]].min(), mat[:, [1, 3]].max()
    assert np.ptp(corners, axis=0) * scale == pytest.approx([30.0, 30.0], abs=0.2)
    x, y = SCENE.target.position
    assert (middle[0] - left) * scale == pytest.approx(1e3 * (MAT.high[1] - y), abs=0.2)
    assert (near - middle[1]) * scale == pytest.approx(1e3 * (x - MAT.low[0]), abs=0.2)


def test_distances_are_those_of_the_turned_object_s_outline():
    turned = attrs.evolve(
        SCENE.target, position=(0.2, 0.0), orientation=orientation_of(np.pi / 4, 'upright')
    )
    scene = attrs.evolve(SCENE, objects=(turned, SCENE.receptacle))
    facts = object_facts(scene, MAT)[0]
    half = 30.0 / np.sqrt(2)
    assert (facts.near, facts.left) == (pytest.approx(150 - half), pytest.approx(300 - half))
    assert facts.cell == 'G4' and facts.degrees == '+45°'


@pytest.mark.parametrize(
    ('kind', 'posture', 'said', 'yaw'),
    [
        ('can', 'upright', 'upright', None), ('can', 'lying', 'lying', -90.0 + 30.0),
        ('block', 'upright', 'upright', 30.0), ('block', 'lying', 'lying on its y side', 30.0),
        ('golf_ball', 'upright', 'ball', None),
    ],
)  # fmt: skip
def test_postures_are_named_and_only_what_looks_turned_has_an_arrow(kind, posture, said, yaw):
    each = standing(PLACE.types[kind], 'target', (1, 0, 0), (0.2, 0), np.radians(30), posture)
    words, angle, _ = standing_of(each)
    assert words == said
    assert angle is None if yaw is None else np.degrees(angle) == pytest.approx(yaw)


def test_cameras_are_described_by_their_shift():
    assert 'as usual' in camera_texts(SCENE)[0]
    moved = move_cameras(SCENE, {'x': 0.02, 'y': -0.01, 'z': 0.0}, PLACE)
    turned = turn_cameras(moved, {'pitch': np.radians(4.0), 'yaw': 0.0}, PLACE)
    assert 'moved by +20, -10, +0 mm' in camera_texts(turned)[0]
    assert 'turned by +4.0° pitch, +0.0° yaw, +0.0° roll' in camera_texts(turned)[0]


def test_a_card_is_text_only_and_names_no_policy(tmp_path):
    bad = attrs.evolve(SCENE, instruction='put <script>alert(1)</script>', name='a&b')
    far = attrs.evolve(SCENE.target, position=(2.0, 0.0))
    outside = attrs.evolve(bad, objects=(far, SCENE.receptacle))
    page = build_cards([bad, outside], mats_of([SCENE]))
    assert '<script' not in page and 'put &lt;script&gt;' in page and 'a&amp;b' in page
    assert "default-src 'none'" in page and page.count('<section class="page">') == 2
    assert 'Not on the mat: target' in page and page.count('names no policy') == 2


def test_scenes_whose_shapes_are_not_known_have_cards_too(tmp_path):
    file = tmp_path / 't-grasp_n-1_o-1_s-1.json'
    place = {'init_xy': [-0.25, 0.125], 'orientation': [1.0, 0.0, 0.0, 0.0]}
    content = {'0': {'model_id': 'orange', 'obj_init_options': place}, 'seed': 1, 'num': 1}
    file.write_text(json.dumps(content))
    scenes = read_vlatest(file)
    page = build_cards(scenes, mats_of(scenes))
    assert 'not known' in page and 'maniskill2_world' in page


def test_a_scene_is_found_by_name_or_number():
    scenes = [attrs.evolve(SCENE, name=name) for name in ('first', '1', 'third')]
    assert [find_scene(scenes, each) for each in ('first', '1', '3')] == [0, 1, 2]
    for wrong, said in (('4', '1 to 3'), ('0', '1 to 3'), ('thirt', 'did you mean third')):
        with pytest.raises(SetupError, match=said):
            find_scene(scenes, wrong)
    with pytest.raises(SetupError, match='2 scenes have the name'):
        find_scene([SCENE, SCENE], SCENE.name)


def test_calibration_files_of_both_kinds_are_read(tmp_path):
    file = tmp_path / 'front.yaml'
    file.write_text(LENS_FILE)
    lens = read_lens(file)
    assert lens.matrix[0, 2] == 319.5 and lens.distortion[0] == 0.1
    assert read_lens(file, is_rectified=True).matrix[0, 0] == 580.0
    echo = tmp_path / 'echo.yaml'
    k = '[600.0, 0.0, 319.5, 0.0, 600.0, 239.5, 0.0, 0.0, 1.0]'
    echo.write_text(f'height: 480\nwidth: 640\ndistortion_model: plumb_bob\nd: []\nk: {k}\n---\n')
    assert not read_lens(echo).is_distorted
    for content, said in (
        ('image_width: 640', 'no height or image_height'),
        ('- 1', 'no map'),
        (LENS_FILE.replace('600.0', '0.0'), 'focal lengths'),
        (LENS_FILE.replace('plumb_bob', 'unheard_of'), 'unheard_of'),
        (LENS_FILE.replace('600.0', 'wide'), 'could not convert'),
        ('a: [', 'no YAML'),
    ):
        file.write_text(content)
        with pytest.raises(SetupError, match=said):
            read_lens(file)


def test_a_mount_on_a_link_is_placed_with_the_robot_at_home():
    on_base = pose_at_home('so101', 'front', 'base_link 0.1 0 0.5 0 0 0')
    np.testing.assert_allclose(on_base[0], (0.1, 0, 0.5))
    position, rotation = pose_at_home('so101', 'wrist', 'gripper_link 0 0 0 0 0 0')
    assert position[2] > 0.05
    np.testing.assert_allclose(rotation @ rotation.T, np.eye(3), atol=1e-9)
    with pytest.raises(SetupError, match='no_link'):
        pose_at_home('so101', 'front', 'no_link 0 0 0 0 0 0')


@pytest.fixture()
def written(tmp_path):
    file = tmp_path / 'scenes.yaml'
    write_scenes(file, [SCENE, attrs.evolve(SCENE, name='second')])
    return file


def test_the_command_writes_cards_with_ghosts_in_a_photo(written, tmp_path, capsys):
    photo, lens, output = (tmp_path / name for name in ('p.png', 'front.yaml', 'cards.html'))
    cv2.imwrite(str(photo), np.full((480, 640, 3), 120, np.uint8))
    lens.write_text(LENS_FILE)
    arguments = ['scenes', 'cards', str(written), '--output', str(output), '--only', 'second']
    seen = ['--photo', f'front={photo}', '--camera-info', f'front={lens}']
    assert main([*arguments, *seen]) == 0
    assert '1 card:' in capsys.readouterr().out
    assert output.read_text().count('data:image/jpeg;base64,') == 1
    pose = 'front=base_link 0.2 0 0.7 3.141593 0 0'
    assert main([*arguments, *seen, '--extrinsics', pose]) == 0
    in_mm = pose.replace('0.2 0 0.7', '620 -400 420')
    assert main([*arguments, *seen, '--extrinsics', in_mm]) != 0
    assert '849 m from base_link' in capsys.readouterr().err
    for area in ('[0.1, -0.3, 0.5, 0.3]', '0.1,-0.3,0.5,0.3'):
        assert main([*arguments, '--mat', '--area', area]) == 0
        page = output.read_text()
        assert 'sheet 1-1' in page and '12 x 8 cells' in page


def test_a_scene_that_nobody_can_set_up_is_named_on_the_console_and_on_its_card(tmp_path, capsys):
    over = attrs.evolve(SCENE.target, position=SCENE.receptacle.position)
    away = attrs.evolve(SCENE.target, position=(200.0, 0.0))
    high = attrs.evolve(SCENE.target, height=SCENE.target.height + 0.2)
    file, output = tmp_path / 'scenes.yaml', tmp_path / 'cards.html'
    bad = {'over': over, 'away': away, 'high': high}
    write_scenes(file, [
        SCENE, *(attrs.evolve(SCENE, name=name, objects=(each, SCENE.receptacle))
                 for name, each in bad.items()),
    ])  # fmt: skip
    arguments = ['scenes', 'cards', str(file), '--output', str(output)]
    assert main(arguments) == 1
    said, page = capsys.readouterr().out, output.read_text()
    assert said.endswith(f'4 cards: {output}\n') and SCENE.name not in said
    for text in (
        'over: breaks distance: target and receptacle are',
        'over the edge of the table',
        'high: breaks standing: target is 0.2 m above the table',
    ):
        assert text in said and text.partition(': ')[2] in page
    assert page.count('cannot be used as it is') == 3
    assert main([*arguments, '--only', SCENE.name]) == 0  # over its own page
    assert 'cannot be used' not in output.read_text()
    output.write_text('<html>my thesis</html>')
    assert main(arguments) == 2 and main([*arguments, '--mat']) == 2
    assert 'no page of frame_ros scenes cards' in capsys.readouterr().err
    assert output.read_text() == '<html>my thesis</html>'


def test_objects_that_overlap_are_drawn_with_all_outlines_and_numbers():
    small = attrs.evolve(SCENE.target, position=SCENE.receptacle.position)
    twin = attrs.evolve(small, name='twin', role='confounder')
    scene = attrs.evolve(SCENE, objects=(small, twin, SCENE.receptacle))
    facts = object_facts(scene, MAT)
    drawing = str(mat_drawing(scene, MAT, facts, np.empty((0, 7)), 190.0, 125.0))
    shapes = re.findall(r'<polygon class="(target|confounder|receptacle)" fill="([^"]*)"', drawing)
    assert shapes[0][0] == 'receptacle'  # below the two that are smaller
    assert [fill == 'none' for _, fill in shapes] == [False] * 3 + [True] * 3
    tags = re.findall(r'<circle class="tag" cx="(.+?)" cy="(.+?)" r="(.+?)"', drawing)
    places = np.array([each[:2] for each in tags], float)
    gaps = np.linalg.norm(places[:, None] - places[None], axis=2)[np.triu_indices(3, 1)]
    assert gaps.min() > 2 * float(tags[0][2])
    assert drawing.rindex('<polygon') < drawing.index('class="tag"')


@pytest.mark.parametrize(
    ('arguments', 'said'),
    [
        ((), 'needs --output'),
        (('--output', 'cards.txt'), 'cards end in'),
        (('--output', 'c.html', '--only', 'nome'), "no scene 'nome'"),
        (('--output', 'c.html', '--photo', 'front'), 'CAMERA=...'),
        (('--output', 'c.html', '--photo', 'front=none.png'), 'cannot be read'),
        (('--output', 'c.html', '--photo', 'front={file}'), 'no picture'),
        (('--output', 'c.html', '--camera-info', 'front={file}'), 'no --photo'),
        (('--output', 'c.html', '--area', '[0, 0, 0, 1]'), 'area'),
        (('--output', 'c.html', '--area', '[0, 0, 1'), 'area'),
    ],
)
def test_wrong_arguments_are_refused(arguments, said, written, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    given = [each.format(file=written) for each in arguments]
    assert main(['scenes', 'cards', str(written), *given]) != 0
    assert said in capsys.readouterr().err
