"""Statements for mirroring tasks, with `<name, type, value>` placeholders as in Management Studio's templates."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from PySide6.QtWidgets import QDialog, QDialogButtonBox, QFormLayout, QLineEdit, QMenu, QWidget

from app.widgets.layouts import lay_column
from app.widgets.scroll_container import fit_on_screen
from app.words.language import mark, tr

PLACE: Final = re.compile(r"<([^,<>\n]++),([^,<>\n]*+),([^<>\n]*+)>")
"""Pattern of a placeholder `<database, sysname, Sales>`: name, type, value."""


@dataclass(frozen=True, slots=True)
class TemplateParameter:
    """Placeholder of a snippet: name, type, default."""

    name: str
    type: str
    value: str


SNIPPETS: Final[tuple[tuple[str, tuple[tuple[str, str], ...]], ...]] = (
    (
        mark("Queries"),
        (
            (
                mark("State of all mirrored databases"),
                "SELECT DB_NAME(database_id) AS database_name, mirroring_role_desc, mirroring_state_desc,\n"
                "       mirroring_safety_level_desc, mirroring_partner_name, mirroring_witness_name,\n"
                "       mirroring_witness_state_desc\n"
                "FROM sys.database_mirroring\n"
                "WHERE mirroring_guid IS NOT NULL;\n",
            ),
            (
                mark("State of all databases"),
                "SELECT name, state_desc, recovery_model_desc FROM sys.databases;\n",
            ),
            (
                mark("Sessions with this server as witness"),
                "SELECT database_name, principal_server_name, mirror_server_name, safety_level_desc,\n"
                "       partner_sync_state_desc\n"
                "FROM sys.database_mirroring_witnesses;\n",
            ),
            (
                mark("Mirroring counters"),
                "SELECT instance_name, counter_name, cntr_value\n"
                "FROM sys.dm_os_performance_counters\n"
                "WHERE object_name LIKE '%Database Mirroring%' AND instance_name = '<database, sysname, Sales>';\n",
            ),
        ),
    ),
    (
        mark("Partner"),
        tuple(
            (title, f"ALTER DATABASE [<database, sysname, Sales>] SET PARTNER {rest};\n")
            for title, rest in (
                (mark("Fail over (on the principal)"), "FAILOVER"),
                (mark("Suspend"), "SUSPEND"),
                (mark("Resume"), "RESUME"),
                (
                    mark("Force service, with possible data loss (on the mirror)"),
                    "FORCE_SERVICE_ALLOW_DATA_LOSS",
                ),
                (mark("Remove mirroring"), "OFF"),
                (mark("High safety"), "SAFETY FULL"),
                (mark("High performance"), "SAFETY OFF"),
                (mark("Set the timeout"), "TIMEOUT <seconds, int, 10>"),
                (mark("Set the partner"), "= '<address, nvarchar, TCP://SERVER_B:5022>'"),
            )
        ),
    ),
    (
        mark("Witness"),
        (
            (
                mark("Set the witness (on the principal)"),
                "ALTER DATABASE [<database, sysname, Sales>] SET WITNESS = '<address, nvarchar, TCP://SERVER_W:5022>';\n",
            ),
            (mark("Remove the witness"), "ALTER DATABASE [<database, sysname, Sales>] SET WITNESS OFF;\n"),
        ),
    ),
    (
        mark("Bring online"),
        (
            (
                mark("Recover a copy that is no longer mirrored"),
                "RESTORE DATABASE [<database, sysname, Sales>] WITH RECOVERY;\n",
            ),
        ),
    ),
)
"""Menu: (group, ((title, text), …))."""


def places(text: str) -> list[TemplateParameter]:
    """Return the placeholders of a text, each name once, in order."""
    found: dict[str, TemplateParameter] = {}
    for name, kind, value in ([part.strip() for part in found] for found in PLACE.findall(text)):
        found.setdefault(name.lower(), TemplateParameter(name, kind, value))
    return list(found.values())


def filled(text: str, values: dict[str, str]) -> str:
    """Return *text* with every placeholder replaced by its value in *values*, or by its own."""
    lower = {name.lower(): value for name, value in values.items()}
    return PLACE.sub(lambda found: lower.get(found[1].strip().lower(), found[3].strip()), text)


def menu(insert: Callable[[str], None], parent: QWidget) -> QMenu:
    """Return a menu of all snippets; *insert* gets the text of the chosen one."""
    found = QMenu(parent)
    for group, entries in SNIPPETS:
        part = found.addMenu(tr(group))
        for title, text in entries:
            part.addAction(tr(title)).triggered.connect(lambda _=False, text=text: insert(text))
    return found


class PlacesDialog(QDialog):
    """Specify Values for Template Parameters."""

    def __init__(self, wanted: list[TemplateParameter], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(tr("Specify values for template parameters"))
        form = QFormLayout()
        self.fields: dict[str, QLineEdit] = {}
        for place in wanted:
            field = self.fields[place.name] = QLineEdit(place.value)
            form.addRow(f"{place.name} ({place.type})" if place.type else place.name, field)
        buttons = QDialogButtonBox(
            QDialogButtonBox.StandardButton.Ok | QDialogButtonBox.StandardButton.Cancel
        )
        buttons.accepted.connect(self.accept)
        buttons.rejected.connect(self.reject)
        lay_column(form, buttons, on=self)
        fit_on_screen(self, 26 * self.fontMetrics().height(), self.sizeHint().height())

    @property
    def values(self) -> dict[str, str]:
        """Return the value of each placeholder."""
        return {name: field.text() for name, field in self.fields.items()}
