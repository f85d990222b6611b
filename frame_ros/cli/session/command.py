# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""`frame-ros session`: policies on a robot, blinded. See docs/sessions.md."""

from __future__ import annotations

import argparse
import json
import logging
import sys
from collections import Counter
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from frame_ros.cli.arguments import given, input_file, output_file
from frame_ros.cli.metrics import format_table
from frame_ros.cli.scenes.action import check_options, names_of, note_arguments
from frame_ros.cli.serve import check_address, offered_joints_of, read_api_key
from frame_ros.core.errors import FrameRosError, SetupError
from frame_ros.core.option_texts import add_options, from_arguments, parse_mapping
from frame_ros.core.plain_text import counted, plain
from frame_ros.evaluation.sessions.blinding_options import BlindingOptions
from frame_ros.evaluation.sessions.folder import SessionFolder
from frame_ros.evaluation.sessions.journal import OPERATOR, OUTCOMES, Trial, trials_of
from frame_ros.evaluation.sessions.opening_options import OpeningOptions
from frame_ros.evaluation.sessions.plan import SessionOptions
from frame_ros.policies.remote.serving_options import NetworkOptions
from frame_ros.robots.options import RobotOptions

if TYPE_CHECKING:
    from frame_ros.evaluation.sessions.opening import OpenedSession

NAMES = {'instructions': '--instruction'}
OUTCOMES_FILE = 'outcomes.csv'
logger = logging.getLogger(__name__)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the arguments."""
    texts = {name: text for name, (text, _, _) in ACTIONS.items()}
    parser.add_argument(
        'what',
        choices=tuple(ACTIONS),
        help='; '.join(f'{name}: {text}' for name, text in texts.items()),
    )
    parser.add_argument(
        'session', metavar='SESSION', type=given, help='the folder of the session; new makes it'
    )
    parser.add_argument(
        'rest',
        nargs='*',
        metavar='OUTCOME',
        type=given,
        help=f'of mark: {"; ".join(f"{name}: {text}" for name, text in OUTCOMES.items())}; of '
        'open: bags or folders of bags, whose outcomes are compared with the marks',
    )
    parser.add_argument(
        '--policies',
        type=input_file,
        metavar='FILE',
        help='YAML file: name of a policy -> options of policy: remote, such as url',
    )
    add_options(parser, SessionOptions, names=NAMES)
    add_options(parser, RobotOptions, without=('tip',))
    add_options(parser.add_argument_group('serve'), NetworkOptions, ('is_shared',))
    add_options(parser.add_argument_group('serve'), BlindingOptions)
    parser.add_argument(
        '--api-key-file',
        type=input_file,
        metavar='FILE',
        help='a file with the key that the robot must send (or FRAME_ROS_API_KEY)',
    )
    parser.add_argument('--trial', type=given, help='the trial to mark (default: the last one)')
    parser.add_argument('--why', type=given, help='reason of a mark; needed for invalid')
    add_options(parser.add_argument_group('open'), OpeningOptions)
    parser.add_argument(
        '--output',
        type=output_file,
        metavar='FILE',
        help=f'file of outcomes to write (default: {OUTCOMES_FILE} in the session)',
    )
    parser.add_argument('--json', action='store_true', help='print JSON instead of text')
    note_arguments(parser)


def run(args: argparse.Namespace) -> int:
    """Does what is asked for; returns 0.

    Raises:
        FrameRosError: an argument is wrong, a file cannot be read or written, or the session does
            not allow it.
    """
    check_options(args, {name: options() for name, (_, _, options) in ACTIONS.items()})
    if args.rest and args.what not in ('mark', 'open'):
        raise SetupError(f'{args.what} takes nothing but SESSION, and got {args.rest}')
    ACTIONS[args.what][1](args)
    return 0


def new(args: argparse.Namespace) -> None:
    """Draws a session."""
    if args.policies is None:
        raise SetupError('new needs --policies, a file of the policies and their servers')
    chosen = from_arguments(SessionOptions, args)
    robot = from_arguments(RobotOptions, args).robot
    policies = _read_policies(args.policies, robot)
    folder = SessionFolder.make(args.session, policies, chosen)
    plan = folder.plan
    print(
        f'{folder.path}: {counted(plan.trials, "trial")} of {plan.policies} policies on '
        f'{", ".join(plan.cells)} in {counted(plan.episodes, "block")}\n'
        f'commitment to the order (SHA-256): {plan.commitment}\n'
        'Publish the commitment, and keep the operator from the folder private and from '
        f'{args.policies}.'
    )


def _read_policies(path: Path, robot: str) -> dict[str, dict[str, Any]]:
    """Returns name -> options of the file, with the joints of the robot for OpenPI's servers."""
    from frame_ros.policies.remote.connecting import OWN_PRESET, RemoteOptions, RemoteServer

    offered = {
        name: value
        for name, value in offered_joints_of(robot).items()
        if name in names_of(RemoteOptions)
    }
    policies = {}
    for name, values in parse_mapping('--policies', str(path)).items():
        if not isinstance(values, Mapping):
            raise SetupError(
                f'--policies: {path}: {name} is {values!r}; expected: options such as '
                '{url: ws://127.0.0.1:8000}'
            )
        is_ours = values.get('preset', OWN_PRESET) == OWN_PRESET
        policies[name] = {**({} if is_ours else offered), **values}
        try:
            RemoteServer.check(RemoteServer.read_options(**policies[name]))
        except FrameRosError as error:
            raise SetupError(f'--policies: {path}: {name}: {error}') from error
    return policies


