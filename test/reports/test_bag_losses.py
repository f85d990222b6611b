# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""A bag that lacks messages that the live node had: said first, and not called a disagreement; a
true one is found all the same."""

import numpy as np
import pytest
from bag_making import T0, event, joints, message, pose, stamp, write_bag
from live_bags import with_live, without

from frame_ros.bags.findings import Level
from frame_ros.core.events import EventType
from frame_ros.core.time import SECOND
from frame_ros.episodes.reading import read_episodes
from frame_ros.reports import compare_live
from frame_ros.reports.model.episode_check import check_episode
from frame_ros.reports.parity.verdict import parity_verdict

STEPS = 300
LIVE = ('/quality_metrics', '/safety_metrics', '/efficiency_metrics')


def run_of(steps=STEPS):
    """Actions at 30 Hz, poses and contacts at 60 Hz, distances at 15 Hz."""
    sent = [('/episode_events', T0 - 1, event(T0, EventType.START))]
    for i in range(2 * steps):
        at = T0 + i * SECOND // 60
        x = 0.1 * np.sin(0.05 * i) + 0.01 * np.sin(0.7 * i)
        sent.append(('/ee_pose', at + 1000, pose(at, x)))
        contact = message(
            'frame_ros/msg/ContactState', header__stamp=stamp(at), in_contact=i % 40 > 25
        )
        sent.append(('/contact', at + 1500, contact))
        if i % 4 == 0:
            near = message(
                'frame_ros/msg/Proximity', header__stamp=stamp(at), distance=0.1 + 0.05 * np.sin(i)
            )
            sent.append(('/proximity', at + 1600, near))
        if i % 2:
            sent.append(('/joint_commands', at + 2000, joints(at, 0.1 * np.sin(0.1 * i), -0.1)))
    end = T0 + 2 * steps * SECOND // 60
    sent.append(('/episode_events', end, event(end, EventType.END, outcome=1)))
    return sent


@pytest.fixture(scope='module')
def recorded():
    return with_live(run_of())


def read(path, sent):
    (episode,) = read_episodes(write_bag(path, sent))
    return episode


def altered(sent, topic, place, **values):
    """With other values in one message of a topic; 0 is its first."""
    places = [i for i, (name, *_) in enumerate(sent) if name == topic]
    content = sent[places[place]][2]
    fields = {name: getattr(content, name) for name in content.__dataclass_fields__}
    fields.pop('__msgtype__', None)
    copy = message(content.__msgtype__, **{**fields, **values})
    return [
        (name, at, copy) if i == places[place] else (name, at, m)
        for i, (name, at, m) in enumerate(sent)
    ]


def test_a_whole_bag_lacks_nothing(tmp_path, recorded):
    parity = compare_live(read(tmp_path / 'bag', recorded))
    verdict = parity_verdict([parity])
    assert verdict.holds and verdict.unjudged == 0 and parity.losses == []
    assert verdict.text.startswith('live and bag agree in')


# The poses newest at steps are those at odd places.
@pytest.mark.parametrize(
    ('topic', 'places', 'kind', 'counts'),
    [
        ('/ee_pose', [101, 151, 153, 155, 301, 303, 401], 'quality', '7 of 600 of ee_pose'),
        ('/joint_commands', [50, 51, 120], 'quality', '3 of 300 of joint_commands'),
        (
            '/contact',
            list(range(200, 204)),
            'safety',
            '4 of 600 of contact (by gaps in its stamps)',
        ),
        ('/proximity', [40, 41], 'safety', '2 of 150 of proximity (by gaps in its stamps)'),
    ],
)
def test_what_a_bag_lacks_is_said_first_and_is_no_disagreement(
    tmp_path, recorded, topic, places, kind, counts
):
    episode = read(tmp_path / 'bag', without(recorded, topic, places))
    parity = compare_live(episode)
    verdict = parity_verdict([parity])
    assert verdict.holds is True
    text = (
        'it is not known whether the bag lacks messages, as it has no counts of what the live node '
        f'had: {counts} may be missing; '
    )
    assert verdict.text.startswith(text)
    assert 'rest on these and cannot be compared; live and bag agree in' in verdict.text
    assert 'DISAGREE' not in verdict.text
    assert {row.kind for row in parity if row.unjudged} >= {kind}
    found = [f for f in check_episode(episode).findings if f.level is Level.DOUBTFUL]
    assert [f.text.startswith(text) for f in found if f.about == 'live'] == [True]
    # What was before the first, and what forgets it, is compared.
    rows = {(row.kind, row.field): row for row in parity}
    assert all(row.compared > 0 for row in rows.values())
    long, short = rows['quality', 'pl'], rows['quality', 'tcp_speed']
    if topic == '/ee_pose':
        assert long.compared == 50 and short.compared > 100


def test_lost_live_messages_are_counted_by_their_steps(tmp_path, recorded):
    episode = read(tmp_path / 'bag', without(recorded, '/quality_metrics', [5, 6, 100]))
    verdict = parity_verdict([compare_live(episode)])
    assert verdict.holds and verdict.unjudged == 0
    assert verdict.text.startswith(
        'the bag lacks messages that the live node had: 3 of 300 of quality_metrics; '
        'live and bag agree in'
    )


@pytest.mark.parametrize(
    ('place', 'field', 'is_found'),
    [
        (20, 'pl', True),  # before the first loss
        (270, 'tcp_speed', True),  # long behind the last
        (270, 'a_pi_mean', True),  # of actions, of which none is lacking
        (270, 'pl', False),  # the sum rests on lost poses: nobody can say
    ],
)
def test_a_true_disagreement_is_found_beside_losses(tmp_path, recorded, place, field, is_found):
    lossy = without(recorded, '/ee_pose', [101, 103, 105])
    value = getattr([m for t, _, m in recorded if t == '/quality_metrics'][place], field)
    lossy = altered(lossy, '/quality_metrics', place, **{field: value + 1e-3})
    verdict = parity_verdict([compare_live(read(tmp_path / 'bag', lossy))])
    assert verdict.holds is not is_found
    assert verdict.text.startswith('it is not known whether the bag lacks messages, ')
    assert ('; live and bag DISAGREE in 1 of' in verdict.text) == is_found


def test_a_gap_in_the_stamps_excuses_only_what_it_explains(tmp_path, recorded):
    """Differences before a gap are none of its consequences."""
    lossy = without(recorded, '/contact', list(range(400, 410)))
    lossy = altered(lossy, '/safety_metrics', 30, in_contact=True, cr=0.9)
    verdict = parity_verdict([compare_live(read(tmp_path / 'bag', lossy))])
    assert verdict.holds is False
    assert 'DISAGREE' in verdict.text


def test_a_pause_of_a_publisher_is_no_loss(tmp_path):
    """Live and bag have the same gap."""
    paused = without(run_of(), '/contact', list(range(200, 204)))
    verdict = parity_verdict([compare_live(read(tmp_path / 'bag', with_live(paused)))])
    assert verdict.holds and verdict.losses == '' and verdict.unjudged == 0


def readiness(at, counts):
    """The metrics node says how many messages of each topic it has taken, and the newest stamp."""
    inputs = [
        message('frame_ros/msg/NodeInput', topic=topic, received=count, last_stamp=stamp(last))
        for topic, (count, last) in counts.items()
    ]
    return message(
        'frame_ros/msg/NodeReadiness', header__stamp=stamp(at), node='/metrics', inputs=inputs
    )


def with_counts(sent, topic):
    """Messages with what the metrics node says every second of one topic that it got whole."""
    found, count, last, due = [], 0, 0, T0
    for item in sent:
        if item[0] == topic:
            header = item[2].header.stamp
            count, last = count + 1, header.sec * SECOND + header.nanosec
            if last >= due:
                due += SECOND
                said = readiness(last, {topic: (count, last)})
                found.append(('/node_readiness', item[1], said))
        found.append(item)
    return found


def irregular(sent, topic, seed=3):
    """Without half of a topic's messages, at random: a stream whose gaps mean nothing."""
    count = sum(name == topic for name, *_ in sent)
    places = np.random.default_rng(seed).permutation(count)[: count // 2]
    return without(sent, topic, sorted(places))


@pytest.mark.parametrize('is_counted', [True, False])
def test_the_live_nodes_own_counts_say_what_is_lacking(tmp_path, is_counted):
    sent = with_live(irregular(run_of(), '/contact'))
    sent = with_counts(sent, '/contact') if is_counted else sent
    lossy = without(sent, '/contact', list(range(100, 112)))
    verdict = parity_verdict([compare_live(read(tmp_path / 'bag', lossy))])
    assert verdict.holds is is_counted
    if is_counted:
        assert verdict.text.startswith(
            'the bag lacks messages that the live node had: 12 of 300 of contact; '
        )
    else:  # nothing tells that from a fault
        assert 'DISAGREE' in verdict.text


@pytest.mark.parametrize(
    ('places', 'least'), [(range(200), 140), (range(380, 600), 90), (range(600), 420)]
)
@pytest.mark.parametrize('is_regular', [True, False])
def test_the_counts_say_that_the_begin_the_end_or_all_of_a_stream_is_lacking(
    tmp_path, places, least, is_regular
):
    used = message('std_msgs/msg/String', data='{"topics": {"contact": "/contact"}}')
    sent = run_of() if is_regular else irregular(run_of(), '/contact')
    places = places if is_regular else range(places.start // 2, places.stop // 2)
    sent = with_live([('/metrics_config', T0, used), *sent])
    lossy = without(with_counts(sent, '/contact'), '/contact', list(places))
    parity = compare_live(read(tmp_path / 'bag', lossy))
    (loss,) = parity.losses
    assert loss.is_counted and loss.role == 'contact'
    assert least // (1 if is_regular else 2) <= loss.missing <= len(places)
    verdict = parity_verdict([parity])
    assert verdict.text.startswith('the bag lacks messages that the live node had: ')
    assert verdict.holds and verdict.unjudged


def said_at_start(at, counts):
    """Readiness as the metrics node states it when an episode starts."""
    return ('/node_readiness', T0 - 1, readiness(at, counts))


def counted_at(sent, topic, places):
    """Messages with readiness of the metrics node behind some of one topic."""
    found, count = [], 0
    for item in sent:
        found.append(item)
        if item[0] == topic:
            count += 1
            if count - 1 in places:
                header = item[2].header.stamp
                last = header.sec * SECOND + header.nanosec
                found.append(('/node_readiness', item[1], readiness(last, {topic: (count, last)})))
    return found


@pytest.mark.parametrize('first', [8, 3, 40])
def test_the_recorder_may_meet_a_publisher_later_than_the_live_node(tmp_path, first):
    """The first count comes with the last message that is lacking, before it or behind it."""
    topic = '/joint_commands'
    counted = counted_at(with_live(run_of()), topic, {first, 70, 100, 200})
    lossy = without([said_at_start(T0, {topic: (0, 0)}), *counted], topic, list(range(9)))
    verdict = parity_verdict([compare_live(read(tmp_path / 'bag', lossy))])
    assert verdict.holds and verdict.unjudged
    said = 'the bag lacks messages that the live node had: 9 of 300 of joint_commands; '
    assert verdict.text.startswith(said)


@pytest.mark.parametrize('taken', [0, 25])
def test_messages_of_before_the_recording_are_not_lacking(tmp_path, taken):
    """The newest word of before the episode may be that nothing had come by then."""
    topic, counted = '/joint_commands', []
    for name, at, content in counted_at(with_live(run_of()), topic, {8, 70, 100, 200}):
        if name == '/node_readiness':
            content.inputs[0].received += taken
        counted.append((name, at, content))
    early = said_at_start(T0 - SECOND, {topic: (0, 0)})
    verdict = parity_verdict([compare_live(read(tmp_path / 'bag', [early, *counted]))])
    assert verdict.holds and verdict.unjudged == 0 and verdict.losses == ''


def test_a_gap_that_the_counts_know_to_be_a_pause_excuses_nothing(tmp_path):
    paused = with_live(without(run_of(), '/contact', list(range(200, 204))))
    wrong = altered(paused, '/safety_metrics', 200, cr=0.9)
    without_counts = parity_verdict([compare_live(read(tmp_path / 'a' / 'bag', wrong))])
    assert without_counts.losses.startswith('it is not known whether')
    counted = with_counts(wrong, '/contact')
    verdict = parity_verdict([compare_live(read(tmp_path / 'b' / 'bag', counted))])
    assert verdict.losses == '' and 'DISAGREE in 1 of' in verdict.text


def test_a_pose_that_the_counts_know_to_be_in_the_bag_excuses_nothing(tmp_path):
    """A live age of a pose that is wrong looks as if the bag lacked a newer one."""
    sent = with_live(run_of())
    (age,) = [m.pose_age for t, _, m in sent if t == '/quality_metrics'][150:151]
    wrong = altered(sent, '/quality_metrics', 150, pose_age=age - 1e-3)
    without_counts = parity_verdict([compare_live(read(tmp_path / 'a' / 'bag', wrong))])
    assert without_counts.losses.startswith('it is not known whether')
    counted = with_counts(wrong, '/ee_pose')
    verdict = parity_verdict([compare_live(read(tmp_path / 'b' / 'bag', counted))])
    assert verdict.losses == '' and 'DISAGREE in 1 of' in verdict.text
    lossy = without(counted, '/ee_pose', [401])
    assert parity_verdict([compare_live(read(tmp_path / 'c' / 'bag', lossy))]).losses


def lost_live(sent, topic, places):
    """A run of which the live node lost some messages of a topic, as its counts say every second;
    the bag has them all."""
    heard = [item for item in with_live(without(sent, topic, places)) if item[0] in LIVE]
    found, count, lost, last, due = [], 0, 0, 0, T0
    for item in sent:
        found.append(item)
        if item[0] != topic:
            continue
        if count + lost in places:
            lost += 1
            continue
        header = item[2].header.stamp
        count, last = count + 1, header.sec * SECOND + header.nanosec
        if last >= due:
            due += SECOND
            said = readiness(last, {topic: (count, last)})
            said.inputs[0].lost = lost
            found.append(('/node_readiness', item[1], said))
    return sorted([*found, *heard], key=lambda item: item[1])


LOST_POSES = [101, 151, 153, 155, 301, 303, 401]
SAID = 'the live metrics node lost 7 of 600 messages of ee_pose'


def live_findings(episode):
    found = check_episode(episode).findings
    return [f.text for f in found if f.level is Level.DOUBTFUL and f.about == 'live']


def test_what_the_live_node_lost_is_named_and_is_no_disagreement(tmp_path):
    episode = read(tmp_path / 'bag', lost_live(run_of(), '/ee_pose', LOST_POSES))
    verdict = parity_verdict([compare_live(episode)])
    assert verdict.holds is True and verdict.unjudged > 0 and verdict.losses == ''
    assert verdict.live_losses == SAID
    assert verdict.text.startswith(f'{SAID}; ')
    assert 'rest on these and cannot be compared; live and bag agree in' in verdict.text
    found = live_findings(episode)
    assert found == [f'{SAID}: its live values are doubtful; this report has all of them']


@pytest.mark.parametrize(
    ('place', 'field'),
    [
        (20, 'pl'),  # before the first loss
        (270, 'tcp_speed'),  # long behind the last
        (150, 'a_pi_mean'),  # of actions, of which none was lost
    ],
)
def test_a_true_disagreement_is_found_beside_what_the_live_node_lost(tmp_path, place, field):
    sent = lost_live(run_of(), '/ee_pose', LOST_POSES)
    value = getattr([m for t, _, m in sent if t == '/quality_metrics'][place], field)
    wrong = altered(sent, '/quality_metrics', place, **{field: value + 1e-3})
    episode = read(tmp_path / 'bag', wrong)
    assert 'DISAGREE in 1 of' in parity_verdict([compare_live(episode)]).text
    found = live_findings(episode)
    assert len(found) == 2 and any(text.startswith(SAID) for text in found)
    assert any('live and bag DISAGREE in 1 of' in text and SAID not in text for text in found)


@pytest.mark.parametrize(('first', 'is_late'), [(T0 - SECOND // 100, False), (T0 + SECOND, True)])
def test_only_what_came_in_the_episode_is_missed_live(tmp_path, first, is_late):
    """The recording begins before the episode, and before the live node was connected."""
    before = [('/ee_pose', at + 1000, pose(at, 0.0)) for at in range(T0 - SECOND, T0, SECOND // 60)]
    said = readiness(T0 + 9 * SECOND, {'/ee_pose': (1, T0 + 9 * SECOND)})
    said.inputs[0].first_stamp = stamp(first)
    sent = [*before, *with_live(run_of()), ('/node_readiness', T0 + 9 * SECOND, said)]
    episode = read(tmp_path / 'bag', sorted(sent, key=lambda item: item[1]))
    assert bool(compare_live(episode).late_inputs) is is_late


def run_with_inferences():
    """The same with actions that turn back at random, and an inference at every third of them."""
    rng, sent, count = np.random.default_rng(0), [], 0
    for topic, at, content in run_of():
        sent.append((topic, at, content))
        if topic == '/joint_commands':
            content.position[:] = rng.normal(size=2)
            count += 1
            if count % 3 == 0:
                later = at + 1000
                values = {'sequence': count // 3, 'chunk_consistency': 0.1, 'chunk_shift': 3.0}
                made = message(
                    'frame_ros/msg/PolicyInference', header__stamp=stamp(later), **values
                )
                sent.append(('/policy_inference', later, made))
    return sent


@pytest.mark.parametrize(
    ('topic', 'places', 'unjudged'),
    [
        ('/joint_commands', [50, 51, 120], {'reversals', 'stagnation', 'a_pi', 'a_vi', 'a_ai'}),
        ('/ee_pose', [101, 151, 153, 155, 301, 303, 401], {'stagnation'}),
        ('/policy_inference', [20], {'chunk_consistency'}),
    ],
)
def test_scores_are_not_judged_where_they_rest_on_what_a_bag_lacks(
    tmp_path, topic, places, unjudged
):
    sent = without(with_live(run_with_inferences()), topic, places)
    parity = compare_live(read(tmp_path / 'bag', sent))
    assert parity_verdict([parity]).holds is True
    rows = {row.field: row for row in parity if row.kind == 'confidence'}
    assert {name for name in rows if rows[name].unjudged} >= unjudged
    assert rows['reversals'].compared > 20
    if topic != '/policy_inference':
        assert rows['chunk_consistency'].unjudged == 0 < rows['chunk_consistency'].compared


def test_a_wrong_score_is_found(tmp_path):
    sent = altered(with_live(run_with_inferences()), '/confidence_metrics', 40, reversals=0.123)
    verdict = parity_verdict([compare_live(read(tmp_path / 'bag', sent))])
    assert verdict.holds is False and verdict.different == 1
