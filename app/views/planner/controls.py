"""Inputs of the planner: workload, safety level, link and goals, as fields and sliders."""

import math
from collections.abc import Callable, Sequence
from typing import Final

from msgspec import Struct
from PySide6.QtCore import QRect, QSize, Qt, Signal
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import (
    QButtonGroup,
    QCheckBox,
    QComboBox,
    QDoubleSpinBox,
    QFrame,
    QGridLayout,
    QLabel,
    QScrollArea,
    QSizePolicy,
    QSlider,
    QStyle,
    QStyleOptionSlider,
    QToolButton,
    QWidget,
)

from app.widgets import theme
from app.widgets.layouts import build_row, build_widget_column
from app.widgets.number_locale import build_number_locale
from app.widgets.screen_reader import set_accessible_box_name
from app.words import formatting
from app.words.language import mark, tr
from engine.constants import VERSIONS
from engine.flow import SafetyMode, Workload
from engine.flow.setup import COMPRESSION_VERSION_MIN
from engine.flow.sites import LOG_ROWS, SITES, STOCK_EXCHANGE, USERS, WORKLOAD1, WORKLOAD2
from engine.overrides import override
from engine.planning import NETWORK_RTT_RANGES_MS, MirroringPlan, PlanGoals, build_custom_workload

STEPS_PER_DECADE: Final = 60
SIGNIFICANT_DIGITS: Final = 3
"""Significant digits of the slider's value. Links are not measured more accurately."""

FIELD_SAMPLE: Final = "10,000 Mbps"
"""Sample text that determines the width of the fields next to the sliders."""
FIELD_MARGIN_PX: Final = 18

SliderRange = tuple[str, float, float]
"""Name, lower bound and upper bound of a range."""
SliderMark = tuple[str, float]
"""Name and value of a marked position."""


