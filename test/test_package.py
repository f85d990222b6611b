# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Rules for the package as a whole: metadata, licences, imports, interfaces."""

import ast
import graphlib
import io
import os
import re
import subprocess
import sys
import tokenize
import xml.etree.ElementTree as ElementTree
from collections import Counter
from functools import cache
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / 'frame_ros'
INTERFACES = sorted([*ROOT.glob('msg/*.msg'), *ROOT.glob('srv/*.srv')])

# Lower numbers may not import higher ones, and rooms of one number not each other.
ROOMS = {
    'core': 0,
    'metrics': 1,
    'robots': 2,
    'gate': 3,
    'hardware': 4,
    'sensing': 4,
    'policies': 4,
    'confidence': 4,
    'bags': 5,
    'episodes': 6,
    'scenes': 7,
    'evaluation': 8,
    'reports': 9,
    'bringup': 10,
    'nodes': 11,
    'cli': 12,
}
ROS_MODULES = re.compile(r'rclpy|rcl_interfaces|\w+_msgs|builtin_interfaces|frame_ros\.(msg|srv)')
LAUNCH_MODULES = re.compile(r'launch(_ros)?|ros2cli|ament_index_python')


# What set-up, builds, tools and runs leave in a checkout.
MADE = {'build', 'install', 'log', 'runs', 'dist', '__pycache__', '_build', 'reference'}


@cache
def files() -> tuple[Path, ...]:
    """Every source file of the checkout, with or without git."""
    found = []
    for folder, subfolders, names in os.walk(ROOT):
        subfolders[:] = [
            name
            for name in subfolders
            if name not in MADE and (name[0] != '.' or name == '.ci') and '.egg-info' not in name
        ]
        found += [Path(folder) / name for name in names if name[0] != '.']
    return tuple(found)


@cache
def syntax(path: Path) -> tuple[ast.AST, ...]:
    """All nodes of a Python file, parsed once."""
    return tuple(ast.walk(ast.parse(path.read_text())))


@cache
def imports(path: Path) -> frozenset[str]:
    """The module of every import in a Python file; `from a import b` also as a.b."""
    found = set()
    for node in syntax(path):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f'{path}: relative import'
            found |= {str(node.module)} | {f'{node.module}.{alias.name}' for alias in node.names}
    return frozenset(found)


def room_of(module: str) -> str | None:
    """The room that a module of ours lies in; None for anything else."""
    parts = module.split('.')
    return parts[1] if parts[0] == 'frame_ros' and len(parts) > 1 and parts[1] in ROOMS else None


@cache
def python_files(folder: Path) -> list[Path]:
    return sorted(p for p in files() if p.suffix == '.py' and p.is_relative_to(folder))


