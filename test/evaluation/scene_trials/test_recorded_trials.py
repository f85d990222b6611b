# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Bags of trials: the metrics of the trial, the same content again, and what a crash costs."""

import attrs
import numpy as np
import pytest

pytest.importorskip('mujoco')

from recorded_trials import TALKING, nominal, recorded
from rosbags.highlevel import AnyReader

from frame_ros.bags.find_bags import find_bags
from frame_ros.bags.messages import MessageMaker
from frame_ros.bags.reader import Bag
from frame_ros.bags.storage.mcap_writer import McapWriter
from frame_ros.core.errors import BagError
from frame_ros.episodes import Outcome
from frame_ros.episodes.reading import read_episodes
from frame_ros.evaluation.scene_trials.folder import read_campaign
from frame_ros.evaluation.scene_trials.recording import RecordOptions, TrialRecording, bag_name
from frame_ros.evaluation.scene_trials.result import TrialResult
from frame_ros.metrics.registry import REGISTRY
from frame_ros.nodes.policy.topics import TOPICS as OF_POLICY
from frame_ros.nodes.runtime import topics as usual
from frame_ros.nodes.simulator.topics import TOPICS as OF_SIMULATOR
from frame_ros.policies.base import Policy
from frame_ros.policies.protocol import Inference
from frame_ros.scenes.description.scene import SensorFault
from frame_ros.scenes.recording.bag import write_episode_bag
from frame_ros.scenes.recording.details import EpisodeDetails
from frame_ros.scenes.run_options import SceneRunOptions
from frame_ros.scenes.scene_rollout import run_scene


@pytest.fixture(scope='module')
def scenes():
    return nominal('put_in'), attrs.evolve(nominal('pick_up'), name='pick up/it')


@pytest.fixture(scope='module')
def campaign(tmp_path_factory, scenes):
    folder = tmp_path_factory.mktemp('recorded')
    return folder, recorded(folder, scenes)


def messages(bag):
    """(topic, receive time, bytes) of every message, read by another reader."""
    with AnyReader([bag]) as reader:
        return [(each.topic, at, bytes(data)) for each, at, data in reader.messages()]


def equal(found, result):
    """Compares each metric of an episode with that of its trial, to the bit."""
    for name in REGISTRY:
        value = found.value(name)
        value = np.nan if value is None else float(value)
        np.testing.assert_array_equal(value, result.metrics[name], err_msg=name)


def test_a_bag_has_the_metrics_and_the_outcome_of_its_trial(campaign, scenes):
    folder, results = campaign
    assert [each.is_success() for each in results] == [False, True]
    for result, scene in zip(results, scenes, strict=True):
        (found,) = read_episodes(folder / result.episode)
        equal(found, result)
        outcome = Outcome.SUCCESS if result.is_success() else Outcome.TIMEOUT
        assert found.summary['outcome'] == outcome and not found.problems
        facts = found.attributes
        assert (facts['policy'], facts['quality'], facts['scene'], facts['task']) == (
            'all of it', '0.3', scene.name, scene.task.kind,
        )  # fmt: skip
        assert facts['instruction'] == scene.instruction and facts['object'] == 'cube'
        assert found.episode_id == result.episode.removeprefix('episodes/')
    assert np.isfinite([results[1].metrics[name] for name in ('ot', 'peak_force', 'il')]).all()
    assert len(find_bags(folder / 'episodes')) == 2


def test_topics_and_types_are_those_of_a_recorded_run_with_their_definitions(campaign):
    folder, results = campaign
    declared = [
        *OF_SIMULATOR.publishes, *OF_POLICY.publishes, usual.GRASP, usual.JOINT_COMMANDS,
    ]  # fmt: skip
    types = {each.name: each.type for each in declared}
    types |= {'ee_pose': usual.POSE, 'metrics_config': 'std_msgs/msg/String'}
    bag = Bag(folder / results[0].episode)
    found = {name.lstrip('/'): topic.message_type for name, topic in bag.topics.items()}
    assert found == {name: types[name] for name in found} and len(found) == 11
    with AnyReader([folder / results[0].episode]) as reader:
        for connection, _, data in reader.messages():
            reader.deserialize(data, connection.msgtype)
    count = {name: len(topic) for name, topic in bag.topics.items()}
    assert count['/ground_truth/contact'] == count['/joint_states'] > 100
    contacts = [m for _, m in bag.messages('/ground_truth/contact') if len(m.links)]
    assert contacts and len(contacts[0].forces) == len(contacts[0].links)


