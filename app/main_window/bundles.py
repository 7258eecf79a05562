"""Bundles in the window: export of the user's drills to one file, and list and removal of imported bundles."""

from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFileDialog, QMessageBox

from app.files import bundle, bundle_store, scenario_files
from app.files.bundle import BundleError
from app.files.bundle_store import BundleStoreError, ImportedBundle
from app.files.scenario_files import ScenarioNotFoundError
from app.main_window.drill_selection import DrillSelectionController
from app.main_window.navigation import PageNavigation
from app.main_window.shared_parts import SharedParts, WindowPart
from app.views.bundles import BundleRow, ImportedBundlesDialog, NewBundleDialog
from app.views.scenario_picker import StartPageView
from app.widgets.save_file import confirm_replacement
from app.words.language import tr, trn
from engine.drill.authoring import run_scenario
from engine.drill.authoring.scenario import escape_invisible


class BundleController(WindowPart):
    """Controller of the dialogs that export bundles and manage imported bundles."""

    run_wanted = Signal(str)
    """Signal: path of a recorded run to open."""

    def __init__(
        self,
        shared: SharedParts,
        choice: DrillSelectionController,
        navigation: PageNavigation,
        start_page_view: StartPageView,
    ) -> None:
        super().__init__(shared)
        self._choice, self._navigation = choice, navigation
        self._start_page_view = start_page_view
        self.dialog: ImportedBundlesDialog | None = None
        self.new_bundle_dialog: NewBundleDialog | None = None

    # --- export ---------------------------------------------------------------------------------------------

    def show_export_dialog(self) -> None:
        """Open the dialog in which the user selects drills to export and enters a title."""
        self._library.read_scenarios()
        drills = [
            (summary.name, summary.title)
            for summary in self._library.summaries.values()
            if not summary.shipped
        ]
        if not drills:
            self._notice.show_info(
                tr(
                    "You have no drills of your own. Create one with Tools ▸ Scenario editor, or "
                    "save a run as a scenario."
                )
            )
            return
        maker = self.new_bundle_dialog = NewBundleDialog(drills, "", self._window)
        maker.accepted.connect(self._ask_for_file)
        maker.finished.connect(maker.deleteLater)
        maker.open()

    def _ask_for_file(self) -> None:
        assert self.new_bundle_dialog is not None
        suggested = str(
            Path.home()
            / f"{run_scenario.make_slug(self.new_bundle_dialog.title_field.text())}{bundle.BUNDLE_SUFFIX}"
        )
        kinds = tr("Bundles (*.mirrordrill)")
        chosen_file, _ = QFileDialog.getSaveFileName(self._window, tr("Export as a bundle"), suggested, kinds)
        if chosen_file:
            file = Path(chosen_file)
            bundle_file = (
                file
                if file.suffix == bundle.BUNDLE_SUFFIX
                else file.with_name(file.name + bundle.BUNDLE_SUFFIX)
            )
            # the dialog has already asked before it replaces a file with the chosen name
            if bundle_file == file or confirm_replacement(
                self._window, tr("Export as a bundle"), [bundle_file]
            ):
                self.write_bundle(bundle_file, replace=True)

    def write_bundle(self, file: Path, replace: bool) -> None:
        """Write the selected drills as a bundle to *file*, and report problems."""
        maker = self.new_bundle_dialog
        assert maker is not None
        try:
            scenarios = {
                name: scenario_files.find_scenario_file(name).text for name in maker.list_selected_drills()
            }
            written_bundle = bundle.write_bundle(
                file,
                maker.title_field.text(),
                scenarios,
                author=maker.author.text().strip() or None,
                licence=maker.licence.text().strip() or None,
                replace=replace,
            )
        except (BundleError, ScenarioNotFoundError) as problem:
            self._notice.show_warning(escape_invisible(str(problem)))
        except OSError as error:
            text = tr("{file} cannot be written: {reason}.")
            self._notice.show_warning(text.format(file=file, reason=error.strerror))
        else:
            drills_text = trn("{n} drill", "{n} drills", len(scenarios)).format(n=len(scenarios))
            text = tr("Saved: {file} ({what}). SHA-256 {sha}")
            self._notice.show_info(text.format(file=file, what=drills_text, sha=written_bundle.sha256))

    # --- imported bundles -----------------------------------------------------------------------------------

    def show_imported_bundles(self) -> None:
        """Show the list of imported bundles."""
        dialog = self.dialog = ImportedBundlesDialog(self._window)
        dialog.drill_wanted.connect(self._choice.ask_to_show_brief)
        dialog.run_wanted.connect(self.run_wanted)
        dialog.removal_wanted.connect(self._ask_removal)
        dialog.finished.connect(dialog.deleteLater)
        self._fill_list()
        dialog.open()

    def _fill_list(self) -> None:
        assert self.dialog is not None
        self._library.read_scenarios()
        self.dialog.show_bundles(
            [
                self._build_bundle_row(imported_bundle)
                for imported_bundle in bundle_store.list_imported_bundles()
            ]
        )

    def _build_bundle_row(self, imported: ImportedBundle) -> BundleRow:
        drills = [(name, self._library.get_title(name)) for name in imported.drills]
        runs = [(str(file), tr("Recorded run {name}").format(name=file.stem)) for file in imported.runs]
        return BundleRow(
            imported.key,
            imported.title,
            ", ".join(filter(None, (imported.author, imported.licence))),
            drills,
            runs,
        )

    def _ask_removal(self, key: str, title: str) -> None:
        text = tr("Remove “{title}” with its drills and runs? Your own results are not deleted.")
        box = QMessageBox(self.dialog or self._window)
        box.setIcon(QMessageBox.Icon.Question)
        box.setWindowTitle(tr("Remove this bundle"))
        box.setTextFormat(Qt.TextFormat.PlainText)  # a title may contain HTML
        box.setText(text.format(title=escape_invisible(title)))
        remove = box.addButton(tr("Remove"), QMessageBox.ButtonRole.DestructiveRole)
        box.addButton(QMessageBox.StandardButton.Cancel)
        box.exec()
        if box.clickedButton() is remove:
            self.remove_bundle(key)

    def remove_bundle(self, key: str) -> None:
        """Remove an imported bundle."""
        try:
            bundle_store.remove_bundle(key)
        except (ScenarioNotFoundError, BundleStoreError) as problem:
            self._notice.show_warning(str(problem))
        if self.dialog is not None:
            self._fill_list()
        if self._navigation.is_page_shown(self._start_page_view):
            self._navigation.show_home()
