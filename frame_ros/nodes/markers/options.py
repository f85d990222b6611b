# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The markers node's options."""

from __future__ import annotations

from frame_ros.core.options import group, option, options, rule
from frame_ros.gate.limits.options import BoxOptions
from frame_ros.metrics.distance_bounds import BOUNDS, MEANING, NEAREST_SEEN
from frame_ros.robots.options import FrameOptions, RobotOptions
from frame_ros.robots.shapes.filter_shapes import OF_SHAPES


@options
class PathOptions:
    """Path of the tip, in the colour of its jerk."""

    points: int = option(300, 'largest number of points', at_least=1)
    spacing: float = option(0.003, 'distance of two points', unit='m', at_least=0.0)
    width: float = option(0.004, 'width of the line', unit='m', above=0.0, live=True)
    jerk_low: float = option(
        1.0, 'jerk drawn green; between the two the colours are logarithmic', unit='m/s^3',
        above=0.0, live=True,
    )  # fmt: skip
    jerk_high: float = option(100.0, 'jerk drawn red', unit='m/s^3', above=0.0, live=True)

    @rule('jerk_low', 'below jerk_high')
    def _are_in_order(self) -> bool:
        return self.jerk_low < self.jerk_high


@options
class DistanceOptions:
    """Colours of distances."""

    near: float = option(
        0.02, 'distance at which the line and a link are red', unit='m', above=0.0, live=True
    )
    far: float = option(0.15, 'distance at which they are green', unit='m', above=0.0, live=True)
    bound: str = option(
        NEAREST_SEEN, f'distance of the colours: {MEANING}', choices=BOUNDS, live=True
    )

    @rule('near', 'below far')
    def _are_in_order(self) -> bool:
        return self.near < self.far


@options
class ContactMarkerOptions:
    """Contacts and residuals of the joints."""

    newtons_per_metre: float = option(
        100.0,
        'force that an arrow of 1 m stands for; arrows are 0.01 to 0.3 m long',
        unit='N',
        above=0.0,
        live=True,
    )
    event_time: float = option(
        1.0,
        'time for which the begin and the end of a contact are shown',
        unit='s',
        above=0.0,
        live=True,
    )
    bar_position: tuple[float, ...] = option(
        (-0.25, -0.3, 0.05),
        "foot of the first joint's residual bar, in the frame of contact",
        unit='m',
        lengths=(3,),
        live=True,
    )
    bar_spacing: float = option(
        0.08, 'distance of two bars, along y', unit='m', above=0.0, live=True
    )
    bar_length: float = option(
        0.12, 'length of a bar at the threshold of its joint', unit='m', above=0.0, live=True
    )


@options
class TextOptions:
    """Text of the headline."""

    height: float = option(0.02, 'height of a line', unit='m', above=0.0, live=True)
    position: tuple[float, ...] = option(
        (0.0, 0.0, 0.45), 'place in the frame of ee_pose', unit='m', lengths=(3,), live=True
    )


@options
class CloudOptions:
    """A point cloud drawn as a marker."""

    topic: str = option('', "topic, such as proximity/points; '': none, RViz shows it itself")
    points: int = option(2000, 'largest number of its points', at_least=1, at_most=2000, live=True)


@options
class MarkersOptions(FrameOptions, RobotOptions):
    """Markers node: draws the metrics for RViz on metric_markers."""

    rate: float = option(
        10.0, 'rate of metric_markers', unit='Hz', above=0.0, at_most=10.0, live=True
    )
    shapes: str = option('', OF_SHAPES)
    obstacles_file: str = option(
        '', "YAML file of known obstacles to draw, as of the proximity node; '': none"
    )
    link_alpha: float = option(
        0.35,
        'opacity of the shapes of the links, which needs their tf; 0: not drawn',
        at_least=0.0,
        at_most=1.0,
        live=True,
    )
    lifetime: float = option(
        1.0,
        'time after which a marker that is not renewed vanishes',
        unit='s',
        above=0.0,
    )
    alignment_lifetime: float = option(
        5.0,
        "time for which a camera's alignment is shown; more than a period of the proximity node's "
        'alignment.rate',
        unit='s',
        above=0.0,
    )
    path: PathOptions = group(PathOptions)
    distance: DistanceOptions = group(DistanceOptions)
    contact: ContactMarkerOptions = group(ContactMarkerOptions)
    text: TextOptions = group(TextOptions)
    cloud: CloudOptions = group(CloudOptions)
    workspace: BoxOptions = group(BoxOptions)