def serve(args: argparse.Namespace) -> None:
    """Serves the session to the robot until SIGTERM or SIGINT."""
    from frame_ros.evaluation.sessions.blinded_policy import BlindedPolicy, connected
    from frame_ros.evaluation.sessions.running import SessionRun
    from frame_ros.evaluation.sessions.service import SessionService
    from frame_ros.policies.remote.server import PolicyServer

    logging.basicConfig(level=logging.INFO, format='%(levelname)s %(message)s', stream=sys.stderr)
    logging.getLogger('websockets').setLevel(logging.CRITICAL + 1)
    network, chosen = from_arguments(NetworkOptions, args), from_arguments(BlindingOptions, args)
    check_address(network.host, network.port)
    key = read_api_key(args.api_key_file)
    folder = SessionFolder(args.session)
    with folder.served():
        session = SessionRun(folder, logger.info)
        policies = connected(session)
        policy = None
        try:
            policy = BlindedPolicy(policies, session, chosen)
            service = SessionService(policy, max_message_size=network.most_bytes)
            server = PolicyServer(service, network, key)
            session.start(**vars(chosen))
            server.run()
        finally:
            session.stop()
            for each in (policy,) if policy is not None else policies.values():
                each.close()


def mark(args: argparse.Namespace) -> None:
    """Notes how a trial ended."""
    from frame_ros.evaluation.sessions.running import AGAIN, add_mark

    folder = SessionFolder(args.session)
    if len(args.rest) != 1 or args.rest[0] not in OUTCOMES:
        raise SetupError(f'mark needs one of {", ".join(OUTCOMES)}, and got {args.rest}')
    outcome = args.rest[0]
    if outcome == 'invalid' and not args.why:
        raise SetupError('mark invalid needs --why: why the trial says nothing of the policy')
    with folder.journal.held() as add:
        trial = _to_mark(folder, args.trial)
        add_mark(add, trial.id, outcome, args.why or '', OPERATOR)
    before = f', no longer {trial.outcome}' if trial.marks else ''
    print(plain(f'trial {trial.id}, cell {trial.cell}: {outcome}{before}'))
    if trial.reconnections:
        print(f'trial {trial.id}: {AGAIN}; mark --trial {trial.id} corrects the mark')


def _to_mark(folder: SessionFolder, id: str | None) -> Trial:
    """Returns the trial to mark. Raises SetupError: there is none."""
    from frame_ros.evaluation.sessions.running import was_opened

    events = folder.journal.events()
    if was_opened(events):
        raise SetupError('the labels are open: a mark would no longer be blind')
    trials = trials_of(events)
    if id is not None and id not in trials:
        raise SetupError(f'--trial is {id!r}; begun were: {", ".join(trials) or "none"}')
    if not trials:
        raise SetupError('no trial has begun yet')
    trial = trials[id or list(trials)[-1]]
    if id is None and trial.marks:
        raise SetupError(
            f'the last trial, {trial.id}, is marked as {trial.outcome} already; --trial {trial.id} '
            'corrects it'
        )
    return trial


