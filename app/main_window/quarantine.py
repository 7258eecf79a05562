"""Review of files from other people: the user sees a scenario, run or bundle before it opens.

Accepted files are remembered.
"""

from collections.abc import Callable, Iterable
from contextlib import suppress
from itertools import chain
from typing import Final

from app.files import accepted_files, bundle_store, run_files, scenario_files
from app.files.accepted_files import AcceptedFile
from app.files.bundle import Bundle
from app.files.bundle_store import BundledDrill, BundledRun, BundleStoreError
from app.files.run_files import RunFileError
from app.main_window.navigation import PageNavigation
from app.main_window.shared_parts import SharedParts, WindowPart
from app.storage import StorageError
from app.views.accepted_files import AcceptedFileRow, AcceptedFilesDialog
from app.views.quarantine import BundleItem, FileFactRow, QuarantinePage, list_scenario_facts
from app.views.scenario_picker import StartPageView
from app.words import formatting
from app.words.language import tr, trn
from app.words.localization import localize
from engine.drill.authoring.scenario import (
    Scenario,
    compute_sha256,
    count_verbs,
    escape_invisible,
    summarize_contents,
)
from engine.drill.judging.report_types import Report
from engine.drill.time.cooperative_tasks import CooperativeTask
from engine.inputs import InputError

SHOWN_RUN_BYTES_MAX: Final = 200_000
"""Maximum number of bytes of a recorded run that are shown. Assumed: nobody reads more."""
_DRILL_PREFIX, _RUN_PREFIX = "drill ", "run "
"""Prefixes of the item names of a bundle."""


