"""Command `mirrordrill doctor`: check of this machine, support bundle, and export of a profile."""

import argparse
from pathlib import Path
from typing import Final

from app.cli.command_helpers import UsageError
from app.exit_codes import NEGATIVE_ANSWER, SUCCESS
from app.files import atomic_write


def _run_doctor(options: argparse.Namespace) -> int:
    from app import doctor, golden_run
    from app.files import support_bundle
    from app.storage import StorageError

    if options.export is not None:
        try:
            rows = doctor.export_default_profile(Path(options.export))
        except StorageError as problem:
            raise UsageError(str(problem)) from problem
        print(f"{rows} rows written to {options.export}")
        return SUCCESS
    if options.renew_replay is not None:
        atomic_write.write_atomically(
            Path(options.renew_replay), golden_run.format_hashes(golden_run.play_golden_run())
        )
        return SUCCESS
    is_healthy = True
    findings: list[doctor.CheckResult] = []
    for finding in doctor.run_checks():
        text = f"{'ok  ' if finding.is_ok else 'FAIL'} {finding.name}: {finding.text}"
        print(finding.as_line() if options.lines else text, flush=True)
        is_healthy = is_healthy and finding.is_ok
        findings.append(finding)
    if options.bundle is not None:
        try:
            with doctor.open_existing_profile() as profile:
                members = support_bundle.write_support_bundle(Path(options.bundle), findings, profile)
        except support_bundle.SupportBundleError as problem:
            raise UsageError(str(problem)) from problem
        print(f"{options.bundle} contains {', '.join(members)}; read it before you send it")
    return SUCCESS if is_healthy else NEGATIVE_ANSWER


COMMANDS: Final = {"doctor": _run_doctor}
