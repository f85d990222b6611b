# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""LeRobot's robots, teleoperators and cameras by their registered names."""

from __future__ import annotations

import contextlib
import dataclasses
import pkgutil
import re
import termios
import traceback
from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Any, get_type_hints

import yaml

from frame_ros.core.errors import (
    FrameRosError,
    MissingExtraError,
    SetupError,
    UnsetError,
    install_hint,
)
from frame_ros.core.lerobot_import import offline
from frame_ros.core.strict_yaml import load_yaml
from frame_ros.core.torchvision_import import import_torchvision
from frame_ros.hardware.device_error import DeviceError
from frame_ros.hardware.feetech.motors import (
    feetech_bus,
    open_bus,
    set_goals_here,
    switch_torque,
)

ROBOTS, TELEOPERATORS, CAMERAS = 'robots', 'teleoperators', 'cameras'
# Kind -> module and class whose choices are registered, function that makes the device, name of its
# option.
BASES = {
    ROBOTS: ('config', 'RobotConfig'),
    TELEOPERATORS: ('config', 'TeleoperatorConfig'),
    CAMERAS: ('configs', 'CameraConfig'),
}
FACTORIES = {ROBOTS: 'make_robot_from_config', TELEOPERATORS: 'make_teleoperator_from_config'}
ARGUMENTS = {ROBOTS: 'robot', TELEOPERATORS: 'teleop'}
DAMAGED = 'a damaged answer: is there noise on the bus, or do two motors have one id?'
# Registered names whose module has another name; the others are found by trying.
MODULES = re.compile(r'^(bi_)?so\d+_(follower|leader)$')


def import_devices(kind: str) -> Any:
    """Imports LeRobot's package of one kind: 'robots', 'teleoperators' or 'cameras'.

    Raises:
        MissingExtraError: LeRobot, or a package that it needs, is not installed.
    """
    try:
        with offline():
            import_torchvision()
            return import_module(f'lerobot.{kind}')
    except ImportError as error:
        raise MissingExtraError(
            f"LeRobot's {kind} cannot be used: {error}: {install_hint('hardware')}"
        ) from error


def make_config(kind: str, name: str, options: Mapping[str, Any]) -> Any:
    """Makes LeRobot's configuration of the device registered as `name`.

    Args:
        options: its fields, as `--robot.<field>=` on a LeRobot command line.

    Raises:
        MissingExtraError: as import_devices.
        UnsetError: an option without a default is not given.
        SetupError: nothing is registered under the name, or the options do not fit it.
    """
    base = _registered(kind, name)
    if unset := _unset(base.get_choice_class(name), options):
        raise UnsetError(
            f'{name} needs its {" and ".join(unset)}, which only you know: none is given'
        )
    from draccus import decode

    try:
        return decode(base, {'type': name, **options})
    except Exception as error:  # draccus has errors of its own and passes on those of the class
        fields = ', '.join(_fields(base.get_choice_class(name)))
        raise SetupError(
            f'{name} cannot be set up with {dict(options)}: {_one_line(error)}; its options are '
            f'{fields}'
        ) from error


def make_device(kind: str, name: str, options: Mapping[str, Any]) -> Any:
    """Makes the LeRobot robot or teleoperator registered as `name` without connecting it.

    Raises:
        MissingExtraError: as import_devices, or the device needs a package that is not installed.
        SetupError: as make_config, or its calibration file cannot be read.
    """
    config = make_config(kind, name, options)
    factory = getattr(import_module(f'lerobot.{kind}'), FACTORIES[kind])
    with making(name):
        return factory(config)


@contextlib.contextmanager
def making(what: str) -> Iterator[None]:
    """Turns any error of LeRobot that makes a device inside a `with` block into one of ours.

    Raises:
        MissingExtraError: the device needs a package that is not installed.
        SetupError: it cannot be made.
    """
    try:
        yield
    except ImportError as error:
        raise MissingExtraError(
            f'{what} cannot be used: {error}: {install_hint("hardware")}'
        ) from error
    except Exception as error:
        raise SetupError(f'{what} cannot be made: {_one_line(error)}') from error


