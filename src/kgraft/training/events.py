"""Event files that TensorBoard reads, written by hand: TFRecord frames of Event messages.

A frame is length (uint64), CRC of the length, data, CRC of the data; the data is a protocol buffer
`Event {1: wall_time, 2: step, 3: file_version, 5: Summary, 7: SessionLog}`.
"""

from __future__ import annotations

import struct
import time
from collections.abc import Mapping
from pathlib import Path

LARGEST = 3.4028234663852886e38  # of float32, in which TensorBoard keeps figures
START = b"\x3a\x02\x08\x01"  # SessionLog {status: START}


class Events:
    """An event file of one stretch of a run; figures from step `begin` on come anew in it."""

    def __init__(self, folder: Path, begin: int) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        # TensorBoard reads the files of a folder in the order of their names.
        self.path = folder / f"events.out.tfevents.{int(time.time()):010d}.{begin:012d}.kgraft"
        self._append(event(0, b"\x1a" + _sized(b"brain.Event:2")), event(begin, START))

    def add(self, step: int, figures: Mapping[str, float]) -> None:
        """Add figures by tag at a step."""
        values = b"".join(b"\x0a" + _sized(_value(tag, x)) for tag, x in figures.items())
        self._append(event(step, b"\x2a" + _sized(values)))

    def _append(self, *messages: bytes) -> None:
        with self.path.open("ab") as file:
            file.write(b"".join(map(framed, messages)))


def event(step: int, what: bytes) -> bytes:
    """Return an Event message of this moment with an already encoded field."""
    return b"\x09" + struct.pack("<d", time.time()) + b"\x10" + _varint(step) + what


def framed(data: bytes) -> bytes:
    """Return data as a TFRecord."""
    length = struct.pack("<Q", len(data))
    return length + _masked_crc(length) + data + _masked_crc(data)


def _value(tag: str, figure: float) -> bytes:
    clipped = min(max(figure, -LARGEST), LARGEST)
    return b"\x0a" + _sized(tag.encode()) + b"\x15" + struct.pack("<f", clipped)


def _sized(content: bytes) -> bytes:
    return _varint(len(content)) + content


def _varint(number: int) -> bytes:
    """Return a number in groups of seven bits, the lowest first."""
    groups = bytearray()
    while number > 0x7F:
        groups.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes(groups) + bytes([number])


def _crc_table() -> list[int]:
    """Return the table of CRC-32C (Castagnoli), bits reversed."""
    table = []
    for byte in range(256):
        for _ in range(8):
            byte = byte >> 1 ^ (0x82F63B78 if byte & 1 else 0)
        table.append(byte)
    return table


CRC_TABLE = _crc_table()


def crc32c(data: bytes) -> int:
    """Return the CRC-32C of some bytes.

    >>> hex(crc32c(b"123456789"))
    '0xe3069283'
    """
    crc = 0xFFFFFFFF
    for byte in data:
        crc = crc >> 8 ^ CRC_TABLE[(crc ^ byte) & 0xFF]
    return crc ^ 0xFFFFFFFF


def _masked_crc(data: bytes) -> bytes:
    """Return the CRC as TFRecord stores it: rotated and offset, so that CRCs of CRCs differ."""
    crc = crc32c(data)
    return struct.pack("<I", ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF)
