"""Writer of MP4 videos, encoded by an installed ffmpeg. ffmpeg is not part of the program."""

import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Final

from app.export.gif import Pixels

FRAMES_PER_S: Final = 25
ENCODER_TIMEOUT_S: Final = 30.0
"""Time limit for the encoder to finish after the last frame."""


def find_encoder() -> str | None:
    """Return the path of ffmpeg; None if it is not installed."""
    return shutil.which("ffmpeg")


class Mp4Writer:
    """Writer of an MP4, frame by frame. Methods raise OSError if the encoder fails."""

    def __init__(self, encoder: str, width: int, height: int) -> None:
        """Start the encoder for pictures of this size in pixels. *width* and *height* must be even."""
        self._folder = tempfile.TemporaryDirectory(prefix="mirrordrill-")
        self._file = Path(self._folder.name) / "film.mp4"
        form = ["-f", "rawvideo", "-pix_fmt", "rgb24", "-s", f"{width}x{height}", "-r", str(FRAMES_PER_S)]
        command = [encoder, "-v", "error", *form, "-i", "-", "-an", "-pix_fmt", "yuv420p"]
        self._process = subprocess.Popen(
            [*command, "-movflags", "+faststart", str(self._file)],
            stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip

    def add_frame(self, pixels: Pixels, hundredths: int) -> None:
        """Add a frame that shows *pixels* for *hundredths* of a second."""
        assert self._process.stdin is not None
        data = pixels.tobytes()
        for _ in range(round(hundredths * FRAMES_PER_S / 100)):
            self._process.stdin.write(data)

    def finish(self) -> bytes:
        """Return the complete file."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        code = self._process.wait(ENCODER_TIMEOUT_S)
        try:
            if code:
                raise OSError(f"ffmpeg: {code}")
            return self._file.read_bytes()
        finally:
            self._folder.cleanup()
