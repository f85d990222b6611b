# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Scores that an inference has from chunks, samples and executed actions: values, live as from a
bag, and why they are missing.
"""

import math

import numpy as np
import pytest
from bag_making import T0, event, joints, message, pose, stamp, write_bag

from frame_ros import metrics
from frame_ros.bags.streams.events import event_of
from frame_ros.bags.streams.table import STREAMS
from frame_ros.confidence.scores import SCORES, risk
from frame_ros.core.errors import ValueRangeError
from frame_ros.core.events import EventType
from frame_ros.core.time import SECOND
from frame_ros.episodes.metric_pipeline.options import PipelineOptions
from frame_ros.episodes.metric_pipeline.pipeline import MetricPipeline
from frame_ros.episodes.reading import read_episodes
from frame_ros.metrics.message_fields import FIELDS, LISTS

COUNT, HORIZON, WIDTH, SHIFT = 5, 8, 2, 3
STEPS, PERIOD = 60, SECOND // 30
TOPICS = {
    '/ee_pose': 'pose', '/joint_commands': 'action', '/policy_inference': 'inference',
    '/episode_events': 'event',
}  # fmt: skip


def samples_of(sequence):
    return np.random.default_rng(sequence).normal(size=(COUNT, HORIZON, WIDTH))


def inference(at, sequence, changes):
    values = {
        'sample_count': COUNT, 'horizon': HORIZON, 'action_dimension': WIDTH,
        'samples': samples_of(sequence).ravel(), 'sequence': sequence, 'action_dt': 1 / 30,
        'chunk_consistency': 0.1 * sequence if sequence else math.nan,
        'chunk_shift': float(SHIFT) if sequence else 0.0, 'action_space': 'joint_position',
    }  # fmt: skip
    return message('frame_ros/msg/PolicyInference', header__stamp=stamp(at), **(values | changes))


def made_run(changes=None, steps=STEPS):
    """Topic, stamp and message of an episode: actions and poses at 30 Hz, inferences at 10 Hz."""
    rng = np.random.default_rng(7)
    sent = [('/episode_events', T0, event(T0, EventType.START))]
    for step in range(steps):
        at = T0 + (step + 1) * PERIOD
        action = rng.integers(0, 2, size=2) * 0.1
        sent.append(('/ee_pose', at - 1000, pose(at - 1000, 5e-4 * max(0, step % 20 - 12))))
        sent.append(('/joint_commands', at, joints(at, *action)))
        if step % SHIFT == 1:
            sequence, later = step // SHIFT, at + PERIOD // 2
            made = inference(later, sequence, (changes or {}).get(sequence, {}))
            sent.append(('/policy_inference', later, made))
    end = T0 + (steps + 3) * PERIOD
    return [*sent, ('/episode_events', end, event(end, EventType.END, outcome=1))]


def live_rows(sent, config=None):
    """Values of the confidence samples, and the summary's, of messages that arrive one by one."""
    pipeline, found = MetricPipeline(config), []
    for topic, at, content in sent:
        role = TOPICS[topic]
        value = event_of(content) if role == 'event' else STREAMS[role].from_message(content)
        pipeline.feed(role, at, value, at)
        found += pipeline.advance(at)
    found += pipeline.finish()
    rows = [sample.values for sample in found if sample.kind == 'confidence']
    return rows, next(sample.values for sample in found if sample.kind == 'summary')


def reasons_of(row):
    return dict(line.split(': ', 1) for line in row['unavailable'])


def test_every_metric_of_an_inference_with_a_direction_is_a_score():
    assert set(SCORES) < {*FIELDS['confidence']}
    assert {'tb_e_step', 'ev_step', 'a_ai', 'reversals', 'stac', 'combined_risk'} < set(SCORES)
    assert not {'tb_e', 'tb_e_mean', 'a_pi_step', 'time', 'sample_spread'} & set(SCORES)
    assert SCORES['confidence'].higher_is_better and not SCORES['ev_step'].higher_is_better
    assert SCORES['stac'].needs == ('sampled chunks', 'overlapping chunk')
    assert risk('confidence', [0.2, math.nan]).tolist()[0] == -0.2
    assert np.isnan(risk('confidence', [math.nan])).all() and risk('stac', 0.3) == 0.3
    with pytest.raises(ValueRangeError, match="no score is called 'steadiness'"):
        risk('steadiness', 1.0)


