# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The sections about one episode, in their order on the page."""

from __future__ import annotations

from frame_ros.reports.sections.halts import HaltSection
from frame_ros.reports.sections.interventions import InterventionSection
from frame_ros.reports.sections.section import EpisodeSection
from frame_ros.reports.sections.sensing import SensingSection
from frame_ros.reports.sections.streams import StreamSection
from frame_ros.reports.sections.truth import TruthSection

# To add one, add its class here, or append it.
EPISODE_SECTIONS: list[type[EpisodeSection]] = [
    InterventionSection,
    HaltSection,
    SensingSection,
    StreamSection,
    TruthSection,
]
