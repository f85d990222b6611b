# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The contact node's options."""

from __future__ import annotations

from frame_ros.core.options import group, options
from frame_ros.nodes.runtime.options import InputOptions
from frame_ros.sensing.contact.options import ContactSensingOptions


@options
class ContactOptions(ContactSensingOptions):
    """Contact node: wrench, joint effort or the robot's own flags -> contact, contact_events,
    external_wrench. Monitoring, not a certified safety function.
    """

    inputs: InputOptions = group(InputOptions)
