# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Messages in the bag of a trial without ROS are those that the nodes make of the same."""

import numpy as np
import pytest

pytest.importorskip('rclpy')
pytest.importorskip('mujoco')

from rclpy.serialization import deserialize_message, serialize_message

from frame_ros.msg import ContactState, PolicyInference, Proximity
from frame_ros.nodes.policy.messages import Call, inference_message
from frame_ros.nodes.simulator.messages import contact_message, proximity_message
from frame_ros.policies.execution.action_queue import Arrival
from frame_ros.policies.execution.chunk import ChunkComparison
from frame_ros.policies.protocol import Observation
from frame_ros.policies.scripted.tasks import ScriptedTasks
from frame_ros.scenes.generation.setting import nominal_scene, setting
from frame_ros.scenes.recording.contents import stream_messages
from frame_ros.scenes.recording.details import EpisodeDetails
from frame_ros.scenes.run_options import SceneRunOptions
from frame_ros.scenes.scene_rollout import run_scene
from frame_ros.scenes.simulation.contact_interval import IntervalContacts
from frame_ros.scenes.simulation.scene_robot import scene_robot


@pytest.fixture(scope='module')
def recorded():
    details, policy = EpisodeDetails(), ScriptedTasks()
    scene = nominal_scene(setting(scene_robot('so101'), 'pick_up'))
    run = SceneRunOptions(timeout=3.6)
    episode = run_scene(scene, policy, run, details=details).episode
    found = {}
    for message in stream_messages(episode, details):
        found.setdefault(message.topic.name, []).append(message)
    return episode, details, policy, found


def sent(message):
    """A message as it arrives, in words, by which NaN equals NaN."""
    return repr(deserialize_message(serialize_message(message), type(message)))


def test_contacts_and_distances_are_those_of_the_simulator_node(recorded):
    _, details, _, found = recorded
    touched = 0
    for step, contact, distance in zip(
        details.steps, found['/ground_truth/contact'], found['/ground_truth/proximity'], strict=True
    ):
        net = sum((c.net_force for c in step.contacts), np.zeros(3))
        torque = sum((c.net_torque for c in step.contacts), np.zeros(3))
        interval = IntervalContacts(tuple(step.contacts), net, torque)
        theirs = contact_message(contact.received, details.base, interval, step.tip)
        ours = deserialize_message(contact.data, ContactState)
        assert ours.force == pytest.approx(theirs.force, rel=1e-12)
        theirs.force = ours.force  # the last bit: one norm, or that of many rows
        assert repr(ours) == sent(theirs)
        touched += len(step.contacts) > 1
        theirs = proximity_message(distance.received, details.base, step.distance)
        assert repr(deserialize_message(distance.data, Proximity)) == sent(theirs)
    assert touched > 10


def test_an_inference_is_that_of_the_policy_node(recorded):
    episode, details, policy, found = recorded
    columns = episode.streams['inference'].values
    values = {name: column.tolist()[1] for name, column in columns.items()}
    (_, message, *_), inference = found['/policy_inference'], details.inferences[1]
    compared = ChunkComparison(
        values['chunk_overlap'], values['chunk_consistency'], values['chunk_shift']
    )
    arrival = Arrival(True, values['queue_depth'], values['stalls'], compared, 0, 0)
    stamp = message.received
    observation = Observation(
        stamp, stamp, (), np.zeros(0), instruction=episode.attributes['instruction']
    )
    call = Call(
        episode, observation, inference, arrival, stamp, values['latency'], values['cpu_time'],
        'synchronous',
    )  # fmt: skip
    theirs = inference_message(policy, values['policy_fingerprint'], call, 1)
    ours = deserialize_message(message.data, PolicyInference)
    theirs.memory_rss = float('nan')  # that of the training machine is in no trial
    assert repr(ours) == sent(theirs)
