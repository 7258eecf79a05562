"""Writer of animated GIF files (GIF89a).

All frames share one palette, and a frame stores only the changed area.
"""

import struct
from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

Pixels = NDArray[np.uint8]
"""Array of height × width × 3 values: red, green, blue."""

PALETTE_COLOR_COUNT: Final = 255
"""Number of colors in the palette, without the transparent one."""
TRANSPARENT_INDEX: Final = 255
"""Color index of transparent pixels, which do not change from the previous frame."""
CODE_COUNT_MAX: Final = 4096
"""Number of LZW codes after which the code table is cleared."""


class GifWriter:
    """Writer of a GIF, frame by frame. *samples*: pictures whose colors determine the palette."""

    def __init__(self, samples: Sequence[Pixels]) -> None:
        height, width, _ = samples[0].shape
        self._size = (width, height)
        self._palette, self._lookup = _make_palette(samples)
        self._previous_frame: NDArray[np.uint8] | None = None
        self._parts = [self._build_header()]
        self._pending: tuple[bytes, int] | None = None
        """Last frame and its duration in hundredths of a second, which may still grow."""

    def add_frame(self, pixels: Pixels, hundredths: int) -> None:
        """Add a frame that shows *pixels* for *hundredths* of a second."""
        index = self._lookup[_pack_colors(pixels)]
        before, self._previous_frame = self._previous_frame, index
        changed_pixels = np.ones(index.shape, bool) if before is None else index != before
        rows, columns = np.flatnonzero(changed_pixels.any(1)), np.flatnonzero(changed_pixels.any(0))
        if not rows.size and self._pending is not None:
            self._pending = (self._pending[0], self._pending[1] + hundredths)
            return
        self._write_frame()
        top, bottom, left, right = rows[0], rows[-1] + 1, columns[0], columns[-1] + 1
        part = np.where(changed_pixels, index, TRANSPARENT_INDEX)[top:bottom, left:right].astype(np.uint8)
        image = struct.pack("<BHHHHB", 0x2C, left, top, right - left, bottom - top, 0)
        self._pending = (image + b"\x08" + _build_blocks(_compress(part.tobytes())), hundredths)

    def finish(self) -> bytes:
        """Return the complete file."""
        self._write_frame()
        return b"".join((*self._parts, b"\x3b"))

    def _build_header(self) -> bytes:
        screen = b"GIF89a" + struct.pack("<HHBBB", *self._size, 0xF7, 0, 0)
        forever = b"\x21\xff\x0bNETSCAPE2.0\x03\x01\x00\x00\x00"
        return screen + self._palette.tobytes() + forever

    def _write_frame(self) -> None:
        if self._pending is not None:
            image, hundredths = self._pending
            self._parts.append(
                struct.pack("<BBBBHBB", 0x21, 0xF9, 4, 0x05, min(hundredths, 65_535), TRANSPARENT_INDEX, 0)
            )
            self._parts.append(image)
            self._pending = None


def _pack_colors(pixels: Pixels) -> NDArray[np.int64]:
    """Return each pixel as a 15-bit number: the upper five bits of each color."""
    parts = (pixels >> 3).astype(np.int64)
    return parts[..., 0] << 10 | parts[..., 1] << 5 | parts[..., 2]


def _make_palette(samples: Sequence[Pixels]) -> tuple[Pixels, Pixels]:
    """Return a palette of the most frequent colors, and a lookup table.

    The lookup table contains the index of the nearest palette color for each 15-bit color.
    """
    all_pixels = np.concatenate([picture.reshape(-1, 3) for picture in samples]).astype(np.uint32)
    packed, counts = np.unique(all_pixels @ np.array((65_536, 256, 1), np.uint32), return_counts=True)
    common_colors = packed[np.argsort(-counts, kind="stable")[:PALETTE_COLOR_COUNT]]
    frequent = np.stack((common_colors >> 16, common_colors >> 8 & 255, common_colors & 255), axis=1).astype(
        np.uint8
    )
    palette = np.zeros((256, 3), np.uint8)
    palette[: len(frequent)] = frequent
    steps = np.arange(32_768)
    cells = np.stack((steps >> 10, steps >> 5 & 31, steps & 31), axis=1) * 8 + 4
    lookup = np.empty(32_768, np.uint8)
    for start in range(0, 32_768, 4_096):
        part = cells[start : start + 4_096, None, :] - frequent[None, :, :].astype(np.int64)
        lookup[start : start + 4_096] = (part * part).sum(2).argmin(1)
    rare_first = np.arange(len(frequent))[::-1]
    lookup[_pack_colors(frequent[rare_first])] = (
        rare_first  # the most frequent colors are assigned last, so that large areas have their exact color
    )
    return palette, lookup


def _compress(data: bytes) -> bytes:
    """Compress *data* by LZW with codes of nine to twelve bits."""
    clear, end = 256, 257
    table: dict[int, int] = {}
    output = bytearray()
    buffer, bits, width, next_code = clear, 9, 9, 258
    prefix = data[0]
    for byte in memoryview(data)[1:]:
        key = prefix << 8 | byte
        index = table.get(key)
        if index is not None:
            prefix = index
            continue
        buffer |= prefix << bits
        bits += width
        while bits >= 8:
            output.append(buffer & 255)
            buffer >>= 8
            bits -= 8
        if next_code < CODE_COUNT_MAX:
            table[key] = next_code
            if next_code == 1 << width:
                width += 1
            next_code += 1
        else:
            buffer |= clear << bits
            bits += width
            table.clear()
            width, next_code = 9, 258
        prefix = byte
    for code in (prefix, end):
        buffer |= code << bits
        bits += width
        if code == prefix and next_code == 1 << width and width < 12:
            width += 1
    while bits > 0:
        output.append(buffer & 255)
        buffer >>= 8
        bits -= 8
    return bytes(output)


def _build_blocks(data: bytes) -> bytes:
    return b"".join(_iterate_blocks(data)) + b"\x00"


def _iterate_blocks(data: bytes) -> Iterator[bytes]:
    for start in range(0, len(data), 255):
        part = data[start : start + 255]
        yield bytes((len(part),)) + part