def test_scores_are_the_formulas_on_what_came_before_the_inference():
    sent = made_run()
    rows, _ = live_rows(sent, PipelineOptions(static_threshold=2e-3))
    actions = [(at, c.position) for topic, at, c in sent if topic == '/joint_commands']
    poses = [(at, c.pose.position.x) for topic, at, c in sent if topic == '/ee_pose']
    inferences = [(at, c) for topic, at, c in sent if topic == '/policy_inference']
    seen = 0
    for row, (at, content) in zip(rows, inferences, strict=True):
        known = np.array([p for stamp, p in actions if stamp < at])
        places = np.array([[x, 0.0, 0.0] for stamp, x in poses if stamp < at])
        sequence = content.sequence
        assert row['chunk_consistency'] == pytest.approx(content.chunk_consistency, nan_ok=True)
        wanted = {
            'reversals': metrics.reversal_share(known)[-1],
            'stagnation': metrics.stagnation(known, places, 2e-3)[-1],
            'chunk_entropy': metrics.chunk_entropy(samples_of(sequence)),
            'ev_step': samples_of(sequence).std(axis=0).mean(),
        }
        if sequence:
            wanted['stac'] = metrics.statistical_consistency(
                samples_of(sequence - 1), samples_of(sequence), SHIFT
            )
        for order, name in enumerate(('a_pi', 'a_vi', 'a_ai'), start=1):
            if len(known) >= 8:
                steps = metrics.action_instability(known[-8:], order)[order:]
                wanted[name] = steps.mean()
        for name, value in wanted.items():
            assert row[name] == pytest.approx(float(value), rel=1e-9, nan_ok=True), name
        spread = samples_of(sequence).std(axis=0).mean(axis=1)
        assert row['sample_spread'] == pytest.approx(spread)
        seen += 0 < row['stagnation'] < 1
    assert seen > 3 and len({row['reversals'] for row in rows}) > 4


def test_a_bag_gives_them_to_the_bit(tmp_path):
    changes = {4: {'samples': np.zeros(0), 'sample_count': 0}, 9: {'sequence': 20}}
    sent = made_run(changes)
    rows, summary = live_rows(sent)
    (episode,) = read_episodes(write_bag(tmp_path / 'bag', sent))
    found = episode.metrics['confidence']
    assert len(found['stamp']) == len(rows) == STEPS // SHIFT
    for name in FIELDS['confidence']:
        expected = [row[name] for row in rows]
        np.testing.assert_array_equal(found[name], expected, err_msg=name)
    for name in LISTS['confidence']:
        assert found[name].tolist() == [row[name] for row in rows], name
    for name in ('reversals', 'stagnation', 'stac', 'chunk_entropy', 'chunk_consistency', 'a_ai'):
        assert np.isfinite(found[name]).sum() > 10, name
    lines = [line for line in summary['unavailable'] if line.split(':')[0] in SCORES]
    assert len(lines) > 10 and set(lines) <= set(episode.summary['unavailable'])


def test_what_is_missing_is_named_with_its_reason():
    rows, summary = live_rows(made_run())
    first, last = reasons_of(rows[0]), reasons_of(rows[-1])
    missing = {name for name in SCORES if math.isnan(rows[-1][name])}
    assert missing == set(last)
    assert 'fewer than 8 actions' in first['reversals'] and 'reversals' not in last
    assert 'no chunk before it' in first['chunk_consistency'] == first['stac']
    assert 'no tokens' in last['confidence_min'] == last['tb_d_step']
    assert last['feature_knn'] != last['combined_risk'] == 'no calibration file is loaded'
    in_summary = dict(line.split(': ', 1) for line in summary['unavailable'])
    for name in ('confidence_min', 'combined_risk', 'ensemble_mean'):
        assert in_summary[name] == last[name]


def test_stagnation_says_that_an_earlier_step_of_its_window_had_no_pose():
    sent, lost = made_run(), T0 + 30 * PERIOD
    kept = [(t, at, m) for t, at, m in sent if t != '/ee_pose' or abs(at - lost) > 6 * PERIOD]
    rows, _ = live_rows(kept, PipelineOptions(max_pose_age=0.05))
    missing = [row for row in rows if row['time'] > 1.0 and math.isnan(row['stagnation'])]
    seen = [each for each in missing if each['time'] * SECOND > 38 * PERIOD]
    assert seen and {reasons_of(row)['stagnation'] for row in missing} == {
        'no end-effector pose at one of the last 8 steps'
    }