def with_defaults(
    kind: str, name: str, options: Mapping[str, Any], defaults: Mapping[str, Any]
) -> dict[str, Any]:
    """Returns options of the device registered as `name` with those of `defaults` that it has and
    that are not given, also of its parts, such as each of two arms.

    Raises:
        MissingExtraError, SetupError: as make_config.
    """
    return _with_defaults(_registered(kind, name).get_choice_class(name), options, defaults)


def _with_defaults(
    config: Any, options: Mapping[str, Any], defaults: Mapping[str, Any]
) -> dict[str, Any]:
    fields, parts = _fields(config), {}
    with contextlib.suppress(NameError, TypeError):  # annotations of others
        parts = get_type_hints(config)
    found = {name: value for name, value in defaults.items() if name in fields} | dict(options)
    for name, value in options.items():
        part = parts.get(name)
        if isinstance(value, Mapping) and dataclasses.is_dataclass(part):
            found[name] = _with_defaults(part, value, defaults)
    return found


def parts_of(device: Any) -> list[Any]:
    """Returns the devices that a device consists of, such as two arms; itself if there are none."""
    kinds = tuple(
        getattr(import_module(f'lerobot.{module}'), name)
        for module, name in (('robots', 'Robot'), ('teleoperators', 'Teleoperator'))
    )
    return [each for each in vars(device).values() if isinstance(each, kinds)] or [device]


def switch_part(part: Any, is_on: bool) -> None:
    """Switches the torque of a device's motors; those of Feetech stay where they are."""
    bus = feetech_bus(part)
    if bus is None:
        (part.bus.enable_torque if is_on else part.bus.disable_torque)(num_retry=5)
        return
    if is_on:
        set_goals_here(bus)
    switch_torque(bus, is_on)


def set_goals_of_parts(device: Any) -> None:
    """Sets the goals of Feetech motors of a device's parts to where they are, before LeRobot
    switches their torque off and on.
    """
    for part in parts_of(device):
        bus = feetech_bus(part)
        if bus is None:
            continue
        open_bus(bus)
        try:
            set_goals_here(bus)
        finally:
            bus.disconnect(disable_torque=False)


def disconnect(device: Any) -> None:
    """Disconnects a device, also one of which only some parts are connected, or whose port was lost
    in the middle of an answer; no error if it is gone.
    """
    for each in dict.fromkeys((device, *parts_of(device))):
        with contextlib.suppress(Exception):
            if each.is_connected:
                each.disconnect()
        with contextlib.suppress(Exception):
            each.bus.port_handler.is_using = False
            each.bus.port_handler.closePort()


def check_calibration(device: Any, kind: str, name: str, port: str) -> None:
    """Raises SetupError, with the command to run, unless the calibration matches its file."""
    if device.is_calibrated:
        return
    argument = ARGUMENTS[kind]
    command = f'lerobot-calibrate --{argument}.type={name} --{argument}.id={device.id}'
    command += f' --{argument}.port={port}' if port else ''
    if not getattr(device, 'calibration', None):
        raise SetupError(
            f'{name} {device.id!r} has no calibration: there is no {device.calibration_fpath}; '
            f'calibrate it with `{command}`, or name its file by robot_id and calibration_dir'
        )
    differing = _differing_motors(device)
    raise SetupError(
        f'the calibration in {device.calibration_fpath} differs from the one in the motors'
        + (f' ({", ".join(differing)})' if differing else '')
        + f': is it of another arm? Calibrate with `{command}`, or write the file into the motors '
        'with write_calibration:=true'
    )


def _differing_motors(device: Any) -> list[str]:
    bus = getattr(device, 'bus', None)
    if bus is None or not hasattr(bus, 'read_calibration'):
        return []
    found, wanted = bus.read_calibration(), device.calibration
    return [name for name in {**wanted, **found} if found.get(name) != wanted.get(name)]


