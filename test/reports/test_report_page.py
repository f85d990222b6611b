# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The page as a browser takes it: well-formed, self-contained, and with text of bags as text."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from synthetic_episodes import empty_episode, synthetic_episode, with_late_poses

from frame_ros.core.errors import SetupError
from frame_ros.core.events import Event, EventType, Outcome
from frame_ros.core.plain_text import plain_lines
from frame_ros.episodes.episode import Episode
from frame_ros.episodes.processing import process_episode
from frame_ros.reports import build_report, report_data, write_report
from frame_ros.reports.html.page_frame import units_kept
from frame_ros.reports.html.tiles import tiles
from frame_ros.reports.model.metric_table import metric_rows
from frame_ros.reports.model.numbers import measured
from frame_ros.reports.report import Report

VOID = {'meta', 'wbr', 'br', 'img', 'input', 'link', 'hr', 'source'}
LOADING = {'src', 'href', 'srcset', 'poster', 'data', 'action', 'xlink:href'}
HOSTILE = '"><script>alert(1)</script><img src=x onerror=alert(2)>\'</style></script><!--'


class Page(HTMLParser):
    """Elements with their attributes, the texts, and whether every element is closed in order."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.faults: list[str] = []
        self.scripts: list[str] = []
        self.styles: list[str] = []
        self.text: list[str] = []
        self._open: list[str] = []
        self.feed(text)
        self.close()
        self.faults += self._open

    def handle_starttag(self, tag: str, attrs: list) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        if not self._open or self._open.pop() != tag:
            self.faults.append(f'</{tag}>')

    def handle_data(self, data: str) -> None:
        inside = self._open[-1] if self._open else ''
        {'script': self.scripts, 'style': self.styles}.get(inside, self.text).append(data)

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.elements if name == tag]

    @property
    def words(self) -> str:
        return re.sub(r'\s+', ' ', ' '.join(self.text))

    @property
    def figures(self) -> list[dict]:
        kinds = [a.get('type') for a in self.all('script')]
        return [json.loads(s) for s, kind in zip(self.scripts, kinds) if kind == 'application/json']


@pytest.fixture(scope='module')
def html() -> str:
    return build_report(
        [
            synthetic_episode(0),
            synthetic_episode(1, Outcome.TIMEOUT, roughness=0.003, collides=True),
            synthetic_episode(2, Outcome.FAILURE),
        ]
    )


@pytest.fixture(scope='module')
def page(html: str) -> Page:
    return Page(html)


def test_every_element_is_closed(page: Page):
    assert page.faults == []


def test_nothing_is_loaded_from_anywhere(page: Page):
    for tag, attributes in page.elements:
        for name in LOADING & set(attributes):
            value = attributes[name] or ''
            assert value.startswith(('#', 'data:')), f'<{tag} {name}="{value[:80]}">'
        assert 'url(' not in (attributes.get('style') or '')
    assert not re.search(r'url\(|@import', ''.join(page.styles))
    assert page.all('link') == [] and page.all('iframe') == [] and page.all('base') == []


def test_the_policy_allows_these_scripts_only(page: Page):
    (policy,) = [a['content'] for a in page.all('meta') if a.get('http-equiv')]
    assert "default-src 'none'" in policy
    assert policy.count("'sha256-") == 2
    scripts = policy.split('script-src')[1].split(';')[0]
    assert 'unsafe' not in scripts and 'http' not in policy


def test_verdict_names_rate_interval_and_collisions(page: Page):
    assert '1 of 3 episodes succeeded (33 %, 95 % Wilson interval 6–79 %).' in page.words
    assert '1 collision (episode 2).' in page.words
    assert '1 failed, 1 ran out of time.' in page.words
    assert 'live and bag agree' in page.words.lower()


def test_numbers_stay_in_one_line_with_their_units():
    assert units_kept('(100 %, 21 to 100 %) 3 m/s³, 5 s; 3 stopped') == (
        '(100\u00a0%, 21 to 100\u00a0%) 3\u00a0m/s³, 5\u00a0s; 3 stopped'
    )
    text = ' '.join(Page(build_report([synthetic_episode(0)])).text)
    assert '(100\u00a0%, 95\u00a0% Wilson interval 21–100\u00a0%)' in text


def test_a_value_that_is_0_but_for_rounding_is_shown_as_0():
    episode = synthetic_episode(0)
    assert measured(3.7e-17) == measured(-3.7e-17, factor=1e3) == '0' != measured(1e-9)
    confidence = episode.metrics['confidence']
    confidence['stac'] = np.full(len(confidence['stamp']), 3.701e-17)
    (row,) = [row for row in metric_rows([episode]) if row.id == 'stac']
    assert row.median == pytest.approx(3.701e-17)
    page = build_report([episode])
    (cells,) = re.findall(r'<code>stac</code></td>\s*<td class="n strong">(.*?)</td>', page)[:1]
    assert cells == '0'
    assert report_data([episode])['metrics']['stac']['median'] == row.median


def marked(outcome: Outcome, time: float | None) -> Episode:
    """An episode that ended so, with a SUCCESS `time` s behind its START; None: without."""
    episode = empty_episode()
    episode.summary = {'outcome': int(outcome), 'time_to_success': time}
    return episode


@pytest.mark.parametrize(
    ('ended', 'value', 'sub'),
    [
        ([(Outcome.SUCCESS, 4.0), (Outcome.UNKNOWN, 8.0)], '6 s', 'median of 2'),
        ([(Outcome.SUCCESS, 4.0), (Outcome.FAILURE, 1.0)], '4 s', 'median of 1'),
        ([(Outcome.SUCCESS, None)], '–', 'no event SUCCESS marks when'),
        ([(Outcome.FAILURE, 1.0), (Outcome.TIMEOUT, None)], '–', 'no episode succeeded'),
    ],
)
def test_time_to_success_is_that_of_episodes_that_succeeded(ended, value, sub):
    found = tiles(Report([marked(*each) for each in ended]))
    (tile,) = [tile for tile in found if tile.label == 'Time to success']
    assert (tile.value, tile.sub) == (value, sub)


def test_every_episode_has_its_link_figures_and_views(page: Page):
    links = {a.get('href') for a in page.all('a')}
    sections = {a.get('id') for a in page.all('details')}
    assert {f'#episode-{n}' for n in (1, 2, 3)} <= links
    assert {f'episode-{n}' for n in (1, 2, 3)} <= sections
    assert [f['kind'] for f in page.figures] == ['path', 'series'] * 3
    assert sum(a.get('class') == 'view' for a in page.all('svg')) == 6


def test_path_is_coloured_by_the_jerk_of_the_episode(page: Page):
    episode = synthetic_episode(0)
    (path,) = [t for t in page.figures[0]['data'] if t['name'] == 'path']
    jerk = episode.metrics['quality']['tcp_jerk']
    shown = np.array(path['line']['color'])
    assert len(path['x']) == len(path['y']) == len(path['z']) == len(shown)
    assert shown.max() == pytest.approx(np.nanmax(jerk), rel=1e-3)
    assert path['line']['colorbar']['title']['text'] == 'jerk (m/s³)'
    scene = page.figures[0]['layout']['scene']
    spans = [np.ptp(scene[f'{axis}axis']['range']) for axis in 'xyz']
    ratio = [scene['aspectratio'][axis] for axis in 'xyz']
    np.testing.assert_allclose(np.divide(spans, ratio), max(spans), rtol=1e-4)  # equal scales
    for axis in 'xyz':
        low, high = scene[f'{axis}axis']['range']
        assert low < min(path[axis]) and max(path[axis]) < high
        assert scene[f'{axis}axis']['title']['text'] == f'{axis} (m)'


def test_series_share_the_time_axis_with_contacts_and_events(page: Page):
    series = page.figures[3]
    assert {trace['xaxis'] for trace in series['data']} == {'x'}
    assert len({trace['yaxis'] for trace in series['data']}) == 10
    colours = {s['fillcolor'] for s in series['layout']['shapes'] if s['type'] == 'rect'}
    assert len(colours) == 2  # contact, and collision
    texts = [a['text'] for a in series['layout']['annotations']]
    assert 'lift' in texts


def test_metric_table_has_units_directions_and_sources(page: Page):
    for text in ('trajectory instability (RMS jerk)', 'm/s³', 'lower is better', 'FRAME eq. 7'):
        assert text in page.words


def test_a_narrow_page_has_the_unit_under_its_number(html: str):
    """Layout in which the column of units is out of sight."""
    (cell,) = re.findall(r'<code>ti</code></td>\s*<td class="n strong">(.*?)</td>', html)[:1]
    assert re.fullmatch(r'[\d.]+<small class="narrow">m/s³</small>', cell)


def test_text_from_a_bag_stays_text():
    attributes = dict.fromkeys(
        ('policy', 'checkpoint', 'instruction', 'robot', 'operator_name', 'notes'), HOSTILE
    )
    episode = synthetic_episode(0, path=Path(f'/nowhere/{HOSTILE.replace("/", "")}'), **attributes)
    episode.attributes[HOSTILE] = HOSTILE
    episode.problems.append(HOSTILE)
    episode.data_quality[f'{HOSTILE}.{HOSTILE}'] = 1
    episode.summary['unavailable'].append(f'{HOSTILE}: {HOSTILE}')
    episode.streams['pose'].topic = HOSTILE
    middle = (episode.summary['start'] + episode.summary['end']) // 2
    episode.events.append(Event(middle, EventType.NOTE, text=HOSTILE))
    episode.episode_id = HOSTILE
    page = Page(build_report([episode], title=HOSTILE))
    assert page.faults == []
    assert len([a for a in page.all('script') if a.get('type') != 'application/json']) == 2
    assert page.all('img') == []
    assert not any(name.startswith('on') for _, a in page.elements for name in a)
    assert HOSTILE in page.words
    notes = [a['text'] for f in page.figures for a in f['layout'].get('annotations', ())]
    assert not any('<script' in note or '<img' in note for note in notes)


def test_characters_of_a_bag_that_act_are_escapes():
    """Such as U+202E, which turns what follows; letters stay joined."""
    hostile = 'پای\u200cزیرو \x1b[2J\x9b\u202e\n\u2028'
    names = ('policy', 'checkpoint', 'instruction', 'robot', 'operator_name', 'notes')
    episode = synthetic_episode(0, path=Path(f'/x/{hostile}'), **dict.fromkeys(names, hostile))
    episode.attributes[hostile] = hostile
    episode.problems.append(hostile)
    episode.streams['pose'].topic = hostile
    middle = (episode.summary['start'] + episode.summary['end']) // 2
    episode.events.append(Event(middle, EventType.NOTE, text=hostile))
    episode.episode_id = hostile
    page = Page(build_report([episode], title=hostile))
    texts = [
        *page.text,
        *texts_in(page.figures),
        *(v or '' for _, a in page.elements for v in a.values()),
    ]
    assert [text for text in texts if plain_lines(text) != text] == []
    assert 'پای\u200cزیرو ' r'\x1b[2J\x9b\u202e\n\u2028' in page.words


def texts_in(value: Any) -> Iterator[str]:
    """Yields the texts of JSON."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for each in value.values() if isinstance(value, dict) else value:
            yield from texts_in(each)