class QuarantineGate(WindowPart):
    """Gate that opens a file from another person only after the user has reviewed it."""

    def __init__(
        self, shared: SharedParts, navigation: PageNavigation, start_page_view: StartPageView
    ) -> None:
        """Create the gate.

        *start_page_view*: list of drills on the start page, which shows the drills of an imported bundle.
        """
        super().__init__(shared)
        self._navigation, self._start_page_view = navigation, start_page_view
        self._page: QuarantinePage | None = None
        self._accepted = self._read_accepted()
        self._pending_request: tuple[AcceptedFile, Callable[[], None]] | None = None
        """File on the review page, and the callback for its acceptance; None if there is none."""
        self._bundle: Bundle | None = None
        """Bundle on the review page; None if there is none."""
        self.listed: AcceptedFilesDialog | None = None

    # --- requests -------------------------------------------------------------------------------------------

    def admit_scenario(self, scenario: Scenario, file: str, callback: Callable[[], None]) -> None:
        """Call *callback* if the scenario is known, or else after the user has reviewed and accepted it."""
        if self.is_known(scenario.text):
            callback()
        else:
            accepted_text = AcceptedFile(compute_sha256(scenario.text), scenario.title, scenario.author or "")
            self._ask_user(
                file,
                list_scenario_facts(summarize_contents(scenario)),
                scenario.text,
                accepted_text,
                callback,
            )

    def admit_run(self, report: Report, scenario: Scenario, file: str, callback: Callable[[], None]) -> None:
        """Call *callback* if the run is known, or else after the user has accepted it.

        Runs finished in this profile are known.
        """
        lines: list[str] = report["inputs"]
        replay_text = _join_replay_text(report, scenario.text)
        if self._is_finished_here(str(report.get("state_hash", ""))) or self._is_known_hash(
            compute_sha256(replay_text)
        ):
            callback()
            return
        try:
            does = ", ".join(f"{verb} × {count}" for verb, count in count_verbs(lines))
        except InputError as problem:
            does = localize(str(problem))
        facts = [
            FileFactRow(tr("Recorded run"), tr("will be replayed for review")),
            FileFactRow(tr("Simulated time"), formatting.format_seconds(float(report["ended_at_s"]), 0)),
            FileFactRow(tr("Inputs"), formatting.format_number(len(lines))),
            FileFactRow(tr("Actions"), escape_invisible(does) or tr("none")),
            *list_scenario_facts(summarize_contents(scenario)),
        ]
        accepted_text = AcceptedFile(
            compute_sha256(replay_text), _format_run_title(scenario), scenario.author or ""
        )
        self._ask_user(file, facts, "\n".join((*lines, "", scenario.text)), accepted_text, callback)

    def admit_bundle(self, bundle: Bundle) -> None:
        """Show the contents of a bundle before its import.

        A large bundle is read in slices, and the user can cancel.
        """
        self._navigation.leave_run()
        self._pending_request = self._bundle = None

        def show(items: list[BundleItem]) -> None:
            page = self._show_page()
            self._bundle = bundle
            page.show_bundle(bundle.file, bundle.manifest.title, items)
            self._navigation.show_page(page, tr("Bundle from another source"))
            page.focus_list()

        self._session.run_task(_build_items(bundle), show, on_cancel=self._navigation.show_home)

    def _import_selected(self, bundle: Bundle, names: list[str]) -> None:
        """Check the selection again in slices, then import it. If the user cancels, nothing is imported."""
        drills = [name.removeprefix(_DRILL_PREFIX) for name in names if name.startswith(_DRILL_PREFIX)]
        runs = [name.removeprefix(_RUN_PREFIX) for name in names if name.startswith(_RUN_PREFIX)]

        def store_checked(looked_at: tuple[list[BundledDrill], list[AcceptedFile]]) -> None:
            self._store_selected(bundle, drills, runs, *looked_at)

        self._session.run_task(
            _check_selection(bundle, drills, runs), store_checked, on_cancel=self._navigation.show_home
        )

    def _store_selected(
        self,
        bundle: Bundle,
        drills: list[str],
        runs: list[str],
        offered: list[BundledDrill],
        newly_accepted: list[AcceptedFile],
    ) -> None:
        """Import the selection into the profile, remember it as accepted, and show it on the start page."""
        try:
            new_bundle = bundle_store.import_bundle(bundle, drills, runs, offered)
        # for example, a drill with this name was created meanwhile
        except (BundleStoreError, ValueError) as problem:
            self._notice.show_warning(str(problem))
            return
        self._remember_accepted(newly_accepted)
        self._navigation.show_home()
        if drills:
            self._start_page_view.select_drill(drills[0])
        run_count = sum(file.parent.name == "runs" for file in new_bundle)
        counts = ((len(new_bundle) - run_count, trn("{n} drill", "{n} drills", len(new_bundle) - run_count)),
                  (run_count, trn("{n} recorded run", "{n} recorded runs", run_count)))  # fmt: skip
        contents_text = ", ".join(text.format(n=count) for count, text in counts if count)
        message = tr(
            "Imported from “{title}”: {what}. To list or remove bundles, choose Drill ▸ Imported bundles."
        )
        self._notice.show_info(
            message.format(title=escape_invisible(bundle.manifest.title), what=contents_text)
        )

    def accept_own_text(self, text: str) -> None:
        """Accept *text*, which the user has written in this window."""
        self._remember_accepted([AcceptedFile(compute_sha256(text), own=True)])

    def is_known(self, text: str) -> bool:
        """Return whether the text of a scenario is shipped, belongs to the user, or was accepted."""
        digest = compute_sha256(text)
        return self._is_known_hash(digest) or digest in _collect_local_hashes()

    def _ask_user(
        self,
        file: str,
        facts: list[FileFactRow],
        text: str,
        candidate: AcceptedFile,
        callback: Callable[[], None],
    ) -> None:
        page = self._show_page()
        self._pending_request, self._bundle = (candidate, callback), None
        page.show_file(file, facts, text)
        self._navigation.show_page(page, tr("File from another source"))
        page.focus_list()

    def _show_page(self) -> QuarantinePage:
        self._navigation.leave_run()
        if self._page is None:
            self._page = QuarantinePage()
            self._page.accepted.connect(self._accept_file)
            self._page.declined.connect(self._decline_file)
        return self._page

    def _accept_file(self) -> None:
        request, self._pending_request = self._pending_request, None
        bundle, self._bundle = self._bundle, None
        if request is not None:
            self._remember_accepted([request[0]])
            request[1]()
        elif bundle is not None and self._page is not None:
            self._import_selected(bundle, self._page.items.list_names())

    def _decline_file(self) -> None:
        self._pending_request = self._bundle = None
        self._navigation.show_home()

    # --- accepted files -------------------------------------------------------------------------------------

    def _is_known_hash(self, digest: str) -> bool:
        return any(accepted_text.sha256 == digest for accepted_text in self._accepted)

    def _is_finished_here(self, state_hash: str) -> bool:
        profile = self._profile
        if profile is None:
            return False
        try:
            return profile.has_run_with_state(state_hash)
        except StorageError as problem:
            self._notice.show_warning(str(problem))
            return False

    def _read_accepted(self) -> list[AcceptedFile]:
        profile = self._profile
        if profile is None:
            return []
        with suppress(StorageError):  # the start page reports this problem of the profile
            return accepted_files.list_accepted_files(profile)
        return []

    def _remember_accepted(self, newly_accepted: Iterable[AcceptedFile]) -> None:
        texts = self._accepted
        for accepted_text in newly_accepted:
            texts = accepted_files.add_accepted_file(texts, accepted_text)
        self._save_accepted(texts)

    def _save_accepted(self, accepted: list[AcceptedFile]) -> None:
        """Save the list of accepted files.

        If the list cannot be written, it remains valid until this window closes.
        """
        self._accepted = accepted
        profile = self._profile
        if profile is not None:
            try:
                accepted_files.save_accepted_files(profile, accepted)
            except StorageError as problem:
                self._notice.show_warning(str(problem))

    # --- removal of accepted files --------------------------------------------------------------------------

    def show_accepted(self) -> None:
        """Show the list of accepted files."""
        listed = self.listed = AcceptedFilesDialog(self._window)
        listed.forget_wanted.connect(self.forget_texts)
        listed.finished.connect(self._close_list)
        self._fill_list()
        listed.open()

    def _close_list(self) -> None:
        if self.listed is not None:
            self.listed.deleteLater()
            self.listed = None

    def forget_texts(self, digests: list[str]) -> None:
        """Forget the texts with these SHA-256 hashes. They must be reviewed again before they open."""
        self._save_accepted(accepted_files.remove_accepted_files(self._accepted, digests))
        self._fill_list()
        remaining_count = len(set(digests) & _collect_local_hashes())
        if remaining_count:
            text = trn(
                "{n} file that you chose to forget is still one of your drills, so it opens without a question."
                " To be asked again, remove the drill.",
                "{n} files that you chose to forget are still among your drills, so they open without a question."
                " To be asked again, remove the drills.",
                remaining_count,
            )
            self._notice.show_info(text.format(n=remaining_count))

    def _fill_list(self) -> None:
        if self.listed is not None:
            foreign = accepted_files.list_foreign_files(self._accepted)
            self.listed.show_files(
                [
                    AcceptedFileRow(
                        accepted_text.sha256, accepted_text.title, accepted_text.author, accepted_text.on
                    )
                    for accepted_text in foreign
                ]
            )


