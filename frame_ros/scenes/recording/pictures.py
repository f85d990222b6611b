# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The pictures of an episode as messages, in memory until its bag is written."""

from __future__ import annotations

import zlib
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from frame_ros.bags.images.decoding import IMAGE_TYPE
from frame_ros.bags.messages import MessageMaker
from frame_ros.bags.recording.images import image_conversion
from frame_ros.bags.recording.session import ReceivedMessage, RecordedTopic
from frame_ros.scenes.simulation.cameras import SceneCameras
from frame_ros.scenes.simulation.rendering import Intrinsics

INFO_TYPE = 'sensor_msgs/msg/CameraInfo'
IMAGES = ('raw', 'jpeg', 'none')


class Zipped(bytes):
    """A message that waits compressed for its bag."""


def unzipped(data: bytes) -> bytes:
    """Returns a message as it goes into the bag."""
    return zlib.decompress(data) if isinstance(data, Zipped) else data


@dataclass(frozen=True)
class _Camera:
    image: RecordedTopic
    info: RecordedTopic
    frame: str
    intrinsics: Intrinsics


class Pictures:
    """Images and camera infos of the pictures that a policy got; a late one, got twice, once.

    Args:
        form: one of IMAGES.

    Attributes:
        messages: in the order in which they were got; `unzipped` gives their data.
    """

    def __init__(self, form: str) -> None:
        """Begins without a picture."""
        self._form = form
        self._cameras: dict[str, _Camera] = {}
        self._newest: dict[str, int] = {}
        self.messages: list[ReceivedMessage] = []

    def add(
        self,
        simulation: SceneCameras,
        camera: str,
        received: int,
        taken: int,
        rgb: NDArray[np.uint8],
    ) -> None:
        """Takes a picture (H, W, 3). received, taken: ns."""
        if self._form == 'none' or self._newest.get(camera) == taken:
            return
        self._newest[camera] = taken
        if not self._cameras:
            self._makers = MessageMaker(IMAGE_TYPE), MessageMaker(INFO_TYPE)
            self._convert = image_conversion(self._form) or (lambda message: message)
        images, infos = self._makers
        height, width = rgb.shape[:2]
        if camera not in self._cameras:
            self._cameras[camera] = _Camera(
                RecordedTopic(f'/{camera}/image_raw', images.definition),
                RecordedTopic(f'/{camera}/camera_info', infos.definition),
                f'{camera}_camera_optical_frame',
                simulation.intrinsics(camera, width, height),
            )
        found = self._cameras[camera]
        header = {'stamp': taken, 'frame_id': found.frame}
        image = images.data(
            header=header, height=height, width=width, encoding='rgb8', step=3 * width, data=rgb
        )
        # The stamp as the time of publication: when the picture was sent.
        message = self._convert(ReceivedMessage(found.image, received, taken, image))
        waiting = message.data if self._form == 'jpeg' else Zipped(zlib.compress(message.data, 1))
        self.messages.append(message._replace(data=waiting))
        info = infos.data(header=header, **_info(found.intrinsics))
        self.messages.append(ReceivedMessage(found.info, received, taken, info))


def _info(camera: Intrinsics) -> dict[str, object]:
    """A pinhole camera without distortion, as fields of CameraInfo."""
    f, cx, cy = camera.focal, camera.cx, camera.cy
    return {
        'width': camera.width, 'height': camera.height, 'distortion_model': 'plumb_bob',
        'd': np.zeros(5), 'k': (f, 0.0, cx, 0.0, f, cy, 0.0, 0.0, 1.0), 'r': np.eye(3),
        'p': (f, 0.0, cx, 0.0, 0.0, f, cy, 0.0, 0.0, 0.0, 1.0, 0.0),
    }  # fmt: skip