def test_an_episode_of_which_nothing_is_known():
    page = Page(build_report([empty_episode()]))
    assert page.faults == []
    assert page.figures == []
    assert 'No episode has a recorded outcome' in page.words
    assert 'No end-effector poses were recorded' in page.words
    assert 'NaN' not in page.words and 'nan' not in page.words.split()


def test_no_episodes_at_all():
    page = Page(build_report([]))
    assert page.faults == []
    assert 'No episodes.' in page.words


def test_a_truncated_bag_is_said_loudly():
    episode = synthetic_episode(0)
    episode.is_truncated = True
    page = Page(build_report([episode, synthetic_episode(1)]))
    assert 'TRUNCATED' in page.words
    alarms = [a for tag in ('p', 'div') for a in page.all(tag) if a.get('class') == 'alarm']
    assert len(alarms) == 3  # on top, in the episode, and the note for readers without scripts


def test_a_late_stream_is_said_in_verdict_and_table():
    page = Page(build_report([with_late_poses(synthetic_episode(0), range(60, 90))]))
    assert page.faults == []
    assert 'steps a stream came too late to be used live' in page.words
    assert 'last live value off by' in page.words
    assert 'last live value off by' not in Page(build_report([synthetic_episode(0)])).words


def test_a_bag_that_could_not_be_read_counts_nowhere():
    bad = Episode(Path('/runs/<bad>'), 'bad', {}, [], {}, {}, problems=['no MCAP file'])
    page = Page(build_report([synthetic_episode(0), bad]))
    assert page.faults == []
    assert '1 bag could not be read: <bad> (no MCAP file).' in page.words
    assert 'scripted: 1 episode ' in page.words
    assert '1 of 1 episode succeeded' in page.words
    assert [a['id'] for a in page.all('details') if a.get('class') == 'card episode'] == [
        'episode-1'
    ]


