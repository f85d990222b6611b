# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The overlay's messages and services as the middleware takes them: all it needs was built."""

from importlib import import_module
from pathlib import Path

import pytest

rclpy = pytest.importorskip('rclpy')

from frame_ros.gate.records import Intervention, Reason  # noqa: E402
from frame_ros.msg import (  # noqa: E402
    CameraAlignment,
    ContactEvent,
    GateIntervention,
    NodeInput,
    NodeOutput,
    NodeReadiness,
)
from frame_ros.nodes.runtime.message_parts import CONVERSIONS  # noqa: E402
from frame_ros.sensing.contact.tracker import ContactEventRecord  # noqa: E402
from frame_ros.sensing.proximity.cameras.alignment import Alignment  # noqa: E402
from frame_ros.sensing.stream_health.readiness import (  # noqa: E402
    InputState,
    NodeState,
    OutputState,
)

ROOT = Path(__file__).resolve().parent.parent.parent.parent
MESSAGES = sorted(path.stem for path in ROOT.glob('msg/*.msg'))
SERVICES = sorted(path.stem for path in ROOT.glob('srv/*.srv'))


@pytest.fixture(scope='module')
def node():
    context = rclpy.Context()
    rclpy.init(context=context)
    made = rclpy.create_node('interfaces', context=context)
    yield made
    made.destroy_node()
    context.try_shutdown()


@pytest.mark.parametrize('name', MESSAGES)
def test_each_message_can_be_published_and_read(node, name):
    kind = getattr(import_module('frame_ros.msg'), name)
    assert node.create_publisher(kind, f'of_{name}', 1)
    assert node.create_subscription(kind, f'of_{name}', print, 1)


@pytest.mark.parametrize('name', SERVICES)
def test_each_service_can_be_served_and_called(node, name):
    kind = getattr(import_module('frame_ros.srv'), name)
    assert node.create_service(kind, f'of_{name}', print)
    assert node.create_client(kind, f'of_{name}')


@pytest.mark.parametrize(
    ('message', 'others', 'records'),
    [
        (ContactEvent, {'header'}, (ContactEventRecord,)),
        (CameraAlignment, {'header', 'camera'}, (Alignment,)),
        (GateIntervention, {'header', 'action'}, (Intervention, Reason)),
        (NodeInput, set(), (InputState,)),
        (NodeOutput, set(), (OutputState,)),
        (NodeReadiness, {'header', 'inputs', 'outputs'}, (NodeState,)),
    ],
)
def test_records_have_the_fields_of_their_messages(message, others, records):
    kinds = message.get_fields_and_field_types()
    named = {name for record in records for name in (*record.__annotations__, *vars(record))}
    assert set(kinds) - others <= named
    assert {kinds[name] for name in set(kinds) - others} <= set(CONVERSIONS)
