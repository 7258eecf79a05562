"""The commands `mirrordrill bundle …`: create, inspect, import, list and remove bundles.

They also list and forget files that were accepted in the window.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from app.cli.command_helpers import UsageError
from app.exit_codes import INVALID_USE, NEGATIVE_ANSWER, SUCCESS
from app.files import bundle, bundle_store, scenario_files
from app.files.bundle import Bundle, BundleError
from app.files.bundle_store import BundleStoreError
from app.files.file_content import UnreadableFileError, read_bytes
from app.files.folders import get_profile_folder
from app.files.scenario_files import ScenarioNotFoundError
from engine.drill.authoring import run_scenario
from engine.drill.authoring.lint import list_warnings
from engine.drill.authoring.problems import FileProblem, ScenarioError
from engine.drill.authoring.scenario import escape_invisible

if TYPE_CHECKING:
    from app.files.accepted_files import AcceptedFile
    from app.storage import Profile

DIGEST_PREFIX_LENGTH_MIN: Final = 8
"""Minimum number of digits of a SHA-256 hash that identify a file."""


def _run_command(function: Callable[[argparse.Namespace], int], options: argparse.Namespace) -> int:
    try:
        return function(options)
    except (BundleError, ScenarioError, ScenarioNotFoundError, BundleStoreError) as problem:
        print(problem, file=sys.stderr)
        return INVALID_USE


def find_bundle_problems(file: Path) -> list[FileProblem]:
    """Return the problems of a bundle and of its drills, for `mirrordrill check`."""
    try:
        opened_bundle = bundle.read_bundle(file)
    except BundleError as refused:
        return list(refused.problems)
    problems: list[FileProblem] = []
    for offer in bundle_store.list_bundled_drills(opened_bundle):
        problems += offer.problems
        if offer.scenario is not None:
            problems += list_warnings(offer.scenario, f"{file}/scenarios/{offer.name}.toml")
    for run_offer in bundle_store.list_bundled_runs(opened_bundle):
        if not run_offer.usable:
            problems.append(
                FileProblem(str(file), 1, 1, f"runs/{run_offer.name}.json", run_offer.description)
            )
    return problems


def _make_bundle(options: argparse.Namespace) -> int:
    path = Path(options.out)
    if path.suffix != bundle.BUNDLE_SUFFIX:
        path = path.with_name(path.name + bundle.BUNDLE_SUFFIX)
    scenarios, runs, title = dict[str, str](), dict[str, bytes](), options.title
    for part in options.parts:
        if part.endswith(".json"):
            name, content = run_scenario.make_slug(Path(part).stem), _read_bytes(Path(part))
            if runs.setdefault(name, content) != content:
                raise ScenarioNotFoundError(f"mirrordrill: two runs would have the name {name}")
            continue
        file = scenario_files.find_scenario_file(part)
        scenario = file.load()
        title = title or scenario.title
        if scenarios.setdefault(file.name, file.text) != file.text:
            raise ScenarioNotFoundError(f"mirrordrill: two scenarios have the name {file.name}")
    try:
        new_bundle = bundle.write_bundle(
            path, title or path.stem, scenarios, runs, options.author, options.licence, options.replace
        )
    except OSError as error:
        raise ScenarioNotFoundError(f"mirrordrill: {path} cannot be written: {error.strerror}") from error
    print(
        f"{path}: {len(scenarios)} drill(s), {len(runs)} run(s), {new_bundle.size} bytes, SHA-256 {new_bundle.sha256}"
    )
    return SUCCESS


def _read_bytes(file: Path) -> bytes:
    """Read the file. Raises ScenarioNotFoundError."""
    try:
        return read_bytes(file, bundle.MEMBER_BYTES_MAX["runs"])
    except UnreadableFileError as error:
        raise ScenarioNotFoundError(f"mirrordrill: {error}") from error


def _show_bundle(options: argparse.Namespace) -> int:
    opened_bundle = bundle.read_bundle(Path(options.file))
    _print_manifest(opened_bundle)
    for offer in bundle_store.list_bundled_drills(opened_bundle):
        drill = offer.scenario
        if drill is None:
            print(f"  {offer.name}  {escape_invisible(offer.import_obstacle)}")
            continue
        author_text = f", by {drill.author}" if drill.author else ""
        print(
            f"  {offer.name}  {drill.minutes} min  {drill.level}  {escape_invisible(drill.title)}"
            f"{escape_invisible(author_text)}"
        )
        if offer.import_obstacle:
            print(f"    {escape_invisible(offer.import_obstacle)}")
    for run_offer in bundle_store.list_bundled_runs(opened_bundle):
        print(f"  run {run_offer.name}  {escape_invisible(run_offer.description)}")
    return SUCCESS


def _print_manifest(opened_bundle: Bundle) -> None:
    manifest = opened_bundle.manifest
    print(escape_invisible(manifest.title))
    print(
        f"  author   {escape_invisible(manifest.author or '')} (not verified)"
        if manifest.author
        else "  author   none named"
    )
    print(f"  license  {escape_invisible(manifest.licence or 'none named')}")
    print(f"  SHA-256  {opened_bundle.sha256}")


def _import_bundle(options: argparse.Namespace) -> int:
    opened_bundle = bundle.read_bundle(Path(options.file))
    offers = list(bundle_store.list_bundled_drills(opened_bundle))
    unknown = sorted(set(options.only or ()) - {offer.name for offer in offers})
    if unknown:
        raise ScenarioNotFoundError(
            f"mirrordrill: {options.file} contains no {', '.join(map(escape_invisible, unknown))}"
        )
    offers_to_add = [offer for offer in offers if options.only is None or offer.name in options.only]
    runs = (
        []
        if options.only
        else [
            run_offer.name for run_offer in bundle_store.list_bundled_runs(opened_bundle) if run_offer.usable
        ]
    )
    _print_manifest(opened_bundle)
    takeable = [offer.name for offer in offers_to_add if not offer.import_obstacle]
    for file in bundle_store.import_bundle(opened_bundle, takeable, runs):
        print(f"  imported: {file}")
    for offer in offers_to_add:
        if offer.import_obstacle:
            print(f"  {offer.name}: {escape_invisible(offer.import_obstacle)}")
    return (
        NEGATIVE_ANSWER
        if any(offer.import_obstacle and not offer.exists_here for offer in offers_to_add)
        else SUCCESS
    )


def _list_bundles(options: argparse.Namespace) -> int:
    for item in bundle_store.list_imported_bundles():
        print(f"{item.key}  {item.title}{f', by {item.author}' if item.author else ''}")
        print(f"  drills: {', '.join(item.drills) or 'none'}")
        for file in item.runs:
            print(f"  run: {file}")
    return SUCCESS


def _remove_bundle(options: argparse.Namespace) -> int:
    bundle_store.remove_bundle(options.key)
    print(f"{options.key} removed")
    return SUCCESS


def _list_accepted_files(options: argparse.Namespace) -> int:
    from app.files import accepted_files  # late import, because it loads the database layer

    with _open_profile() as profile:
        texts = (
            accepted_files.list_foreign_files(accepted_files.list_accepted_files(profile))
            if profile is not None
            else []
        )
    for entry in texts:
        title = escape_invisible(entry.title).replace("\n", " ") or "title unknown"
        author = escape_invisible(entry.author).replace("\n", " ")
        print(f"{entry.sha256}  {entry.on or 'unknown   '}  {title}{f', by {author}' if author else ''}")
    return SUCCESS


def _forget_accepted_files(options: argparse.Namespace) -> int:
    from app.files import accepted_files

    if bool(options.sha256) == options.all:
        raise UsageError("give the SHA-256 of a file, as `bundle accepted` prints it, or --all")
    with _open_profile() as profile:
        texts = accepted_files.list_accepted_files(profile) if profile is not None else []
        accepted_texts = _select_by_digest(accepted_files.list_foreign_files(texts), options.sha256)
        if profile is not None and accepted_texts:
            accepted_files.save_accepted_files(
                profile,
                accepted_files.remove_accepted_files(
                    texts, (accepted_text.sha256 for accepted_text in accepted_texts)
                ),
            )
    for accepted_text in accepted_texts:
        print(f"{accepted_text.sha256} forgotten")
    return SUCCESS


def _select_by_digest(entries: list[AcceptedFile], prefixes: list[str]) -> list[AcceptedFile]:
    """Return the entries whose SHA-256 hash begins with one of *prefixes*, or all entries if there are none.

    Raises UsageError for an unknown or ambiguous prefix.
    """
    if not prefixes:
        return entries
    matches = []
    for begins in prefixes:
        texts = [entry for entry in entries if entry.sha256.startswith(begins.lower())]
        if len(begins) < DIGEST_PREFIX_LENGTH_MIN or len(texts) != 1:
            raise UsageError(f"{escape_invisible(begins[:80])} is not the SHA-256 of one accepted file")
        matches += texts
    return matches


@contextmanager
def _open_profile() -> Iterator[Profile | None]:
    """Open the profile. Yield None if there is no profile, because reading must not create one. Raises UsageError."""
    from app.storage import StorageError, open_profile
    from app.storage.database import PROFILE_FILE_NAME

    folder = get_profile_folder()
    try:
        if (folder / PROFILE_FILE_NAME).exists():
            with open_profile(folder) as profile:
                yield profile
        else:
            yield None
    except StorageError as problem:
        raise UsageError(str(problem)) from problem


_BUNDLE_FUNCTIONS: Final = {
    "make": _make_bundle, "show": _show_bundle, "add": _import_bundle, "list": _list_bundles,
    "remove": _remove_bundle, "accepted": _list_accepted_files, "forget": _forget_accepted_files,
}  # fmt: skip
COMMANDS: Final = {f"bundle {name}": partial(_run_command, do) for name, do in _BUNDLE_FUNCTIONS.items()}
