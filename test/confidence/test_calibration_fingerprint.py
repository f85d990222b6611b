# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Fingerprint of a calibration against that of the setup at hand."""

import json

import attrs
import pytest

from frame_ros.confidence.fingerprint import PARTS, Fingerprint
from frame_ros.core.errors import CalibrationError

KNOWN = Fingerprint(
    weights='ab' * 32, normaliser='cd' * 32, control_rate=30.0,
    cameras={'front': (640, 480), 'wrist': (320, 240)}, robot='so101', joints=('a', 'b'),
    instructions=('Pick the cube.', 'Pick the ball.'), confidence_aggregate='mean',
)  # fmt: skip


def test_every_part_is_compared_and_named():
    assert [field.name for field in attrs.fields(Fingerprint)] == list(PARTS)
    other = Fingerprint(
        weights='ef' * 32, normaliser='01' * 32, control_rate=15.0,
        cameras={'front': (640, 480), 'wrist': (640, 480)}, robot='fr3', joints=('b', 'a'),
        instructions=('Open the drawer.',), confidence_aggregate='min',
    )  # fmt: skip
    assert KNOWN.mismatches(other) == [
        'weights: the calibration holds for abababababab..., here it is efefefefefef...',
        'normaliser: the calibration holds for cdcdcdcdcdcd..., here it is 010101010101...',
        'control rate: the calibration holds for 30 Hz, here it is 15 Hz',
        'cameras: the calibration holds for front 640 x 480, wrist 320 x 240, '
        'here it is front 640 x 480, wrist 640 x 480',
        "robot: the calibration holds for 'so101', here it is 'fr3'",
        "joints: the calibration holds for 'a', 'b', here it is 'b', 'a'",
        "instruction: the calibration holds for 'Pick the cube.', 'Pick the ball.', "
        "here it is 'Open the drawer.'",
        "confidence aggregate: the calibration holds for 'mean', here it is 'min'",
    ]
    assert KNOWN.mismatches(KNOWN) == []


@pytest.mark.parametrize('part', PARTS)
def test_a_part_that_is_not_known_here_is_named_and_no_mismatch(part):
    blank = getattr(Fingerprint(), part)
    other = attrs.evolve(KNOWN, **{part: blank})
    assert KNOWN.mismatches(other) == []
    (text,) = KNOWN.unverified(other)
    assert text.endswith('here it is not known')
    assert other.unverified(KNOWN) == [] and other.mismatches(KNOWN) == []
    assert len(other.unknown) == 1 and text.startswith(other.unknown[0])


def test_what_counts_as_the_same():
    same = attrs.evolve(
        KNOWN, control_rate=30.0 * 1.005, instructions=('Pick the ball.',),
        cameras={'wrist': [320, 240], 'front': [640, 480]},
    )  # fmt: skip
    assert KNOWN.mismatches(same) == []
    assert len(KNOWN.mismatches(attrs.evolve(KNOWN, control_rate=30.0 * 1.02))) == 1


def test_no_cameras_is_known_and_differs_from_some():
    blind = Fingerprint(cameras={})
    assert blind.unknown and 'cameras' not in blind.unknown
    (text,) = blind.mismatches(KNOWN)
    assert 'holds for none, here it is front 640 x 480' in text


def test_it_goes_through_plain_values():
    assert Fingerprint.from_dict(KNOWN.to_dict()) == attrs.evolve(KNOWN)
    assert Fingerprint.from_dict(Fingerprint().to_dict()) == Fingerprint()
    assert 'weights' not in Fingerprint().to_dict()
    assert Fingerprint.from_dict({'cameras': {}}).cameras == {}
    for wrong in (None, [], {'weights': 3}, {'cameras': {'front': 3}}, {'colour': ''}):
        with pytest.raises(CalibrationError, match='fingerprint'):
            Fingerprint.from_dict(wrong)


def test_what_an_inference_shows():
    text = json.dumps({'weights': 'ab', 'control_rate': 30.0, 'cameras': {'front': [640, 480]}})
    found = Fingerprint.of_inference(text, 'Pick the cube.', ['a', 'b'])
    assert found == Fingerprint(
        weights='ab', control_rate=30.0, cameras={'front': (640, 480)}, joints=('a', 'b'),
        instructions=('Pick the cube.',),
    )  # fmt: skip
    # A name of a later version is no harm, and a policy cannot speak for the robot.
    later = json.dumps({'weights': 'ab', 'colour': 'red', 'robot': 'fr3'})
    assert Fingerprint.of_inference(later, '', ()) == Fingerprint(weights='ab')


HUGE = f'{{"control_rate": 1{"0" * 400}}}'


@pytest.mark.parametrize(
    'text',
    ['', '{', '[]', 'null', '{"weights": 3}', '{"cameras": [1]}', HUGE],
    ids=range(7),
)
def test_what_cannot_be_read_of_an_inference_is_not_known(text):
    assert Fingerprint.of_inference(text, '', ()) == Fingerprint()


def test_a_long_part_is_shortened():
    (text,) = KNOWN.mismatches(Fingerprint(instructions=('x' * 5000,)))
    assert len(text) < 400 and text.endswith('xxx...')