def test_the_same_trial_gives_the_same_messages_but_for_the_clock(campaign, scenes, tmp_path):
    folder, results = campaign
    again = recorded(tmp_path, scenes[:1])[0]
    one, two = (messages(each / again.episode) for each in (folder, tmp_path))
    assert len(one) == len(two) > 1000
    clock = '/policy_inference'
    assert [m for m in one if m[0] != clock] == [m for m in two if m[0] != clock]
    steps = [len(m) for m in one if m[0] == clock]
    assert steps == [len(m) for m in two if m[0] == clock]
    names = [name for name in REGISTRY if REGISTRY[name].category != 'efficiency']
    np.testing.assert_array_equal(
        [again.metrics[name] for name in names], [results[0].metrics[name] for name in names]
    )


def test_tokens_samples_features_and_late_joints_are_in_the_bag(tmp_path):
    fault = {'joint_states': SensorFault(latency=0.1)}
    scene = attrs.evolve(nominal('move_near'), sensors=fault)
    (result,) = recorded(tmp_path, [scene], 1.0, TALKING)
    (found,) = read_episodes(tmp_path / result.episode)
    equal(found, result)
    known = ('tb_e', 'ev', 'chunk_entropy', 'ensemble_mean', 'chunk_consistency', 'confidence')
    assert np.isfinite([result.metrics[name] for name in known]).all()
    assert 0.05 < result.metrics['observation_age'] < 0.1
    calls = [m for _, m in Bag(tmp_path / result.episode).messages('/policy_inference')]
    assert len({m.actions.tobytes() for m in calls}) == len(calls) == 10
    assert len({m.features.tobytes() for m in calls}) == len(calls)
    assert len(calls[0].features) == 20 and calls[0].unavailable == ['nothing: for a test']


def test_only_failed_trials_are_recorded_if_so_wished(tmp_path, scenes):
    short = attrs.evolve(scenes[1], name='short')
    failed = RecordOptions(record='failed')
    (result,) = recorded(tmp_path / 'a', [short], 8.0, record=failed)
    assert result.is_success() and result.episode == ''
    (result,) = recorded(tmp_path / 'b', [short], 0.3, record=failed)
    assert (tmp_path / 'b' / result.episode / 'metadata.yaml').is_file()


def test_a_disk_that_refuses_costs_one_bag_and_no_result(tmp_path, scenes, monkeypatch, caplog):
    write = McapWriter.write

    def refuse(self, *args):
        if 'pick_up' in str(self._file.name):
            raise OSError(28, 'No space left on device')
        return write(self, *args)

    monkeypatch.setattr(McapWriter, 'write', refuse)
    results = recorded(tmp_path, scenes, 0.3)
    assert [bool(each.episode) for each in results] == [True, False]
    assert all(each.is_valid for each in results) and 'No space left' in caplog.text
    assert [path.name for path in (tmp_path / 'episodes').iterdir()] == [bag_name(results[0])]


def test_a_campaign_that_was_cut_while_it_wrote_a_bag_goes_on(tmp_path, scenes):
    done = recorded(tmp_path, scenes, 0.3)
    before = messages(tmp_path / done[1].episode)
    file = tmp_path / 'results.jsonl'
    file.write_text(file.read_text().splitlines(keepends=True)[0])
    bag = tmp_path / done[1].episode
    cut = bag.rename(f'{bag}.partial')
    (storage,) = cut.glob('*.mcap')
    storage.write_bytes(storage.read_bytes()[:5000])
    (cut / 'metadata.yaml').unlink()
    (tmp_path / done[1].episode).mkdir()  # the name was taken just before the end
    said, seen = [], []
    recorded(
        tmp_path, scenes, 0.3, on_message=said.append,
        on_result=lambda result, done, total: seen.append(result.scene),
    )  # fmt: skip
    assert seen == ['pick up/it'] and not cut.exists()
    again = messages(bag)
    assert [m[:2] for m in again] == [m[:2] for m in before]
    assert [each.episode for each in read_campaign(tmp_path).results] == [
        each.episode for each in done
    ]
    assert not any('no bag' in each for each in said)


