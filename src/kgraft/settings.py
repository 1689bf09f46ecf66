"""Settings: frozen dataclasses whose fields say what they mean and which values they may have.

A setting is declared once. Its range is checked when it is set, it is stored as JSON, and the
commands that train get an option for it.

    @dataclass(frozen=True)
    class WalkSettings(Settings):
        steps: int = setting(4, "Steps per walk.", SIZE)
        kind: str = setting("uniform", "How edges are drawn.", choices=("uniform", "weighted"))
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from functools import cache
from types import NoneType, UnionType
from typing import Any, Self, Union, get_args, get_origin, get_type_hints

from kgraft.errors import BadInput

Range = tuple[float, float]

LARGEST_SEED = (1 << 63) - 1
SEED: Range = (0, LARGEST_SEED)
EPOCHS: Range = (1, 1_000_000)
EPOCHS_OR_NONE: Range = (0, 1_000_000)
SIZE: Range = (1, 1 << 24)  # texts, tokens, queries or triples that are worked on at once
RANK: Range = (1, 4096)  # of the changes to an encoder
COUNT: Range = (1, 10_000_000)  # rows that are shown, read or made
WEIGHT: Range = (0, 1e6)  # of a loss or a regulariser
RATE: Range = (1e-12, 1000)  # a learning rate
FRACTION: Range = (0, 1)

_KINDS: dict[type, str] = {
    str: "a name",
    int: "a whole number",
    float: "a number",
    bool: "true or false",
    tuple: "a list",
}


@dataclass(frozen=True)
class Setting:
    """What a field of settings says of itself."""

    help: str = ""
    limits: Range | None = None  # both ends included
    choices: tuple[str, ...] = ()
    option: str | None = None  # its name on the command line; None: as the field, "": it has none


def setting(
    default: object,
    help: str,
    limits: Range | None = None,
    *,
    choices: Collection[str] = (),
    option: str | None = None,
) -> Any:  # noqa: ANN401
    """Declare a field of settings (see `Setting`).

    A subclass that gives the field another default keeps the rest.
    """
    spec = Setting(help, limits, tuple(choices), option)
    return field(default=default, metadata={"setting": spec})


@dataclass(frozen=True)
class Settings:
    """Base of all settings; values outside their range or of another kind are refused."""

    def __post_init__(self) -> None:
        specs, types = field_specs(type(self)), field_types(type(self))  # type: ignore[arg-type]
        for name, spec in specs.items():
            _check(name, getattr(self, name), types[name], spec)
        self.check()

    def check(self) -> None:
        """Raise BadInput where settings do not fit together."""

    def replace(self, **changes: Any) -> Self:
        """Return the settings with those changed that are not None."""
        return replace(self, **{name: x for name, x in changes.items() if x is not None})

    def to_dict(self) -> dict[str, Any]:
        """Return the settings as they are stored."""
        return asdict(self)

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> Self:
        """Read stored settings; those that are missing have their defaults."""
        if not isinstance(stored, Mapping):
            raise BadInput(f"the settings are {stored!r}, but must be an object")
        types = field_types(cls)  # type: ignore[arg-type]
        unknown = stored.keys() - types.keys()
        if unknown:
            raise BadInput(f"the setting {min(unknown)!r} is not known", remedy="update kgraft")
        return cls(**{name: _restored(value, types[name]) for name, value in stored.items()})


@cache
def field_types(settings: type) -> dict[str, Any]:
    """Return the type of each field of a settings class."""
    hints = get_type_hints(settings)
    return {spec.name: hints[spec.name] for spec in fields(settings)}


@cache
def field_specs(settings: type) -> dict[str, Setting]:
    """Return what each field of a settings class, or the class it comes from, says of itself."""
    specs = {spec.name: Setting() for spec in fields(settings)}
    for parent in reversed(settings.__mro__):
        for spec in getattr(parent, "__dataclass_fields__", {}).values():
            if "setting" in spec.metadata:
                specs[spec.name] = spec.metadata["setting"]
    return specs


def is_optional(annotation: Any) -> bool:  # noqa: ANN401
    """Tell whether a type admits None."""
    return NoneType in get_args(annotation) and get_origin(annotation) in (Union, UnionType)


def without_none(annotation: Any) -> Any:  # noqa: ANN401
    """Return T of the type `T | None`, and any other type as it is."""
    if not is_optional(annotation):
        return annotation
    (only,) = (part for part in get_args(annotation) if part is not NoneType)
    return only


def _check(name: str, value: object, annotation: Any, spec: Setting) -> None:  # noqa: ANN401
    """Refuse a value of another kind, outside its range, or not among its choices."""
    if value is None and is_optional(annotation):
        return
    kind = without_none(annotation)
    kind = get_origin(kind) or kind
    if not _is_kind(value, kind):
        raise BadInput(f"{name} is {shorten(value)}, but must be {_KINDS.get(kind, kind)}")
    if spec.choices and value not in spec.choices:
        raise BadInput(f"{name} is {value!r}", remedy=f"choose one of {', '.join(spec.choices)}")
    if spec.limits is None:
        return
    least, most = spec.limits
    for number in value if isinstance(value, tuple) else (value,):
        if not least <= number <= most:  # nan is in no range
            raise BadInput(f"{name} is {shorten(number)}", remedy=f"give {least:g} to {most:g}")


def _is_kind(value: object, kind: type) -> bool:
    if kind is float:
        return type(value) in (int, float)
    if kind in _KINDS:
        return type(value) is kind
    return isinstance(value, kind)


def _restored(value: Any, annotation: Any) -> Any:  # noqa: ANN401
    """Return a value as it was before it became JSON."""
    kind = without_none(annotation)
    if isinstance(value, list) and (get_origin(kind) or kind) is tuple:
        return tuple(value)
    if isinstance(value, Mapping) and isinstance(kind, type) and issubclass(kind, Settings):
        return kind.from_dict(value)
    return value


def shorten(value: object) -> str:
    """Return a value as a message shows it, however long it is.

    >>> shorten("name"), shorten(10**40)
    ("'name'", '10000000000000000000… (41 digits)')
    """
    text = repr(value)
    if len(text) <= 40:
        return text
    return f"{text[:20]}… ({len(text)} {'digits' if isinstance(value, int) else 'characters'})"
