# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Compressed files of which nothing can be unpacked."""

import pytest

from frame_ros.bags.reader import Bag
from frame_ros.bags.storage.decompression import zstd
from frame_ros.core.errors import BagError


@pytest.mark.parametrize(
    ('kept', 'said'),
    [(0.6, 'it was cut before the end of its first block'), (0.0, 'holds no data')],
)
def test_a_compressed_file_that_was_cut_is_said_to_be_cut(kept, said, tmp_path):
    content = zstd().compress(bytes(range(256)) * 100)
    (tmp_path / 'bag.mcap.zstd').write_bytes(content[: int(kept * len(content))])
    with pytest.raises(BagError, match=said):
        Bag(tmp_path / 'bag.mcap.zstd')
