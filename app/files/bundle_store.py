"""Imported bundles. Their drills and runs are stored in the profile, in one folder per bundle. Without Qt.

The folder is named by the first digits of the bundle's SHA-256 hash, and the rules for scenario and run names
restrict the file names. No name from the archive is used as a path. Existing files are never replaced.
"""

import re
import shutil
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final

from msgspec import Struct

from app.files import atomic_write, bundle, run_files, scenario_files
from app.files.bundle import Bundle
from app.files.run_files import RunFileError
from app.files.scenario_files import ScenarioFile, ScenarioNotFoundError
from app.words import formatting
from app.words.language import tr
from engine.drill.authoring.problems import FileProblem, ScenarioError
from engine.drill.authoring.scenario import Scenario, count_verbs, load_scenario
from engine.inputs import InputError

FOLDER_NAME_LENGTH: Final = 16
"""Number of digits of the SHA-256 hash in a folder's name, enough to exclude an accidental collision."""
_KEY_PATTERN: Final = re.compile(rf"[0-9a-f]{{{FOLDER_NAME_LENGTH}}}")


class BundleStoreError(Exception):
    """Error if the disk or the folder prevents an operation. The text is a sentence for the user."""


class BundledDrill(Struct, frozen=True):
    """Drill in a bundle, before its import."""

    name: str
    text: str
    scenario: Scenario | None
    """Parsed scenario; None if it cannot be played."""
    problems: tuple[FileProblem, ...] = ()
    import_obstacle: str = ""
    """Reason why the drill cannot be imported, as a sentence; empty if it can."""
    exists_here: bool = False
    """True if an identical drill already exists here."""


class BundledRun(Struct, frozen=True):
    """Recorded run in a bundle, before its import."""

    name: str
    description: str
    """Scenario, duration and inputs of the run, or the reason why it cannot be replayed."""
    usable: bool


class ImportedBundle(Struct, frozen=True):
    """Bundle from which drills or runs were imported."""

    key: str
    title: str
    author: str
    licence: str
    sha256: str
    drills: tuple[str, ...]
    """Names of the imported drills."""
    runs: tuple[Path, ...]


# --- offers of a bundle -------------------------------------------------------------------------------------


def list_bundled_drills(opened_bundle: Bundle) -> Iterator[BundledDrill]:
    """Yield each drill of the bundle. A drill is checked just before it is yielded, but not run."""
    present = {file.name: file for file in scenario_files.list_all_files()[0]}
    for name, text in opened_bundle.scenarios.items():
        yield _check_bundled_drill(opened_bundle, name, text, present)


def _check_bundled_drill(
    opened_bundle: Bundle, name: str, text: str, existing_files: Mapping[str, ScenarioFile]
) -> BundledDrill:
    """Check whether the drill *name* of the bundle can be imported, without running it."""
    try:
        scenario = load_scenario(text, f"{opened_bundle.file}/scenarios/{name}.toml")
    except ScenarioError as problems:
        reason = tr("Not playable: {why}").format(why=_shorten_problem(problems.problems[0]))
        return BundledDrill(name, text, None, problems.problems, reason)
    file = existing_files.get(name)
    if file is None:
        return BundledDrill(name, text, scenario)
    if file.text == text:
        return BundledDrill(name, text, scenario, (), tr("Already imported."), exists_here=True)
    if file.shipped:
        reason = tr("{name} is a shipped drill and cannot be replaced.")
    elif file.origin:
        reason = tr("The bundle “{origin}” already contains a drill named {name}. Remove that bundle first.")
    else:
        reason = tr("You already have a drill named {name}. Rename or remove it first.")
    return BundledDrill(name, text, scenario, (), reason.format(name=name, origin=file.origin))


def _shorten_problem(problem: FileProblem) -> str:
    place_prefix = f"{problem.where}: " if problem.where else ""
    return f"{problem.line}:{problem.column}: {place_prefix}{problem.text}"


def list_bundled_runs(opened_bundle: Bundle) -> Iterator[BundledRun]:
    """Yield each run of the bundle with its description. No run is played."""
    for name, raw in opened_bundle.runs.items():
        yield _check_bundled_run(name, raw)


