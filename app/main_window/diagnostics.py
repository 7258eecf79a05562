"""Installation check in a separate process, and the support bundle (Help menu)."""

import sys
from pathlib import Path
from typing import Final

from PySide6.QtCore import QProcess

from app.doctor import PROFILE_CHECK_NAME, CheckResult, parse_check_result
from app.files import support_bundle
from app.main_window.shared_parts import SharedParts, WindowPart
from app.storage import StorageError
from app.views.diagnostics import CheckResultRow, DiagnosticsDialog
from app.widgets.save_file import ask_for_file
from app.words.language import tr
from engine.localization import build_message

CHECK_COMMAND_ARGUMENTS: Final = ["-m", "app", "doctor", "--lines"]
"""Arguments of the Python interpreter that runs the installation check (`mirrordrill doctor`)."""
KILL_TIMEOUT_MS: Final = 2_000
"""Maximum time to wait until the killed process of a canceled check has ended."""


class InstallationCheckController(WindowPart):
    """Controller of the dialog for the installation check. It runs the check and collects its findings."""

    def __init__(self, shared: SharedParts) -> None:
        super().__init__(shared)
        self.page: DiagnosticsDialog | None = None
        self.findings: list[CheckResult] = []
        self._process: QProcess | None = None
        self._partial_line = ""

    @property
    def is_busy(self) -> bool:
        """Return whether a check is running."""
        return self._process is not None

    def start_check(self) -> None:
        """Show the dialog and start all checks, unless they are running."""
        if self.page is None:
            self.page = DiagnosticsDialog(self._window)
            self.page.check_wanted.connect(self.start_check)
            self.page.bundle_wanted.connect(self.save_bundle)
        self.page.show()
        self.page.activateWindow()
        if self._process is not None:
            return
        self.findings, self._partial_line = [], ""
        self.page.begin_check()
        self._process = process = QProcess(self)
        # needed for a program that runs from its folder without an installation
        process.setWorkingDirectory(str(Path(__file__).parents[2]))
        process.readyReadStandardOutput.connect(self._read_output)
        process.finished.connect(lambda *_: self._end_check())
        process.errorOccurred.connect(self._on_failed)
        process.start(sys.executable, CHECK_COMMAND_ARGUMENTS)

    def save_bundle(self) -> None:
        """Ask for a file and write the support bundle to it."""
        title, kind = tr("Save a support bundle"), tr("Zip files (*.zip)")
        file = ask_for_file(self._window, title, "mirrordrill-support.zip", kind)
        if file is None:
            return
        try:
            members = support_bundle.write_support_bundle(
                file, self.findings or self._check_profile(), self._profile
            )
        except support_bundle.SupportBundleError as problem:
            self._notice.show_warning(str(problem))
            return
        text = tr(
            "Saved: {file} contains {members}. Names of people and computers are removed. Read "
            "it before you send it."
        )
        self._notice.show_info(text.format(file=file, members=", ".join(members)))

    def stop(self) -> None:
        """Stop the running check, because the window closes."""
        process, self._process = self._process, None
        if process is not None:
            process.blockSignals(True)
            process.kill()
            process.waitForFinished(KILL_TIMEOUT_MS)

    # --- private helpers ------------------------------------------------------------------------------------

    def _read_output(self) -> None:
        if self._process is None:
            return
        self._partial_line += bytes(self._process.readAllStandardOutput().data()).decode(
            "utf-8", errors="replace"
        )
        *complete_lines, self._partial_line = self._partial_line.split("\n")
        for line in complete_lines:
            try:
                finding = parse_check_result(line)
            except ValueError:  # the line is a message of a library, not a finding
                continue
            if finding.name != PROFILE_CHECK_NAME:  # this process has the profile open and checks it itself
                self._add_finding(finding)

    def _add_finding(self, finding: CheckResult) -> None:
        self.findings.append(finding)
        if self.page is not None:
            self.page.add_result(CheckResultRow(finding.is_ok, finding.name, finding.text))

    def _end_check(self) -> None:
        if self._process is None:
            return
        self._read_output()
        self._process.deleteLater()
        self._process = None
        for finding in self._check_profile():
            self._add_finding(finding)
        if self.page is not None:
            self.page.show_summary()

    def _on_failed(self, error: QProcess.ProcessError) -> None:
        if error is QProcess.ProcessError.FailedToStart and self._process is not None:
            self._add_finding(
                CheckResult(
                    build_message("check"), False, tr("The check of the installation could not be started.")
                )
            )
            self._end_check()

    def _check_profile(self) -> list[CheckResult]:
        """Check the open profile: SQLite's full check, and the checksums of the journals."""
        profile = self._profile
        if profile is None:
            return [
                CheckResult(
                    PROFILE_CHECK_NAME,
                    False,
                    tr("The profile could not be opened at the start; nothing is saved."),
                )
            ]
        try:
            faults = profile.find_data_faults()
        except StorageError as problem:
            faults = [str(problem)]
        return [
            CheckResult(
                PROFILE_CHECK_NAME,
                not faults,
                " ".join(faults) or tr("{file} is intact.").format(file=profile.file),
            )
        ]
