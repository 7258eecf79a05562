"""The commands `mirrordrill bundle …`: make one, look into it, take it in, list and remove what was taken in."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Final

from app import bundle, bundle_store, scenario_files
from app.bundle import Bundle, BundleProblems
from app.bundle_store import CannotKeep
from app.cli.terms import Commands
from app.exit_codes import ANSWER_IS_NO, AS_ASKED, UNUSABLE
from app.scenario_files import NoScenario
from engine.drill import recorded
from engine.drill.contents import visible
from engine.drill.lint import lint
from engine.drill.problems import Problem, ScenarioProblems


def add_to(command: Commands) -> None:
    bundles = command("bundle", "drills in one file, to hand on: make, show, add, list, remove")
    bundles.set_defaults(do=_run)
    doing = bundles.add_subparsers(dest="doing", metavar="COMMAND", required=True)

    def sub(name: str, help: str) -> argparse.ArgumentParser:
        return doing.add_parser(name, help=help, description=help)

    make = sub("make", "drills, and recorded runs, in one file to hand on")
    make.add_argument("out", metavar="OUT", help=f"the bundle, a {bundle.SUFFIX} file")
    make.add_argument("parts", nargs="+", metavar="NAME|FILE", help="scenarios, and runs as .json files")
    make.add_argument("--title", help="of the course; without it the first scenario's")
    make.add_argument("--author", help="who made it")
    make.add_argument("--licence", help="on which terms it may be used")
    make.add_argument("--replace", action="store_true", help="write over OUT if it is there")
    sub("show", "what a bundle holds, without taking anything in").add_argument("file", metavar="FILE")
    add = sub("add", "take the drills and runs of a bundle in")
    add.add_argument("file", metavar="FILE")
    add.add_argument("--only", nargs="+", metavar="NAME", help="these drills, without runs")
    sub("list", "the bundles that were taken in")
    sub("remove", "remove what was taken in of a bundle").add_argument(
        "key", metavar="KEY", help="as `bundle list` prints it"
    )


def _run(options: argparse.Namespace) -> int:
    try:
        return DOING[options.doing](options)
    except (BundleProblems, ScenarioProblems, NoScenario, CannotKeep) as problem:
        print(problem, file=sys.stderr)
        return UNUSABLE


def problems_of(file: Path) -> list[Problem]:
    """For `mirrordrill check`: what is wrong with a bundle, or with a drill in it."""
    try:
        found = bundle.read(file)
    except BundleProblems as refused:
        return list(refused.problems)
    problems: list[Problem] = []
    for offer in bundle_store.offers(found):
        problems += offer.problems
        if offer.scenario is not None:
            problems += lint(offer.scenario, f"{file}/scenarios/{offer.name}.toml")
    for run_offer in bundle_store.run_offers(found):
        if not run_offer.usable:
            problems.append(Problem(str(file), 1, 1, f"runs/{run_offer.name}.json", run_offer.says))
    return problems


def _make(options: argparse.Namespace) -> int:
    out = Path(options.out)
    if out.suffix != bundle.SUFFIX:
        out = out.with_name(out.name + bundle.SUFFIX)
    scenarios, runs, title = dict[str, str](), dict[str, bytes](), options.title
    for part in options.parts:
        if part.endswith(".json"):
            name, content = recorded.slug(Path(part).stem), _bytes(Path(part))
            if runs.setdefault(name, content) != content:
                raise NoScenario(f"mirrordrill: two runs would be called {name}")
            continue
        file = scenario_files.find(part)
        scenario = file.load()
        title = title or scenario.title
        if scenarios.setdefault(file.name, file.text) != file.text:
            raise NoScenario(f"mirrordrill: two scenarios are called {file.name}")
    try:
        made = bundle.write(
            out, title or out.stem, scenarios, runs, options.author, options.licence, options.replace
        )
    except OSError as error:
        raise NoScenario(f"mirrordrill: {out} cannot be written: {error.strerror}") from error
    print(f"{out}: {len(scenarios)} drill(s), {len(runs)} run(s), {made.size} bytes, SHA-256 {made.sha256}")
    return AS_ASKED


def _bytes(file: Path) -> bytes:
    """More than a run may have is refused when the bundle is made. Raises NoScenario."""
    try:
        if not file.is_file():
            raise NoScenario(f"mirrordrill: {file} is not a file")
        with file.open("rb") as opened:
            return opened.read(bundle.KIND_MAX["runs"] + 1)
    except OSError as error:
        raise NoScenario(f"mirrordrill: {file} cannot be read: {error.strerror}") from error


def _show(options: argparse.Namespace) -> int:
    found = bundle.read(Path(options.file))
    _print_head(found)
    for offer in bundle_store.offers(found):
        said = offer.scenario
        if said is None:
            print(f"  {offer.name}  {visible(offer.hindrance)}")
            continue
        by = f", by {said.author}" if said.author else ""
        print(f"  {offer.name}  {said.minutes} min  {said.level}  {visible(said.title)}{visible(by)}")
        if offer.hindrance:
            print(f"    {visible(offer.hindrance)}")
    for run_offer in bundle_store.run_offers(found):
        print(f"  run {run_offer.name}  {visible(run_offer.says)}")
    return AS_ASKED


def _print_head(found: Bundle) -> None:
    said = found.manifest
    print(visible(said.title))
    print(
        f"  author   {visible(said.author or '')} (nobody has verified it)"
        if said.author
        else "  author   none named"
    )
    print(f"  licence  {visible(said.licence or 'none named')}")
    print(f"  SHA-256  {found.sha256}")


def _add(options: argparse.Namespace) -> int:
    found = bundle.read(Path(options.file))
    offers = bundle_store.offers(found)
    unknown = sorted(set(options.only or ()) - {offer.name for offer in offers})
    if unknown:
        raise NoScenario(f"mirrordrill: {options.file} holds no {', '.join(map(visible, unknown))}")
    wanted = [offer for offer in offers if options.only is None or offer.name in options.only]
    runs = [] if options.only else [one.name for one in bundle_store.run_offers(found) if one.usable]
    _print_head(found)
    takeable = [offer.name for offer in wanted if not offer.hindrance]
    for file in bundle_store.take_in(found, takeable, runs):
        print(f"  taken in: {file}")
    for offer in wanted:
        if offer.hindrance:
            print(f"  {offer.name}: {visible(offer.hindrance)}")
    return ANSWER_IS_NO if any(offer.hindrance and not offer.here for offer in wanted) else AS_ASKED


def _list(options: argparse.Namespace) -> int:
    for one in bundle_store.taken_in():
        print(f"{one.key}  {one.title}{f', by {one.author}' if one.author else ''}")
        print(f"  drills: {', '.join(one.drills) or 'none'}")
        for file in one.runs:
            print(f"  run: {file}")
    return AS_ASKED


def _remove(options: argparse.Namespace) -> int:
    bundle_store.remove(options.key)
    print(f"{options.key} is removed")
    return AS_ASKED


DOING: Final[dict[str, Callable[[argparse.Namespace], int]]] = {
    "make": _make,
    "show": _show,
    "add": _add,
    "list": _list,
    "remove": _remove,
}
