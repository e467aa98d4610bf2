"""Long text made short enough for a field of a Kubernetes object."""

from __future__ import annotations

import base64
import binascii
import zlib

PLAIN_BYTES = 512
"""Longer text is nothing that a person reads, and would push what he looks for off the screen."""
MOST_BYTES = 64 * 2**20  # once unpacked: a small field must not fill the memory
_PACKED = "z:"


def pack(text: str) -> str:
    """The text itself, or `z:` and the base64 of its zlib stream when it is longer than PLAIN_BYTES."""
    if len(text) <= PLAIN_BYTES:
        return text
    return _PACKED + base64.b64encode(zlib.compress(text.encode(), 9)).decode()


def unpack(text: str) -> str:
    """Inverse of :func:`pack`; raises ValueError with a sentence."""
    if not text.startswith(_PACKED):
        return text
    try:
        stream = zlib.decompressobj()
        plain = stream.decompress(base64.b64decode(text[len(_PACKED) :], validate=True), MOST_BYTES).decode()
    except (binascii.Error, zlib.error, UnicodeDecodeError) as error:
        raise ValueError(f"it is not the base64 of a zlib stream: {error}") from error
    if not stream.eof:
        raise ValueError(f"it is cut off, or longer than {MOST_BYTES} bytes")
    return plain