@cache
def names_of(module: str) -> set[str] | None:
    """Names that a module of ours defines or imports, and its submodules; None: it is generated."""
    path = ROOT / Path(*module.split('.'))
    found = {each.stem for each in path.glob('*')} if path.is_dir() else set()
    source = path / '__init__.py' if path.is_dir() else path.with_suffix('.py')
    if not source.is_file():
        return None if module in ('frame_ros.msg', 'frame_ros.srv') else found
    for node in syntax(source):
        if isinstance(node, ast.ImportFrom) and node.names[0].name == '*':
            found |= names_of(str(node.module)) or set()
        elif isinstance(node, ast.Import | ast.ImportFrom):
            found |= {alias.asname or alias.name for alias in node.names}
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            found.add(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
    return found


def test_what_is_imported_from_the_package_exists():
    # Benchmarks, examples and scripts are not run by the tests; so their imports are checked here.
    wrong = []
    for path in files():
        if path.suffix != '.py':
            continue
        for node in syntax(path):
            module = str(getattr(node, 'module', ''))
            if isinstance(node, ast.ImportFrom) and module.split('.')[0] == 'frame_ros':
                known = names_of(module)
                if known is not None:
                    lacking = {alias.name for alias in node.names} - known - {'*'}
                    wrong += [f'{path}: {module} has no {name}' for name in sorted(lacking)]
    assert not wrong


def test_package_xml_says_what_ros_needs_to_know():
    package = ElementTree.parse(ROOT / 'package.xml').getroot()
    assert package.get('format') == '3'
    text = {child.tag: (child.text or '').strip() for child in package}
    assert text['name'] == 'frame_ros'
    assert re.fullmatch(r'\d+\.\d+\.\d+', text['version'])
    assert text['license'] == 'Apache-2.0'
    assert text['maintainer'] == 'frame_ros maintainers'
    assert package.find('maintainer').get('email').endswith('example.org')
    assert package.findtext('export/build_type') == 'ament_cmake'
    assert package.findtext('member_of_group') == 'rosidl_interface_packages'


def test_package_xml_names_every_ros_package_that_is_imported():
    package = ElementTree.parse(ROOT / 'package.xml').getroot()
    declared = {element.text for element in package if element.tag in ('depend', 'exec_depend')}
    ours = [*python_files(PACKAGE), *python_files(ROOT / 'launch')]
    imported = {module.split('.')[0] for path in ours for module in imports(path)}
    ros = re.compile(r'rclpy|launch(_ros)?|\w+_(msgs|srvs|interfaces)')
    found = {name for name in imported if ros.fullmatch(name)}
    assert 'rcl_interfaces' in found and not found - declared
    in_messages = {'builtin_interfaces'}
    topics = ''.join(path.read_text() for path in ours if path.name == 'topics.py')
    found |= set(re.findall(r"'(\w+)/(?:msg|srv)/\w+'", topics)) | in_messages
    assert {name for name in declared if ros.fullmatch(name)} <= found


PLUGIN = """
[pytest11]
launch_testing = intruder
launch_ros = intruder
"""


def test_the_tests_are_collected_beside_ros_pytest_plugins(tmp_path):
    """launch_testing's collecting ends at the first module that skips itself."""
    metadata = tmp_path / 'intruder-1.0.dist-info'
    metadata.mkdir()
    (metadata / 'entry_points.txt').write_text(PLUGIN)
    (metadata / 'METADATA').write_text('Metadata-Version: 2.1\nName: intruder\nVersion: 1.0\n')
    (tmp_path / 'intruder.py').write_text('raise RuntimeError("loaded")\n')
    paths = [str(tmp_path), *os.environ.get('PYTHONPATH', '').split(os.pathsep)]
    done = subprocess.run(
        [sys.executable, '-m', 'pytest', '--collect-only', '-q', __file__],
        env=os.environ | {'PYTHONPATH': os.pathsep.join(filter(None, paths))},
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_modules_of_tests_have_names_of_their_own():
    # pytest, and conftest.py for helpers, find them by their names alone.
    names = Counter(path.name for path in python_files(ROOT / 'test'))
    assert [
        name
        for name, count in names.items()
        if count > 1 and name not in ('__init__.py', 'conftest.py')
    ] == []


def test_the_distribution_has_the_version_of_package_xml():
    done = subprocess.run(
        [sys.executable, 'setup.py', '--version'],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    version = ElementTree.parse(ROOT / 'package.xml').getroot().findtext('version')
    assert done.stdout.split()[-1] == version


def test_the_changelog_is_in_catkin_format():
    lines = (ROOT / 'CHANGELOG.rst').read_text().splitlines()
    title = next(i for i, line in enumerate(lines) if line == 'Changelog for package frame_ros')
    assert lines[title - 1] == lines[title + 1] == '^' * len(lines[title])
    headings = [
        line for line, below in zip(lines, lines[1:], strict=False) if below and set(below) == {'-'}
    ]
    assert headings and all(
        re.fullmatch(r'Forthcoming|\d+\.\d+\.\d+ \(\d{4}-\d\d-\d\d\)', h) for h in headings
    )


def test_every_source_file_names_its_licence():
    sources = [
        path
        for path in files()
        if path.suffix
        in {'.py', '.bash', '.sh', '.toml', '.cfg', '.yaml', '.rviz', '.urdf', '.cmake'}
        or path.name in {'CMakeLists.txt', 'Makefile', 'run', 'frame-ros'}
        or path.suffix == '.in'
    ]
    assert len(sources) > 50
    without = [
        str(path.relative_to(ROOT))
        for path in sources
        if 'SPDX-License-Identifier: Apache-2.0' not in path.read_text()[:1000]
        or 'SPDX-FileCopyrightText: 2026 The frame_ros authors' not in path.read_text()[:1000]
    ]
    assert not without


@pytest.mark.parametrize('path', python_files(PACKAGE), ids=lambda p: str(p.relative_to(PACKAGE)))
def test_imports_run_downwards_only(path):
    own = path.relative_to(PACKAGE).parts[0]
    level = ROOMS.get(own, -1)  # files beside the rooms, such as errors.py, import no room
    rooms = {room_of(module) for module in imports(path)} - {None, own}
    assert not {room for room in rooms if ROOMS[room] >= level}


def module_of(path: Path) -> str:
    return '.'.join(path.relative_to(ROOT).with_suffix('').parts).removesuffix('.__init__')


def test_no_file_imports_itself_by_way_of_others():
    """Counts imports for type checkers only and those inside functions, too."""
    modules = {module_of(path): path for path in python_files(PACKAGE)}
    graph = {
        # A name taken from a package is a file of it or stands in its __init__.
        module: {each for each in imports(path) if each in modules} - packages_of(path, modules)
        for module, path in modules.items()
    }
    try:
        graphlib.TopologicalSorter(graph).prepare()
    except graphlib.CycleError as error:
        pytest.fail(' imports '.join(reversed(error.args[1])))


def packages_of(path: Path, modules: dict[str, Path]) -> set[str]:
    """Packages from which a file imports files only: `from a import b` where b is one."""
    own, used = set(), set()
    for node in syntax(path):
        if isinstance(node, ast.ImportFrom):
            are_files = all(f'{node.module}.{alias.name}' in modules for alias in node.names)
            (own if are_files else used).add(str(node.module))
    return own - used


# What a folder of a node holds that needs no ROS: how it is declared.
DECLARATIONS = {'__init__.py', '__main__.py', 'options.py', 'topics.py'}


def test_nodes_hold_only_what_needs_ros():
    nodes = PACKAGE / 'nodes'
    without = {
        str(path.relative_to(nodes))
        for path in python_files(nodes)
        if path.name not in DECLARATIONS
        and not any(
            ROS_MODULES.match(m)
            or (room_of(m) == 'nodes' and not re.search(r'\.(options|topics)(\.|$)', m))
            for m in imports(path)
        )
    }
    assert without <= {'start.py'}  # it imports nodes by name


def test_files_functions_and_folders_stay_small():
    too_large = []
    for path in python_files(PACKAGE):
        lines = path.read_text().splitlines()
        if len(lines) > 450:
            too_large.append(f'{path}: {len(lines)} lines')
        for node in syntax(path):
            if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                continue
            if node.end_lineno - node.lineno >= 60:
                too_large.append(f'{path}: {node.name} is of {node.end_lineno - node.lineno + 1}')
    for folder, number in Counter(path.parent for path in python_files(ROOT)).items():
        if number > (47 if folder.name == 'benchmarks' else 30):
            too_large.append(f'{folder}: {number} files')
    assert not too_large


def test_the_command_and_the_rooms_load_no_ros_and_nothing_heavy():
    rooms = ', '.join(f'frame_ros.{room}' for room in ROOMS if room != 'nodes')
    heavy = "('rclpy', 'launch', 'torch', 'lerobot', 'mujoco', 'pandas', 'sklearn')"
    script = f'import sys, {rooms}; print([name for name in {heavy} if name in sys.modules])'
    done = subprocess.run([sys.executable, '-c', script], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == '[]'


@pytest.mark.parametrize('path', python_files(PACKAGE), ids=lambda p: str(p.relative_to(PACKAGE)))
def test_ros_is_imported_at_the_edges_only(path):
    inside = path.relative_to(PACKAGE).parts
    modules = imports(path)
    if inside[0] != 'nodes':
        assert not [m for m in modules if ROS_MODULES.match(m)]
    if inside[:2] != ('cli', 'ros2'):
        assert not [m for m in modules if LAUNCH_MODULES.fullmatch(m.split('.')[0])]


REVISED = [
    path
    for path in files()
    if path.suffix in {'.py', '.md', '.msg', '.srv'}
    and path.relative_to(ROOT).parts[0]
    in {'README.md', 'docs', 'frame_ros', 'launch', 'msg', 'srv'}
]
CLAUSES = re.compile(r'(What|Whether|Where|Which|How|When|Why|Who)\b')
ODD_WORDS = re.compile(
    r'\b(tells?|told|telling|anew|(a|the) person|said once|once for all|goes before|of late|beside)'
    r'\b'
)


def prose(path: Path) -> list[str]:
    """The whole of a text file; of a Python file its strings and comments."""
    text = path.read_text()
    if path.suffix != '.py':
        return [text]
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    comments = [token.string for token in tokens if token.type == tokenize.COMMENT]
    constants = (n.value for n in syntax(path) if isinstance(n, ast.Constant))
    return comments + [value for value in constants if isinstance(value, str)]


def clauses_in(path: Path) -> list[str]:
    """Docstrings that begin with a clause instead of a noun or a verb."""
    documented = ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef
    nodes = [node for node in syntax(path) if isinstance(node, documented)]
    return [text for node in nodes if CLAUSES.match(text := ast.get_docstring(node) or '')]


@pytest.mark.parametrize('path', REVISED, ids=lambda p: str(p.relative_to(ROOT)))
def test_prose_is_plain_english(path):
    assert not [match[0] for text in prose(path) for match in ODD_WORDS.finditer(text)]
    if path.suffix != '.py':
        return
    assert not clauses_in(path)


@pytest.mark.parametrize('path', python_files(ROOT / 'test'), ids=lambda p: p.name)
def test_docstrings_of_tests_begin_with_a_noun_or_a_verb(path):
    assert not clauses_in(path)


def test_no_line_of_a_node_logs_with_a_severity_that_changes():
    """A logger of ROS refuses that, and the thread that logs would end."""
    method = r'(?:_log|logger|get_logger\(\))\.(?:debug|info|warning|error|fatal)'
    chosen = re.compile(rf'{method}\s+if\b|\belse\s+[\w.]*{method}\b(?!\()')
    assert chosen.search('say = self._log.info if is_fine else warn')
    for path in files():
        if path.suffix == '.py' and PACKAGE / 'nodes' in path.parents:
            assert not chosen.search(path.read_text()), path


def test_nothing_unpickles():
    """But the adapter of LeRobot's own server, by an unpickler that knows a list of actions."""
    dangerous = re.compile(
        r'\b(import pickle|torch\.load|cloudpickle|joblib|np\.load\(.*allow_pickle=True)'
    )
    found = [path for path in python_files(PACKAGE) if dangerous.search(path.read_text())]
    adapter = [
        PACKAGE / 'policies' / 'lerobot_server' / f'{part}.py' for part in ('client', 'replies')
    ]
    assert sorted(found) == adapter
    assert not any(
        re.search(r'pickle\.loads?\(|torch\.load\(|import_module', path.read_text())
        for path in adapter
    )


def test_the_sources_leave_room_for_the_generated_messages():
    assert not (PACKAGE / 'msg').exists() and not (PACKAGE / 'srv').exists()
    assert 'extend_path' in (PACKAGE / '__init__.py').read_text()


@pytest.mark.parametrize('path', INTERFACES, ids=lambda p: p.name)
def test_every_field_says_its_unit_or_meaning(path):
    lines = path.read_text().splitlines()
    fields = [line for line in lines if re.match(r'[\w/]+(\[\d*\])? +\w+(?!\w*=)', line)]
    assert not [line for line in fields if '#' not in line]
    assert lines[0].startswith('# '), 'the first line says what the message is'


def test_what_is_stamped_has_a_header():
    texts = {path.stem: path.read_text() for path in ROOT.glob('msg/*.msg')}
    parts = set(re.findall(r'^(\w+)\[\] ', '\n'.join(texts.values()), re.MULTILINE))  # of others
    header = re.compile(r'^std_msgs/Header header', re.MULTILINE)
    assert not {name for name, text in texts.items() if not header.search(text)} - parts


def test_every_node_has_its_configuration():
    nodes = {path.parent.name for path in (PACKAGE / 'nodes').glob('*/__main__.py')}
    assert nodes
    for name in nodes:
        content = yaml.safe_load((ROOT / 'config' / f'{name}.yaml').read_text())
        assert list(content) == ['/**'], name
        assert isinstance(content['/**']['ros__parameters'], dict), name


@pytest.mark.parametrize('path', sorted(ROOT.glob('config/*.yaml')), ids=lambda p: p.name)
def test_configuration_parses_and_is_commented(path):
    assert isinstance(yaml.safe_load(path.read_text()), dict)
    assert '#' in ''.join(path.read_text().splitlines(keepends=True)[2:])


def test_node_scripts_can_be_run_also_where_they_are_linked_to():
    assert (ROOT / 'scripts' / 'node.in').stat().st_mode & 0o111, 'CMake copies it with its mode'


def test_every_folder_with_a_node_can_be_started():
    for path in (PACKAGE / 'nodes').glob('*/__main__.py'):
        assert f"start('{path.parent.name}')" in path.read_text(), path
        assert 'def main()' in path.with_name('node.py').read_text(), path


def test_no_machine_is_named():
    paths = re.compile(r'/(home|root|Users|work|tmp)/[\w.-]+/')
    wrong = []
    for path in files():
        if path.suffix in {'.png', '.mp4', '.mcap', '.db3'} or path == Path(__file__):
            continue
        wrong += [
            f'{path.relative_to(ROOT)}: {m[0]}'
            for m in paths.finditer(path.read_text(errors='replace'))
        ]
    assert not wrong
