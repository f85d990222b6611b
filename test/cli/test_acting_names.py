# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Names on which a terminal would act, in files and bags of others: every command escapes them."""

import pytest
from bag_making import T0
from outcome_bags import outcome_bag

from frame_ros.cli import main
from frame_ros.core.events import EventType, Outcome
from frame_ros.core.plain_text import plain_lines
from frame_ros.core.time import SECOND

ACTING = '\x1b[2J\x9b\u202e\n\u2028'
QUICK = ['--trials', '10', '--resamples', '100', '-q']


@pytest.fixture(scope='module')
def place(tmp_path_factory):
    """Two bags of each of two policies, and the outcomes of a study."""
    place = tmp_path_factory.mktemp('acting')
    for number in range(8):
        name = 'SUCCESS' if number % 3 else 'FAILURE'
        outcome_bag(
            place / 'bags' / f'bag{number}', Outcome[name], policy=f'{"ab"[number % 2]}{ACTING}',
            object=f'o{ACTING}', instruction=f'i{ACTING}', start=T0 + number * 100 * SECOND,
            episode_id=f'{number}{ACTING}', facts={f'fact{ACTING}': ACTING, 'human': ACTING},
            seen=[(4.0, EventType[name], {'text': f'why{ACTING}'})],
        )  # fmt: skip
    rows = ''.join(f'"{p}{ACTING}",{i % 3 > 0},{i}\n' for p in 'ab' for i in range(6))
    (place / 'study.csv').write_text(f'policy,success,seed\n{rows}')
    return place


@pytest.mark.parametrize(
    ('words', 'code'),
    [
        (['compare', 'bags', '--resamples', '100', '-q'], 14),
        (['compare', 'bags', '--objects', f'other{ACTING}', '-q'], 2),
        (['operations', 'bags', '-q'], 0),
        (['plan', 'bags', *QUICK], 0),
        (['null-check', 'bags', *QUICK], 0),
        (['sequential', 'study.csv'], 14),
        (['sequential', 'study.csv', '--first', f'c{ACTING}'], 2),
        (['report', 'bags', '--json'], 0),
        (['calibrate', 'bags', '-q'], 2),
    ],
)
def test_no_command_prints_what_acts(place, words, code, capsys, monkeypatch):
    monkeypatch.chdir(place)
    assert main(words) == code
    printed = capsys.readouterr()
    for text in printed:
        assert plain_lines(text) == text
    assert '\\u202e' in printed.out + printed.err
