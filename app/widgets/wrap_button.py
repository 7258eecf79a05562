"""Button with text in several lines."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QSize, Qt
from PySide6.QtWidgets import QLabel, QPushButton, QSizePolicy, QVBoxLayout, QWidget

from engine.overrides import override


class WrapButton(QPushButton):
    """Button as high as its text needs at its width."""

    def __init__(self, text: str = "", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._text = QLabel(textFormat=Qt.TextFormat.PlainText, wordWrap=True)
        self._text.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(10, 5, 10, 5)
        layout.addWidget(self._text)
        policy = QSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Minimum)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        self.show_text(text)

    def show_text(self, text: str, spoken: str = "") -> None:
        """Set the visible text of the button and its accessible name *spoken*.

        The button's own text stays empty because Qt would draw it on one line. Without *spoken*, *text* is the
        name.
        """
        self._text.setText(text)
        self.setAccessibleName(spoken or text)
        self.updateGeometry()

    @override
    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.EnabledChange:
            self._text.setEnabled(self.isEnabled())

    @override
    def hasHeightForWidth(self) -> bool:
        return True

    @override
    def heightForWidth(self, width: int) -> int:
        layout = self.layout()
        return layout.totalHeightForWidth(width) if layout is not None else super().heightForWidth(width)

    @override
    def sizeHint(self) -> QSize:
        return QSize(120, self.heightForWidth(max(120, self.width())))

    @override
    def minimumSizeHint(self) -> QSize:
        return QSize(60, self.fontMetrics().height() + 10)
