# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Figures in a narrow view: no name or heading is wider than its room. The page's own functions,
run by Node.js where it is installed.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from typing import Any

import pytest

from frame_ros.reports.html.page_frame import ASSETS

SCRIPT = (ASSETS / 'report.js').read_text(encoding='utf-8')
NODE = shutil.which('node')

pytestmark = pytest.mark.skipif(NODE is None, reason='Node.js is not installed')


def run(function: str, expression: str) -> Any:
    """The value of an expression that uses one function of the page's script."""
    found = re.search(rf'^  function {function}\(.*?^  }}$', SCRIPT, re.MULTILINE | re.DOTALL)
    constants = '\n'.join(re.findall(r'^  const NARROW\w* = .*$', SCRIPT, re.MULTILINE))
    assert found and NODE
    program = f'{constants}\n{found[0]}\nconsole.log(JSON.stringify({expression}))'
    done = subprocess.run([NODE, '-e', program], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def axis(width: int) -> dict[str, Any]:
    theta = json.dumps(['success rate sr ↑', 'path length pl ↓', 'success rate sr ↑'])
    return run(
        'fitRadar',
        f'(f => (fitRadar({{clientWidth: {width}}}, f), f.layout.polar.angularaxis))({{data: '
        f'[{{theta: {theta}}}], layout: {{polar: {{angularaxis: {{}}}}, margin: {{}}}}}})',
    )


def test_a_narrow_radar_chart_has_ids_for_names():
    assert axis(1200) == {}
    assert axis(350)['ticktext'] == ['sr ↑', 'pl ↓']
    assert axis(350)['tickvals'] == ['success rate sr ↑', 'path length pl ↓']


@pytest.mark.parametrize(
    ('room', 'lines'),
    [
        (900, ['<b>Direction reversals and stagnation (window of 8)</b>  one']),
        (306, ['<b>Direction reversals and stagnation', '(window of 8)</b>  one']),
    ],
)
def test_a_heading_that_is_too_long_breaks_before_its_bracket(room, lines):
    text = '<b>Direction reversals and stagnation (window of 8)</b>  one'
    note = f'{{font: {{size: 11}}, text: {json.dumps(text)}}}'
    assert run('wrap', f'(n => [wrap(n, {room}), n.text])({note})') == [
        len(lines),
        '<br>'.join(lines),
    ]


def test_panels_below_each_other_have_the_title_of_the_vertical_axes_each():
    """They stand next to each other in a wide view, where the first has it."""
    layout = """{margin: {t: 44, b: 30}, annotations: [], xaxis: {}, xaxis2: {}, xaxis3: {},
        yaxis: {title: {text: 'success rate'}}, yaxis2: {title: {text: ''}}, yaxis3: {}}"""
    expression = f"""(l => (stack({{clientWidth: 350, style: {{}}}}, l),
        ['yaxis', 'yaxis2', 'yaxis3'].map(key => l[key].title.text)))({layout})"""
    assert run('stack', expression) == ['success rate'] * 3