def status(args: argparse.Namespace) -> None:
    """Prints how far the session is."""
    from frame_ros.evaluation.sessions.journal import DUE
    from frame_ros.evaluation.sessions.running import due_text, open_trial, was_opened

    folder = SessionFolder(args.session)
    events = folder.journal.events()
    trials = trials_of(events)
    counts = Counter(each.outcome or 'not marked' for each in trials.values())
    running = open_trial(trials)
    due = next((e for e in reversed(events) if e['event'] == DUE), None)
    is_due = due is not None and running is None and due['trial'] not in trials
    if args.json:
        data = {
            'trials': [{**vars(t), 'marks': [vars(m) for m in t.marks]} for t in trials.values()],
            'planned': folder.plan.trials,
            'valid': sum(each.is_valid for each in trials.values()),
            'running': running.id if running else None,
            'next': due if is_due and due is not None and due['trial'] else None,
            'opened': was_opened(events),
            'journal_sha256': folder.journal.digest(),
        }
        print(json.dumps(data, indent=2))
        return
    if trials:
        rows: list[tuple[str, ...]] = [('trial', 'block', 'cell', 'begun', 'outcome', 'why')]
        rows += [
            (t.id, str(t.block), t.cell, t.begun[:19], t.outcome or '-', _why(t))
            for t in trials.values()
        ]
        print(format_table(rows) + '\n')
    valid = sum(each.is_valid for each in trials.values())
    found = ', '.join(f'{count} {name}' for name, count in counts.items())
    print(f'{valid} of {folder.plan.trials} trials count' + (f' ({found})' if found else ''))
    if running:
        print(plain(f'trial {running.id}, cell {running.cell}, is not marked yet'))
    elif valid >= folder.plan.trials:
        print('all are done')
    elif is_due and due is not None and due['trial']:
        print(due_text(folder, due['cell'], due['trial']))
    print(f'SHA-256 of the journal: {folder.journal.digest()}')


def _why(trial: Trial) -> str:
    """Returns the reason of its mark, and what is to be looked at."""
    from frame_ros.evaluation.sessions.running import AGAIN

    why = trial.marks[-1].why if trial.marks else ''
    again = AGAIN if trial.reconnections and why != AGAIN else ''
    return '; '.join(filter(None, (why, again)))


def open_labels(args: argparse.Namespace) -> None:
    """Opens the labels, and writes the outcomes with them."""
    from frame_ros.core.output_files import refuse_inputs
    from frame_ros.evaluation.outcomes.csv_writing import write_outcomes_csv
    from frame_ros.evaluation.outcomes.reading import read_outcomes
    from frame_ros.evaluation.sessions.opening import open_session

    folder = SessionFolder(args.session)
    output = args.output or folder.path / OUTCOMES_FILE
    own = [each for each in folder.path.rglob('*') if each.name != OUTCOMES_FILE]
    refuse_inputs(output, own, '--output')
    bags = read_outcomes(args.rest) if args.rest else None
    opened = open_session(folder, bags, from_arguments(OpeningOptions, args))
    write_outcomes_csv(opened.outcomes, output)
    print(_opened_json(opened, output) if args.json else _opened_text(opened, output))


def _opened_text(opened: OpenedSession, output: Path) -> str:
    rows: list[tuple[str, ...]] = [('policy', 'successes', 'trials', 'invalid')]
    rows += [
        (name, str(won), str(all), str(opened.invalid[name]))
        for name, (won, all) in opened.marks.items()
    ]
    notes = [plain(f'note: {text}') for text in opened.notes]
    return '\n'.join([format_table(rows), *notes, f'the outcomes: {output}'])


def _opened_json(opened: OpenedSession, output: Path) -> str:
    data = {
        'policies': {
            name: {'successes': won, 'trials': all, 'invalid': opened.invalid[name]}
            for name, (won, all) in opened.marks.items()
        },
        'labels': {each.name: each.policy for each in opened.outcomes},
        'early': opened.is_early,
        'notes': list(opened.notes),
        'outcomes': str(output),
    }
    return json.dumps(data, indent=2)


Options = Callable[[], Collection[str]]
ACTIONS: dict[str, tuple[str, Callable[[argparse.Namespace], None], Options]] = {
    'new': (
        'draw the order of the policies',
        new,
        lambda: {'policies', 'robot', *names_of(SessionOptions)},
    ),
    'serve': (
        'serve the policy whose turn it is',
        serve,
        lambda: {
            'api_key_file',
            *names_of(NetworkOptions, BlindingOptions, without=('is_shared',)),
        },
    ),
    'mark': ('note how a trial ended', mark, lambda: {'trial', 'why'}),
    'status': ('list the trials, and what is next', status, lambda: {'json'}),
    'open': (
        'open the labels, when all is done',
        open_labels,
        lambda: {'output', 'json', *names_of(OpeningOptions)},
    ),
}