@contextlib.contextmanager
def device_errors(what: str) -> Iterator[None]:
    """Turns any error of a driver inside a `with` block into a DeviceError.

    LeRobot raises ConnectionError (no answer) and RuntimeError (an error bit), Feetech's library
    also IndexError for some corrupt answers, and the system OSError and termios.error when the port
    is gone.
    """
    try:
        yield
    except FrameRosError:
        raise
    except Exception as error:
        is_system = isinstance(error, (OSError, termios.error))
        is_gone = is_system and not isinstance(error, (ConnectionError, TimeoutError))
        text = DAMAGED if _is_short_answer(error) else _one_line(error)
        raise DeviceError(f'{what}: {text}', is_gone) from error


def _is_short_answer(error: Exception) -> bool:
    """Returns whether Feetech's library failed at an answer shorter than what it asked for."""
    if not isinstance(error, IndexError):
        return False
    frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
    return str(frames[-1].f_globals.get('__name__')).partition('.')[0] == 'scservo_sdk'


def parse_options(texts: Mapping[str, str]) -> dict[str, Any]:
    """Parses texts as on a LeRobot command line (YAML: numbers, true, {a: 1}) into option -> value.

    Raises:
        SetupError: a text cannot be read.
    """
    return {name: parse_value(name, text) for name, text in texts.items()}


def parse_value(name: str, text: str) -> Any:
    """Parses one value as on a LeRobot command line; raises SetupError if it cannot be read."""
    try:
        return load_yaml(text)
    except yaml.YAMLError as error:
        raise SetupError(f'{name} is {text!r}, which cannot be read: {_one_line(error)}') from error


def _registered(kind: str, name: str) -> Any:
    """Returns the class whose registered configurations include `name`.

    Raises:
        MissingExtraError: as import_devices.
        SetupError: nothing registers the name.
    """
    package = import_devices(kind)
    module_name, class_name = BASES[kind]
    base = getattr(import_module(f'lerobot.{kind}.{module_name}'), class_name)
    with offline():
        _register(package, base, name)
    return base


def _register(package: Any, base: Any, name: str) -> None:
    if name in base.get_known_choices():
        return
    failures = {}
    for module in _modules(package, name):
        try:
            import_module(f'{package.__name__}.{module}')
        except Exception as error:  # a device's own packages are missing, or fail at import
            failures[module] = _one_line(error)
        if name in base.get_known_choices():
            return
    from lerobot.utils.import_utils import register_third_party_plugins

    register_third_party_plugins()
    known = sorted(base.get_known_choices())
    if name not in known:
        why = '; '.join(f'{module} did not load ({text})' for module, text in failures.items())
        raise SetupError(
            f'LeRobot has no {package.__name__.split(".")[-1][:-1]} {name!r}; there are '
            f'{", ".join(known)}' + (f'; {why}' if why else '')
        )


def _modules(package: Any, name: str) -> list[str]:
    """Returns the package's modules, the likeliest first: importing one may take seconds."""
    found = [module.name for module in pkgutil.iter_modules(package.__path__) if module.ispkg]
    likely = [re.sub(r'so\d+', 'so', name)] if MODULES.match(name) else []
    likely += [module for module in found if module == name or module in name]
    return [*dict.fromkeys(m for m in likely if m in found), *(m for m in found if m not in likely)]


def _unset(config: Any, options: Mapping[str, Any]) -> list[str]:
    """Returns the options without a default that are not given."""
    return [
        field.name
        for field in dataclasses.fields(config)
        if field.init
        and field.name not in options
        and field.default is dataclasses.MISSING
        and field.default_factory is dataclasses.MISSING
    ]


def _fields(config: Any) -> list[str]:
    return [name for name in config.__dataclass_fields__ if name != 'type']


def _one_line(error: BaseException) -> str:
    """Returns the text, or else the type, of an error and its cause without line breaks."""
    text = ' '.join(str(error).split()).partition(' Full expected motor list')[0]
    text = text or type(error).__name__
    cause = error.__cause__
    return f'{text} ({_one_line(cause)})' if cause is not None else text