def _collect_local_hashes() -> set[str]:
    """Return the SHA-256 hashes of all shipped drills and of the drills in the profile's folder."""
    return {compute_sha256(file.text) for file in scenario_files.list_all_files()[0]}


def _check_selection(
    bundle: Bundle, drills: list[str], runs: list[str]
) -> CooperativeTask[tuple[list[BundledDrill], list[AcceptedFile]]]:
    """Return all drills that the bundle offers now, and the texts of the selected drills and runs.

    The user accepts these texts with the selection. *drills* and *runs*: names of the selected drills
    and runs.
    """
    count = len(bundle.scenarios) + len(runs)
    author = bundle.manifest.author or ""
    offered: list[BundledDrill] = []
    texts: list[AcceptedFile] = []
    for offer in bundle_store.list_bundled_drills(bundle):
        offered.append(offer)
        if offer.name in drills and offer.scenario is not None:
            texts.append(
                AcceptedFile(
                    compute_sha256(offer.text), offer.scenario.title, offer.scenario.author or author
                )
            )
        yield len(offered) / count
    for number, name in enumerate(runs, start=1):
        with suppress(RunFileError):
            report, text = run_files.parse_run(bundle.runs[name], name)
            title = tr("Recorded run {name}").format(name=name)
            texts.append(AcceptedFile(compute_sha256(_join_replay_text(report, text)), title, author))
        yield (len(offered) + number) / count
    return offered, texts


def _format_run_title(scenario: Scenario) -> str:
    return tr("Recorded run of {title}").format(title=scenario.title)


def _join_replay_text(report: Report, text: str) -> str:
    """Join all parts of a recorded run that affect its replay, with the *text* of its scenario."""
    return "\n".join((text, str(report["seed"]), str(report["ended_at_s"]), *report["inputs"]))


def _build_bundle_facts(bundle: Bundle) -> list[FileFactRow]:
    manifest = bundle.manifest
    facts = [
        FileFactRow(tr("Bundle"), manifest.title),
        FileFactRow(tr("Made by"), manifest.author or tr("not named in the file")),
        FileFactRow(tr("License"), manifest.licence or tr("not named in the file")),
        FileFactRow(tr("SHA-256 of the bundle"), bundle.sha256),
    ]
    return [FileFactRow(fact.label, escape_invisible(fact.value).replace("\n", " ")) for fact in facts]


def _build_items(bundle: Bundle) -> CooperativeTask[list[BundleItem]]:
    """Build the items of a bundle, one per slice."""
    drills = (_build_drill_item(bundle, offer) for offer in bundle_store.list_bundled_drills(bundle))
    runs = (_build_run_item(bundle, offer) for offer in bundle_store.list_bundled_runs(bundle))
    items: list[BundleItem] = []
    for item in chain(drills, runs):
        items.append(item)
        yield len(items) / (len(bundle.scenarios) + len(bundle.runs))
    return items


def _build_drill_item(bundle: Bundle, drill: BundledDrill) -> BundleItem:
    scenario, hindrance = drill.scenario, localize(drill.import_obstacle)
    if scenario is None:
        facts = [
            FileFactRow(tr("Problem"), escape_invisible(localize(str(problem)))) for problem in drill.problems
        ]
        return BundleItem(
            _DRILL_PREFIX + drill.name, drill.name, facts, drill.text, remark=hindrance, is_importable=False
        )
    return BundleItem(
        _DRILL_PREFIX + drill.name,
        scenario.title,
        [*list_scenario_facts(summarize_contents(scenario)), *_build_bundle_facts(bundle)],
        drill.text,
        level=scenario.level,
        minutes=str(scenario.minutes),
        author=scenario.author or "",
        remark=hindrance,
        is_importable=not hindrance,
    )


def _build_run_item(bundle: Bundle, run: BundledRun) -> BundleItem:
    title = tr("Recorded run {name}").format(name=run.name)
    text = bundle.runs[run.name][:SHOWN_RUN_BYTES_MAX].decode("utf-8", "replace")
    facts = [FileFactRow(tr("Recorded run"), escape_invisible(run.description)), *_build_bundle_facts(bundle)]
    return BundleItem(
        _RUN_PREFIX + run.name, title, facts, text, remark=run.description, is_importable=run.usable
    )