def test_trials_that_were_done_without_a_bag_are_named(tmp_path, scenes):
    recorded(tmp_path, scenes[:1], 0.3, record=None)
    said = []
    recorded(tmp_path, scenes[:1], 0.3, on_message=said.append)
    assert any('1 of the trials that were done have no bag' in each for each in said)
    assert not (tmp_path / 'episodes').exists()
    recording = TrialRecording(folder=tmp_path, options=RecordOptions(record='failed'), facts={})
    steps = {'paper': {'success': True}}
    assert recording.wants(TrialResult(scene='s', policy='p'))
    assert not recording.wants(TrialResult(scene='s', policy='p', problem='it diverged'))
    assert not recording.wants(TrialResult(scene='s', policy='p', steps=steps))
    steps['world'] = {'success': False}
    assert recording.wants(TrialResult(scene='s', policy='p', steps=steps))


def test_names_of_bags_are_safe_and_differ():
    results = [
        TrialResult(scene=scene, policy='lerobot:act/010000', instruction=text)
        for scene in ('../a b', '..a/b', 'x' * 300)
        for text in ('one', 'two')
    ]
    names = [bag_name(each) for each in results]
    assert len(set(names)) == len(names) and max(map(len, names)) < 160
    assert not any(set('/: ') & set(name) or name.startswith('.') for name in names)


class Looking(Policy):
    """Stands still and looks."""

    name = 'looking'
    cameras = ('front',)
    n_action_steps = 2

    def infer(self, observation):
        self.seen = observation.images['front']
        chunk = np.tile(observation.joint_positions, (2, 1))
        return Inference(chunk, 1 / 30, observation.joint_names, ('rad',) * 6)


@pytest.mark.parametrize('form', ['raw', 'jpeg', 'none'])
def test_pictures_that_the_policy_got_are_in_the_bag_once_with_the_time_they_were_taken(
    form, tmp_path
):
    late = attrs.evolve(nominal('pick_up'), sensors={'front': SensorFault(latency=0.11)})
    details, policy = EpisodeDetails(form), Looking()
    found = run_scene(late, policy, SceneRunOptions(timeout=0.5), details=details)
    write_episode_bag(tmp_path / 'bag', found.episode, details, {})
    bag = Bag(tmp_path / 'bag')
    name = {'raw': '/front/image_raw', 'jpeg': '/front/image_raw/compressed'}.get(form)
    images = [topic for topic in bag.topics if 'image' in topic]
    assert images == ([name] if name else [])
    if name is None:
        return
    sent = list(bag.messages(name))
    stamps = [m.header.stamp.sec * 10**9 + m.header.stamp.nanosec for _, m in sent]
    ages = [received - stamp for (received, _), stamp in zip(sent, stamps, strict=True)]
    assert stamps == sorted(set(stamps)) and ages[0] == 0 and ages[-1] >= 110_000_000
    infos = [m for _, m in bag.messages('/front/camera_info')]
    assert len(infos) == len(sent) and infos[0].width == policy.seen.shape[1]
    if form == 'raw':
        np.testing.assert_array_equal(sent[-1][1].data.reshape(policy.seen.shape), policy.seen)


def test_a_message_is_made_of_plain_values_and_no_field_is_misspelt():
    maker = MessageMaker('geometry_msgs/msg/PoseStamped')
    header = {'stamp': 5_000_000_007, 'frame_id': 'base'}
    data = maker.data(header=header, pose={'position': (1, 2, 3)})
    store = maker._store
    found = store.deserialize_cdr(data, maker.definition.message_type)
    assert (found.header.stamp.sec, found.header.stamp.nanosec) == (5, 7)
    assert (found.pose.position.z, found.pose.orientation.w) == (3.0, 0.0)
    with pytest.raises(BagError, match='has no field positon; it has position'):
        maker.data(pose={'positon': (1, 2, 3)})
