"""QR code of a text [ISO/IEC 18004]. It is dark on light in every theme, because scanners expect that."""

from typing import Final

import segno
from PySide6.QtCore import QRectF, QSize
from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from engine.overrides import override

QUIET_ZONE_MODULES: Final = 4
"""Width of the light margin around the code in modules. Known (ISO/IEC 18004)."""
PREFERRED_SIDE_PX: Final = 260
LIGHT, DARK = QColor("white"), QColor("black")


class QrCode(QWidget):
    """Square QR code that fills the available space."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.rows: tuple[tuple[int, ...], ...] = ()
        """Rows of modules including the light margin; 1 is dark."""
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)

    def show_text(self, text: str) -> None:
        """Show the QR code of *text*."""
        code = segno.make(text, micro=False, error="m")
        self.rows = tuple(tuple(row) for row in code.matrix_iter(border=QUIET_ZONE_MODULES))
        self.setAccessibleName(text)
        self.update()

    @override
    def sizeHint(self) -> QSize:
        return QSize(PREFERRED_SIDE_PX, PREFERRED_SIDE_PX)

    @override
    def minimumSizeHint(self) -> QSize:
        return QSize(PREFERRED_SIDE_PX // 2, PREFERRED_SIDE_PX // 2)

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        if not self.rows:
            return
        painter = QPainter(self)
        # use whole pixels, so that all modules have the same size
        pixels = min(self.width(), self.height()) // len(self.rows)
        side_px = pixels * len(self.rows)
        left, top = (self.width() - side_px) / 2, (self.height() - side_px) / 2
        painter.fillRect(QRectF(left, top, side_px, side_px), LIGHT)
        for y, row in enumerate(self.rows):
            for x, dark in enumerate(row):
                if dark:
                    painter.fillRect(QRectF(left + x * pixels, top + y * pixels, pixels, pixels), DARK)