@pytest.mark.parametrize(
    ('changes', 'reason'),
    [
        ({5: {'samples': np.zeros(0), 'sample_count': 0}}, 'no samples'),
        ({5: {'samples': np.zeros(3)}}, 'samples hold 3 values'),
        ({5: {'chunk_shift': 0.0}}, 'by how many steps it follows is not known'),
        ({5: {'chunk_shift': float(HORIZON), 'chunk_consistency': math.nan}}, 'no chunk before'),
        ({5: {'action_space': 'joint_delta'}}, 'changes of a state that is not known'),
        ({5: {'sequence': 50}}, 'the inference before had none or is missing'),
        ({4: {'samples': np.zeros(0), 'sample_count': 0}}, 'had none or is missing'),
    ],
)
def test_samples_are_compared_only_with_those_before_them(changes, reason):
    rows, _ = live_rows(made_run(changes))
    assert math.isnan(rows[5]['stac']) and reason in reasons_of(rows[5])['stac']
    assert math.isfinite(rows[3]['stac']) and math.isfinite(rows[8]['stac'])


def test_another_number_of_dimensions_begins_again():
    wider = {'action_dimension': 3, 'samples': np.random.default_rng(0).normal(size=120)}
    rows, _ = live_rows(made_run({5: wider}))
    assert math.isnan(rows[5]['stac']) and math.isnan(rows[6]['stac'])
    assert math.isfinite(rows[7]['stac']) and math.isfinite(rows[5]['chunk_entropy'])


def test_equal_samples_have_no_entropy_and_the_reason_says_so():
    equal = np.tile(samples_of(0)[:1], (COUNT, 1, 1))
    rows, _ = live_rows(made_run({5: {'samples': equal.ravel()}}))
    assert rows[5]['ev_step'] == 0.0 and rows[5]['sample_spread'] == (0.0,) * HORIZON
    assert math.isnan(rows[5]['chunk_entropy'])
    assert reasons_of(rows[5])['chunk_entropy'].startswith('the samples of a step are all equal')


def test_two_samples_have_no_entropy_and_the_reason_says_so():
    pair = {'sample_count': 2, 'samples': samples_of(5)[:2].ravel()}
    rows, _ = live_rows(made_run({5: pair}))
    assert math.isnan(rows[5]['chunk_entropy']) and math.isfinite(rows[5]['stac'])
    assert reasons_of(rows[5])['chunk_entropy'].endswith('on one line as two always are')


def test_nothing_of_the_actions_spans_a_gap_or_an_episode():
    sent = made_run()
    gap = [
        (topic, at, content)
        for topic, at, content in sent
        if topic != '/joint_commands' or not 0 < at - T0 - 20 * PERIOD < 20 * PERIOD
    ]
    rows, _ = live_rows(gap)
    fresh = [row for row in rows if 40 * PERIOD < row['time'] * SECOND < 46 * PERIOD]
    assert fresh and all(math.isnan(row['reversals']) for row in fresh)
    assert math.isfinite(rows[-1]['reversals'])


def test_without_poses_only_stagnation_is_missing():
    rows, _ = live_rows([each for each in made_run() if each[0] != '/ee_pose'])
    assert math.isnan(rows[-1]['stagnation']) and math.isfinite(rows[-1]['reversals'])
    assert reasons_of(rows[-1])['stagnation'] == 'no end-effector pose at one of the last 8 steps'


def test_messages_of_before_these_fields_still_read(tmp_path):
    sent = made_run(steps=30)
    from test_older_messages import without

    definition = without(
        'frame_ros/msg/PolicyInference',
        'chunk_consistency', 'chunk_shift', 'features', 'feature_source', 'policy_fingerprint',
    )  # fmt: skip
    episode = older_episode(tmp_path / 'bag', definition, sent)
    found = episode.metrics['confidence']
    assert np.isnan(found['chunk_consistency']).all() and np.isnan(found['stac']).all()
    assert np.isfinite(found['chunk_entropy']).all() and np.isfinite(found['reversals'][3:]).all()
    assert 'by how many steps it follows is not known' in found['unavailable'][-1][5]


def older_episode(folder, definition, sent):
    """The episode of messages, those of the definition's type as they were then."""
    from bag_making import serialised
    from rosbags.typesys import Stores, get_typestore

    from frame_ros.bags.definitions import parse_fields
    from frame_ros.bags.writer import BagWriter

    store = get_typestore(Stores.EMPTY)
    store.register(parse_fields(definition.message_type, definition.text))
    own = store.types[definition.message_type]
    with BagWriter(folder) as writer:
        for topic, at, content in sent:
            is_older = content.__msgtype__ == definition.message_type
            channel = writer.add_topic(topic, content.__msgtype__, definition if is_older else None)
            data = serialised(content)
            if is_older:
                names = [name for name, _ in store.fielddefs[definition.message_type][1]]
                old = own(**{name: getattr(content, name) for name in names})
                data = bytes(store.serialize_cdr(old, definition.message_type))
            writer.write(channel, at, data)
    (episode,) = read_episodes(folder)
    return episode