def _check_bundled_run(name: str, raw: bytes) -> BundledRun:
    try:
        report, _ = run_files.parse_run(raw, f"{name}.json")
        does = ", ".join(f"{verb} × {count}" for verb, count in count_verbs(report["inputs"]))
    except (RunFileError, InputError) as problem:
        return BundledRun(name, str(problem), usable=False)
    says = tr("{scenario}, {time} of simulated time: {does}")
    time = formatting.format_seconds(float(report["ended_at_s"]), 0)
    return BundledRun(
        name, says.format(scenario=report["scenario"], time=time, does=does or tr("no actions")), usable=True
    )


# --- import -------------------------------------------------------------------------------------------------


def import_bundle(
    opened_bundle: Bundle,
    drills: Iterable[str],
    runs: Iterable[str] = (),
    known_drills: Iterable[BundledDrill] | None = None,
) -> list[Path]:
    """Import drills and runs of the bundle into the profile. Return the new files.

    *known_drills*: result of `list_bundled_drills`; None to call it here. Raises ValueError if a drill of
    *drills* cannot be imported, and BundleStoreError. Files that were written before an error remain
    complete.
    """
    drill_names = list(drills)
    hindered = {
        offer.name
        for offer in (list_bundled_drills(opened_bundle) if known_drills is None else known_drills)
        if offer.import_obstacle and not offer.exists_here
    }
    if hindered & set(drill_names):
        raise ValueError(f"cannot be imported: {sorted(hindered & set(drill_names))}")
    folder = scenario_files.get_bundles_folder() / opened_bundle.sha256[:FOLDER_NAME_LENGTH]
    files = {folder / f"{name}.toml": opened_bundle.scenarios[name].encode() for name in drill_names}
    files |= {folder / "runs" / f"{name}.json": opened_bundle.runs[name] for name in runs}
    new = {file: raw for file, raw in files.items() if not file.exists()}
    if new:
        _write_bundle_files(
            folder, {folder / scenario_files.BUNDLE_LABEL_FILE: _build_label(opened_bundle), **new}
        )
    return list(new)


def _write_bundle_files(folder: Path, files: Mapping[Path, bytes]) -> None:
    try:
        for file, raw in files.items():
            file.parent.mkdir(parents=True, exist_ok=True)
            atomic_write.write_atomically(file, raw)
    except OSError as error:
        reason = error.strerror
        raise BundleStoreError(
            tr("{folder} cannot be written: {why}.").format(folder=folder, why=reason)
        ) from error


def _build_label(opened_bundle: Bundle) -> bytes:
    manifest = opened_bundle.manifest
    facts = {
        "title": manifest.title,
        "author": manifest.author,
        "licence": manifest.licence,
        "sha256": opened_bundle.sha256,
    }
    return "".join(f"{key} = {bundle.quote_toml(text)}\n" for key, text in facts.items() if text).encode()


# --- imported bundles ---------------------------------------------------------------------------------------


def list_imported_bundles() -> list[ImportedBundle]:
    """Return all imported bundles, sorted by title."""
    folders = (
        path for path in scenario_files.get_bundles_folder().glob("*") if _KEY_PATTERN.fullmatch(path.name)
    )
    return sorted(map(_read_imported_bundle, folders), key=lambda bundle: (bundle.title, bundle.key))


def _read_imported_bundle(folder: Path) -> ImportedBundle:
    labels = {
        key: value
        for key, value in scenario_files.read_bundle_label(folder).items()
        if isinstance(value, str)
    }
    return ImportedBundle(
        key=folder.name,
        title=labels["title"],
        author=labels.get("author", ""),
        licence=labels.get("licence", ""),
        sha256=labels.get("sha256", ""),
        drills=tuple(sorted(path.stem for path in folder.glob("*.toml"))),
        runs=tuple(sorted((folder / "runs").glob("*.json"))),
    )


def remove_bundle(key: str) -> None:
    """Remove all drills and runs that were imported from a bundle. *key*: name of the bundle's folder.

    Raises ScenarioNotFoundError for an unknown bundle, and BundleStoreError.
    """
    folder = scenario_files.get_bundles_folder() / key
    if not _KEY_PATTERN.fullmatch(key) or not folder.is_dir() or folder.is_symlink():
        raise ScenarioNotFoundError(tr("Bundle {key} does not exist on this computer.").format(key=key))
    try:
        shutil.rmtree(folder)
    except OSError as error:
        raise BundleStoreError(
            tr("{folder} cannot be removed: {why}.").format(folder=folder, why=error.strerror)
        ) from error
