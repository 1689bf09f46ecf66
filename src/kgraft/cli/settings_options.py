"""Options of commands made from settings: a setting is declared once, where it is defined.

    @app.command()
    @settings_options(EmbedSettings)
    def train(graph: GraphName, changes: Changes) -> None:
        settings = EmbedSettings().replace(**changes)

The command gets an option for each setting, and `changes` with those that were given.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection
from dataclasses import MISSING, fields
from functools import wraps
from math import isfinite
from typing import Annotated, Any, Literal, get_type_hints

import typer

from kgraft.settings import Setting, Settings, field_specs, field_types, without_none

Changes = dict[str, Any]
"""Settings by name, those alone that were given as options."""


def settings_options(
    settings: type[Settings],
    *,
    leave_out: Collection[str] = (),
    show_defaults: bool = True,
    parameter: str = "changes",
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command an option for each setting in place of its parameter `changes`.

    A command with several kinds of settings has several such parameters. Settings in `leave_out`,
    those of several values and nested ones get none. Where the defaults depend on something,
    `show_defaults` false leaves them out of the help.
    """
    names = [name for name in _offered(settings) if name not in leave_out]

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        @wraps(command)
        def run(**given: Any) -> None:
            changes = {name: given.pop(name) for name in names}
            given[parameter] = {n: x for n, x in changes.items() if x is not None}
            command(**given)

        options = [_option(settings, name, show_defaults) for name in names]
        parameters = _replaced(command, parameter, options)
        run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        run.__annotations__ = {p.name: p.annotation for p in parameters}
        return run

    return decorate


def _replaced(
    command: Callable[..., None], parameter: str, options: list[inspect.Parameter]
) -> list[inspect.Parameter]:
    """Return the parameters of a command, with options in place of one of them."""
    hints = get_type_hints(command, include_extras=True)
    parameters = []
    for own in inspect.signature(command).parameters.values():
        if own.name == parameter:
            parameters += options
        else:
            kind, annotation = inspect.Parameter.KEYWORD_ONLY, hints[own.name]
            parameters.append(own.replace(kind=kind, annotation=annotation))
    return parameters


def _offered(settings: type[Settings]) -> list[str]:
    """Return the settings that can be an option."""
    types = field_types(settings)  # type: ignore[arg-type]
    simple = (str, int, float, bool)
    return [
        name
        for name, spec in field_specs(settings).items()  # type: ignore[arg-type]
        if spec.option != "" and spec.help and without_none(types[name]) in simple
    ]


def _option(settings: type[Settings], name: str, show_defaults: bool) -> inspect.Parameter:
    """Return the parameter that stands for a setting; it is None where no option is given."""
    spec: Setting = field_specs(settings)[name]  # type: ignore[arg-type]
    kind = without_none(field_types(settings)[name])  # type: ignore[arg-type]
    declaration = f"--{spec.option or name.replace('_', '-')}"
    if kind is bool:
        declaration += f"/--no-{spec.option or name.replace('_', '-')}"
    limits: dict[str, Any] = {}
    if spec.limits is not None and kind in (int, float):
        limits = {"min": kind(spec.limits[0]), "max": kind(spec.limits[1])}
    option = typer.Option(
        declaration,
        help=_help(spec, _default(settings, name) if show_defaults else None),
        show_default=False,
        callback=_finite if kind is float else None,
        rich_help_panel="Settings",
        **limits,
    )
    accepted = Literal[spec.choices] if spec.choices else kind
    annotation = Annotated[accepted | None, option]  # type: ignore[valid-type]
    return inspect.Parameter(
        name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=annotation
    )


def _help(spec: Setting, default: object) -> str:
    """Return the help of an option with its default."""
    if default is None:
        return spec.help
    shown = f"{default:g}" if isinstance(default, float) else str(default).lower()
    return f"{spec.help} (default: {shown})"


def _default(settings: type[Settings], name: str) -> object:
    default = next(field.default for field in fields(settings) if field.name == name)
    return None if default is MISSING else default


def _finite(number: float | None) -> float | None:
    """Refuse an option that is not a finite number; 'nan' is within all limits."""
    if number is not None and not isfinite(number):
        raise typer.BadParameter(f"{number} is not a finite number.")
    return number
