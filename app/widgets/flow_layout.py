"""Layout that places widgets in rows, with as many per row as fit."""

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QRect, QSize, Qt
from PySide6.QtWidgets import QHBoxLayout, QLabel, QLayout, QLayoutItem, QPushButton, QSizePolicy, QWidget

from app.widgets.layouts import build_widget_column
from engine.overrides import override


class FlowLayout(QLayout):
    """Layout that places widgets from left to right at their preferred widths, and wraps to the next row."""

    def __init__(self, gap_px: int, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._items: list[QLayoutItem] = []
        self._gap_px = gap_px
        self.setContentsMargins(0, 0, 0, 0)

    @override
    def addItem(self, item: QLayoutItem) -> None:
        self._items.append(item)

    @override
    def count(self) -> int:
        return len(self._items)

    @override
    def itemAt(self, index: int) -> QLayoutItem | None:
        return self._items[index] if 0 <= index < len(self._items) else None

    @override
    def takeAt(self, index: int) -> QLayoutItem | None:
        return self._items.pop(index) if 0 <= index < len(self._items) else None

    def delete_widgets(self) -> None:
        """Remove and delete all widgets."""
        while (item := self.takeAt(0)) is not None:
            widget = item.widget()
            if widget is not None:
                widget.hide()
                widget.deleteLater()

    @override
    def expandingDirections(self) -> Qt.Orientation:
        return Qt.Orientation(0)

    @override
    def hasHeightForWidth(self) -> bool:
        return True

    @override
    def heightForWidth(self, width: int) -> int:
        return self._arrange_items(QRect(0, 0, width, 0), apply=False)

    @override
    def setGeometry(self, rect: QRect) -> None:
        super().setGeometry(rect)
        self._arrange_items(rect, apply=True)

    def sizeHint(self) -> QSize:
        """Return the size of all items in one row."""
        hints = [item.sizeHint() for item in self._items if not item.isEmpty()]
        width = sum(hint.width() for hint in hints) + self._gap_px * max(0, len(hints) - 1)
        return QSize(width, max((hint.height() for hint in hints), default=0)).grownBy(self.contentsMargins())

    @override
    def minimumSize(self) -> QSize:
        minimum = QSize()
        for item in self._items:
            minimum = minimum.expandedTo(item.minimumSize())
        return minimum.grownBy(self.contentsMargins())

    def _arrange_items(self, bounds: QRect, apply: bool) -> int:
        """Return the height that the items need in the width of *bounds*. If *apply*, also place the items."""
        rect, bottom = bounds.marginsRemoved(self.contentsMargins()), self.contentsMargins().bottom()
        y, row = rect.y(), list[tuple[QLayoutItem, QRect]]()
        for item in (layout_item for layout_item in self._items if not layout_item.isEmpty()):
            width = min(item.sizeHint().width(), rect.width())
            height = item.heightForWidth(width) if item.hasHeightForWidth() else item.sizeHint().height()
            x = row[-1][1].right() + 1 + self._gap_px if row else rect.x()
            if row and x + width > rect.right() + 1:
                x, y, row = rect.x(), y + _lay_out_row(row, apply) + self._gap_px, []
            row.append((item, QRect(x, y, width, height)))
        return y + _lay_out_row(row, apply) + bottom - bounds.y()


def _lay_out_row(row: Sequence[tuple[QLayoutItem, QRect]], apply: bool) -> int:
    """Return the height of a row. If *apply*, also place its items, centered vertically."""
    height = max((rect.height() for _, rect in row), default=0)
    for item, box in row if apply else ():
        item.setGeometry(box.translated(0, (height - box.height()) // 2))
    return height


class WrapButton(QPushButton):
    """Button whose text wraps. Its height follows from its width."""

    def __init__(self, text: str = "", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._text = QLabel(textFormat=Qt.TextFormat.PlainText, wordWrap=True)
        self._text.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        build_widget_column(self._text, parent=self, margins=(10, 5, 10, 5))
        policy = QSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Minimum)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        self.show_text(text)

    def show_text(self, text: str, spoken: str = "") -> None:
        """Set the visible text of the button and its accessible name *spoken* (default: *text*).

        The text of the QPushButton stays empty, because Qt would draw it on one line.
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


def build_label_row(gap_px: int, label: QLabel, *right_widgets: QWidget) -> QHBoxLayout:
    """Build a row: *label* takes the remaining width, and *right_widgets* wrap on its right."""
    line = QHBoxLayout()
    line.addWidget(label, 1)
    line.addLayout(_build_flow(gap_px, right_widgets))
    return line


def build_flow_row(
    gap_px: int, widgets: Sequence[QWidget], right_widgets: Sequence[QWidget] = ()
) -> QHBoxLayout:
    """Build a row with widgets on the left and on the right, both of which wrap."""
    row = QHBoxLayout()
    row.addLayout(_build_flow(gap_px, widgets), 1)
    row.addLayout(_build_flow(gap_px, right_widgets))
    return row


def _build_flow(gap_px: int, widgets: Sequence[QWidget]) -> FlowLayout:
    flow = FlowLayout(gap_px)
    for widget in widgets:
        flow.addWidget(widget)
    return flow