def test_an_episode_without_steps_has_poses_but_no_metrics():
    episode = synthetic_episode(0)
    for name in ('action', 'inference'):
        del episode.streams[name]
    episode.live.clear()
    process_episode(episode)
    page = Page(build_report([episode]))
    assert episode.summary['steps'] == 0
    assert page.faults == []
    (path,) = [t for t in page.figures[0]['data'] if t['name'] == 'path']
    assert len(path['x']) > 100


def test_gaps_stay_gaps_in_the_figures():
    episode = synthetic_episode(0)
    episode.metrics['quality']['tcp_speed'][100:140] = np.nan
    page = Page(build_report([episode]))
    (speed,) = [t for t in page.figures[1]['data'] if t['name'] == 'TCP speed']
    assert speed['y'].count(None) >= 40
    assert 'NaN' not in ''.join(page.scripts[:2])


def test_thirty_episodes_stay_small_and_closed():
    episodes = [synthetic_episode(n, seconds=3.0) for n in range(30)]
    html = build_report(episodes)
    page = Page(html)
    opened = [a for a in page.all('details') if a.get('class') == 'card episode' and 'open' in a]
    assert len(opened) == 1
    assert len(html) < 12_000_000
    assert page.faults == []


def test_the_page_is_written_whole_or_not_at_all(tmp_path: Path):
    target = tmp_path / 'report.html'
    assert write_report([empty_episode()], target) == target
    assert [p.name for p in tmp_path.iterdir()] == ['report.html']
    with pytest.raises(SetupError, match='missing'):
        write_report([empty_episode()], tmp_path / 'missing' / 'report.html')


def test_videos_beside_the_bag_are_embedded_within_a_budget(tmp_path: Path):
    bag = tmp_path / 'episode'
    bag.mkdir()
    (tmp_path / 'episode.mp4').write_bytes(b'\x00\x00\x00\x18ftypisom')
    (tmp_path / 'episode_10.mp4.txt').write_bytes(b'')
    (tmp_path / 'another.mp4').write_bytes(b'no')
    page = Page(build_report([empty_episode(bag)]))
    (video,) = page.all('video')
    assert (video['src'] or '').startswith('data:video/mp4;base64,AAAAGGZ0eXBpc29t')