class LogSlider(QWidget):
    """Logarithmic slider with a field, for a positive number between two bounds."""

    value_changed = Signal(float)

    def __init__(
        self,
        title: str,
        low: float,
        high: float,
        unit: str,
        bands: Sequence[SliderRange] = (),
        marks: Sequence[SliderMark] = (),
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._low, self._high = low, high
        self.slider = QSlider(Qt.Orientation.Horizontal)
        self.slider.setRange(0, round(math.log10(high / low) * STEPS_PER_DECADE))
        self.slider.setPageStep(STEPS_PER_DECADE // 3)
        self.slider.setAccessibleName(title)
        self.field = NumberBox()
        self.field.setDecimals(4)
        self.field.setRange(low, high)
        self.field.setSuffix(f" {unit}")
        self.field.setStepType(QDoubleSpinBox.StepType.AdaptiveDecimalStepType)
        self.field.setKeyboardTracking(False)
        self.field.setAccessibleName(title)
        self.field.setAlignment(Qt.AlignmentFlag.AlignRight)
        self.strip = SliderLabels(self.slider, self.compute_position, bands, marks)
        label = QLabel(title)
        label.setBuddy(self.field)
        layout = QGridLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setVerticalSpacing(1)
        layout.addWidget(label, 0, 0)
        layout.addWidget(self.field, 0, 1, Qt.AlignmentFlag.AlignRight)
        layout.addWidget(self.slider, 1, 0, 1, 2)
        layout.addWidget(self.strip, 2, 0, 1, 2)
        self.strip.setVisible(bool(bands or marks))
        self.slider.valueChanged.connect(self._on_slider_moved)
        self.field.valueChanged.connect(self._on_typed)

    @property
    def value(self) -> float:
        """Current value."""
        return self.field.value()

    def set_value(self, value: float) -> None:
        """Set slider and field to *value*, limited to the bounds.

        Emit `value_changed` if the value is new.
        """
        self.field.setValue(min(max(value, self._low), self._high))

    def compute_position(self, value: float) -> int:
        """Return the slider position for *value*."""
        return round(math.log10(max(value, self._low) / self._low) * STEPS_PER_DECADE)

    def _on_slider_moved(self, position: int) -> None:
        if position != self.compute_position(self.field.value()):
            value = self._low * 10.0 ** (position / STEPS_PER_DECADE)
            self.field.setValue(min(float(f"{value:.{SIGNIFICANT_DIGITS}g}"), self._high))

    def _on_typed(self, value: float) -> None:
        self.slider.setValue(self.compute_position(value))
        self.value_changed.emit(value)


class NumberBox(QDoubleSpinBox):
    """Number field without trailing zeros, in the format of the interface language."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setLocale(build_number_locale())
        self._show_font()
        theme.call_after_events(self, theme.FONT_EVENTS, self._show_font)

    def _show_font(self) -> None:
        self.setFixedWidth(self.fontMetrics().horizontalAdvance(FIELD_SAMPLE) + FIELD_MARGIN_PX)

    @override
    def textFromValue(self, value: float) -> str:
        return formatting.format_significant(value, 6)


class SliderLabels(QWidget):
    """Labels below a slider, at the ranges or positions that they name."""

    def __init__(
        self,
        slider: QSlider,
        compute_position: Callable[[float], int],
        bands: Sequence[SliderRange],
        marks: Sequence[SliderMark],
    ) -> None:
        super().__init__()
        self._slider, self._position_of = slider, compute_position
        self._bands, self._marks = tuple(bands), tuple(marks)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setToolTip(
            "; ".join(
                tr("{name}: {low} to {high}").format(
                    name=name,
                    low=formatting.format_plain_number(low),
                    high=formatting.format_plain_number(high),
                )
                for name, low, high in bands
            )
        )

    @override
    def sizeHint(self) -> QSize:
        return QSize(100, self.fontMetrics().height() + 2)

    def compute_pixel(self, value: float) -> int:
        """Return the x coordinate of the center of the slider's handle for *value*."""
        option = QStyleOptionSlider()
        self._slider.initStyleOption(option)
        handle = self._slider.style().pixelMetric(QStyle.PixelMetric.PM_SliderLength, option, self._slider)
        span = self._slider.width() - handle
        position = self._position_of(value)
        return handle // 2 + QStyle.sliderPositionFromValue(0, self._slider.maximum(), position, span)

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        colors = theme.get_theme_tokens(self.palette())
        painter = QPainter(self)
        painter.setFont(theme.resize_font(self.font(), 0.85))
        painter.setPen(colors.muted)
        for number, (name, low, high) in enumerate(self._bands):
            left, right = self.compute_pixel(low), self.compute_pixel(high)
            box = QRect(left + 1, 0, right - left - 1, self.height() - 2)
            painter.fillRect(box, colors.info_soft if number % 2 else colors.idle_soft)
            painter.drawText(box, Qt.AlignmentFlag.AlignCenter, name)
        for name, mark_value in self._marks:
            width = painter.fontMetrics().horizontalAdvance(name)
            left = min(max(0, self.compute_pixel(mark_value) - width // 2), self.width() - width)
            painter.drawText(left, painter.fontMetrics().ascent(), name)
        painter.end()


CUSTOM_VALUES_LABEL: Final = mark("Custom values")
PAPER_WORKLOADS: Final = {
    mark("Workload1: order management"): (WORKLOAD1, "nec", 2005),
    mark("Workload2: stock trading"): (WORKLOAD2, "nec", 2005),
    mark("Stock exchange, 2008"): (STOCK_EXCHANGE, "unisys", 2008),
    mark("1,000 users on SSD, 2012"): (USERS, "ssd", 2012),
    mark("Inserts into a log table, 2014"): (LOG_ROWS, "delayed", 2014),
}
"""Name of a workload in Microsoft's white papers -> workload, servers and SQL Server version."""
SAFETY_CHOICES: Final = (
    ("FULL", SafetyMode.FULL),
    ("OFF", SafetyMode.OFF),
    (mark("No mirror"), SafetyMode.NONE),
)

RTT_BOUNDS_MS: Final = (0.1, 300.0)
BANDWIDTH_BOUNDS_MBPS: Final = (0.056, 10_000.0)
SCALE_BOUNDS: Final = (0.1, 10.0)
BANDWIDTH_MARKS: Final = (
    ("56 k", 0.056),
    ("1 M", 1.0),
    ("10 M", 10.0),
    ("100 M", 100.0),
    ("1 G", 1e3),
    ("10 G", 1e4),
)


class WorkloadField(Struct, frozen=True):
    """Input field for one number of a custom workload."""

    title: str
    name: str
    default: float
    unit: str
    decimals: int
    maximum: float
    minimum: float = 0.0
    tip: str = ""


CUSTOM_FIELDS: Final = (  # in the order of the parameters of `build_custom_workload`
    WorkloadField(mark("Connections"), "connections", 100, "", 0, 100_000, 1),
    WorkloadField(
        mark("Think time"),
        "think_s",
        1.0,
        " s",
        2,
        600,
        tip=mark("time between a response and the next request"),
    ),
    WorkloadField(
        mark("Log"), "log_kb_per_transaction", 8.0, " KB", 1, 100_000, 0.1, mark("log of one transaction")
    ),
    WorkloadField(
        mark("Transactions"),
        "transactions_per_s",
        80.0,
        "/s",
        1,
        100_000,
        0.1,
        mark(
            "measured without mirroring; log KB/s divided by transactions/s gives the log of one transaction"
        ),
    ),
)


class PlannerControls(QScrollArea):
    """Left side of the planner with its inputs."""

    changed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setWidgetResizable(True)
        self.setAccessibleName(tr("Assumptions"))
        self.workload = QComboBox()
        for title in (*PAPER_WORKLOADS, CUSTOM_VALUES_LABEL):
            self.workload.addItem(tr(title), title)
        set_accessible_box_name(self.workload, tr("Workload"))
        self.custom_fields = {field.name: _build_spin_box(field) for field in CUSTOM_FIELDS}
        self.problem = QLabel(wordWrap=True)
        self.scale = LogSlider(tr("Load"), *SCALE_BOUNDS, "×")
        self.scale.setToolTip(tr("Multiplies the connections of the workload"))
        self.site = QComboBox()
        for name, site in SITES.items():
            self.site.addItem(site.name, name)
        set_accessible_box_name(self.site, tr("Servers"))
        for box in (self.workload, self.site):  # long names must not make the column wider
            box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
            box.setMinimumContentsLength(10)
        self.safety = QButtonGroup(self)
        self.rtt = LogSlider(tr("Round trip"), *RTT_BOUNDS_MS, "ms", SHOWN_NETWORKS)
        self.bandwidth = LogSlider(tr("Bandwidth"), *BANDWIDTH_BOUNDS_MBPS, "Mbps", marks=BANDWIDTH_MARKS)
        self.packet_loss = _build_number(tr("Packet loss"), 0.0, " %", 3, 20.0)
        self.packet_loss.setSingleStep(0.1)
        self.version = QComboBox()
        for version in VERSIONS:
            self.version.addItem(f"SQL Server {version}", version)
        set_accessible_box_name(self.version, tr("Version"))
        self.encryption = QCheckBox(tr("Encrypted endpoints"))
        self.encryption.setChecked(True)
        self.compression = QCheckBox(tr("Compressed to"))
        self.ratio = _build_number(tr("Compressed size"), 50.0, " %", 0, 100.0, 5.0)
        self.rpo = _build_number(tr("Acceptable log loss"), 0.0, " s", 1, 86_400.0)
        self.rpo.setSpecialValueText(tr("any"))
        self.response = _build_number(tr("Longest response"), 0.0, " s", 2, 86_400.0)
        self.response.setSpecialValueText(tr("any"))
        self.cost = _build_number(tr("Acceptable throughput loss with safety FULL"), 5.0, " %", 0, 90.0)
        self.pause = _build_number(tr("Interruption of mirroring"), 10.0, " min", 0, 10_000.0, 1.0)
        self.log_volume = _build_number(tr("Log volume"), 40.0, " GB", 0, 100_000.0, 1.0)
        self._lay_out()
        self._connect()
        self._update_enabled_fields()

    # --- inputs and values ----------------------------------------------------------------------------------

    @property
    def selected_safety(self) -> SafetyMode:
        """Selected safety level."""
        return SAFETY_CHOICES[self.safety.checkedId()][1]

    def build_plan(self) -> MirroringPlan:
        """Build the plan from the fields.

        Raises ValueError if the custom figures are impossible.
        """
        site = SITES[self.site.currentData()]
        packed = self.compression.isEnabled() and self.compression.isChecked()
        return MirroringPlan(
            workload=self._build_workload(),
            site=site,
            scale=self.scale.value,
            safety=self.selected_safety,
            rtt_ms=self.rtt.value,
            bandwidth_mbps=self.bandwidth.value,
            loss=self.packet_loss.value() / 100.0,
            compression_ratio=self.ratio.value() / 100.0 if packed else 1.0,
            version=self.version.currentData(),
            encryption=self.encryption.isChecked(),
            log_volume_gb=self.log_volume.value(),
        )

    def get_goals(self) -> PlanGoals:
        """Return the goals in the fields."""
        return PlanGoals(
            rpo_s=self.rpo.value() or None,
            response_limit_s=self.response.value() or None,
            throughput_loss_max=self.cost.value() / 100.0,
            suspended_s=60.0 * self.pause.value(),
        )

    def show_problem(self, text: str) -> None:
        """Show a problem with the custom figures. An empty *text* hides it."""
        self.problem.setText(text)
        self.problem.setVisible(bool(text))

    def _build_workload(self) -> Workload:
        workload = PAPER_WORKLOADS.get(self.workload.currentData())
        if workload is not None:
            return workload[0]
        connections, think_s, log_kb, transactions = (
            self.custom_fields[field.name].value() for field in CUSTOM_FIELDS
        )
        return build_custom_workload(
            connections, think_s, log_kb, transactions, SITES[self.site.currentData()]
        )

    # --- appearance -----------------------------------------------------------------------------------------

    def _lay_out(self) -> None:
        widget = QWidget()
        self._own_rows = _build_rows(
            *((tr(field.title), self.custom_fields[field.name]) for field in CUSTOM_FIELDS)
        )
        self.problem.hide()
        goals = (
            (tr("Acceptable data loss"), self.rpo),
            (tr("Longest response"), self.response),
            (tr("Acceptable cost of safety FULL"), self.cost),
            (tr("Duration of a mirroring interruption"), self.pause),
            (tr("Log volume"), self.log_volume),
        )
        build_widget_column(
            _build_heading(tr("Workload")),
            self.workload,
            self._own_rows,
            self.problem,
            self.scale,
            _build_heading(tr("Safety")),
            self._build_safety_row(),
            _build_heading(tr("Link")),
            self.rtt,
            self.bandwidth,
            _build_rows((tr("Packet loss"), self.packet_loss), (self.compression, self.ratio)),
            self.encryption,
            _build_heading(tr("Servers")),
            self.site,
            self.version,
            _build_heading(tr("Goals")),
            _build_rows(*goals),
            1,
            parent=widget,
            margins=(2, 2, 12, 2),
            spacing=6,
        )
        self.setWidget(widget)
        self._recolor()
        for slider, value in ((self.scale, 1.0), (self.rtt, 0.2), (self.bandwidth, 1000.0)):
            slider.set_value(value)

    def _build_safety_row(self) -> QWidget:
        row = QWidget()
        layout = build_row(parent=row, margins=0, spacing=4)
        for number, (title, mode) in enumerate(SAFETY_CHOICES):
            button = QToolButton()
            button.setText(tr(title))
            button.setCheckable(True)
            button.setChecked(mode is SafetyMode.FULL)
            button.setAccessibleName(
                tr("Safety {safety}").format(safety=title) if mode is not SafetyMode.NONE else tr(title)
            )
            self.safety.addButton(button, number)
            layout.addWidget(button)
        layout.addStretch(1)
        return row

    def _connect(self) -> None:
        self.workload.currentIndexChanged.connect(lambda _: self._select_environment())
        for box in (self.workload, self.site, self.version):
            box.currentIndexChanged.connect(self._on_change)
        for tick in (self.encryption, self.compression):
            tick.toggled.connect(self._on_change)
        for slider in (self.scale, self.rtt, self.bandwidth):
            slider.value_changed.connect(self._on_change)
        fields = (
            self.packet_loss,
            self.ratio,
            self.rpo,
            self.response,
            self.cost,
            self.pause,
            self.log_volume,
        )
        for field in (*fields, *self.custom_fields.values()):
            field.valueChanged.connect(self._on_change)
        self.safety.idToggled.connect(lambda _, is_checked: self._on_change() if is_checked else None)

    def _select_environment(self) -> None:
        """Select the servers, the version and the compression that belong to the selected workload.

        For a custom workload, keep the current selection.
        """
        name = self.workload.currentData()
        if name in PAPER_WORKLOADS:
            workload, site, version = PAPER_WORKLOADS[name]
            self.site.setCurrentIndex(self.site.findData(site))
            self.version.setCurrentIndex(self.version.findData(version))
            self.ratio.setValue(100.0 * workload.compression_ratio)

    def _on_change(self, _: object = None) -> None:
        self._update_enabled_fields()
        self.changed.emit()

    def _update_enabled_fields(self) -> None:
        self._own_rows.setVisible(self.workload.currentData() == CUSTOM_VALUES_LABEL)
        compresses = self.version.currentData() >= COMPRESSION_VERSION_MIN
        self.compression.setEnabled(compresses)
        self.ratio.setEnabled(compresses and self.compression.isChecked())
        self.compression.setToolTip(
            "" if compresses else tr("Versions before 2008 send the log uncompressed")
        )

    def _recolor(self) -> None:
        self.problem.setStyleSheet(f"color: {theme.get_theme_tokens(self.palette()).bad.name()}")


SHOWN_NETWORKS: Final = tuple(
    (name, max(low, RTT_BOUNDS_MS[0]), high) for name, low, high in NETWORK_RTT_RANGES_MS
)
"""(name, lowest, highest round trip) of the networks in Table 7 of the white paper.

The values are limited to the range of the slider, which does not start at 0.
"""


def _build_spin_box(field: WorkloadField) -> QDoubleSpinBox:
    box = _build_number(
        tr(field.title), field.default, field.unit, field.decimals, field.maximum, field.minimum
    )
    box.setToolTip(tr(field.tip))
    return box


def _build_number(
    name: str, value: float, unit: str, decimals: int, maximum: float, minimum: float = 0.0
) -> QDoubleSpinBox:
    box = NumberBox()
    box.setDecimals(decimals)
    box.setRange(minimum, maximum)
    box.setSuffix(unit)
    box.setStepType(QDoubleSpinBox.StepType.AdaptiveDecimalStepType)
    box.setKeyboardTracking(False)
    box.setAlignment(Qt.AlignmentFlag.AlignRight)
    box.setAccessibleName(name)
    box.setValue(value)
    return box


def _build_heading(text: str) -> QLabel:
    label = QLabel(text)
    label.setFont(theme.resize_font(label.font(), 1.0, bold=True))
    label.setContentsMargins(0, 6, 0, 0)
    return label


def _build_rows(*rows: tuple[str | QWidget, QWidget]) -> QWidget:
    """Build a grid of *rows* (label, field). Each label is the buddy label of its field."""
    widget = QWidget()
    grid = QGridLayout(widget)
    grid.setContentsMargins(0, 0, 0, 0)
    grid.setVerticalSpacing(4)
    grid.setColumnStretch(0, 1)
    for number, (name, field) in enumerate(rows):
        label = name
        if isinstance(label, str):
            label = QLabel(label)
            label.setBuddy(field)
        grid.addWidget(label, number, 0)
        grid.addWidget(field, number, 1)
    return widget
