"""Accepted options: each form changes the world, is a listed no-op, or raises "Not simulated"."""

from __future__ import annotations

from typing import Final

import pytest
from lark import Token

from engine.model import World
from engine.powershell import prompt
from engine.tsql.batches import administration
from engine.tsql.language import parse
from tests.engine.availability.worlds import apply_lines, build_ag_lab
from tests.engine.tsql.console import submit_batch
from tests.engine.worlds import P, W, build_lab

NOOP_RULES: Final = {
    "certificate_password": "the private key is readable by anybody here; passwords of files are not stored",
    "permission_tail": "CASCADE: nobody holds a permission WITH GRANT OPTION, so nothing depends on the grant",
    "file_place": 'no file group but PRIMARY exists, and another one is refused as "Not simulated"',
    "none": "a NULL value",
}
"""Grammar rule without effect -> reason why the missing effect does no harm."""


def has_not_simulated_message(texts: list[str]) -> bool:
    return any(text.startswith("Not simulated: ") for text in texts)


# --- the grammar --------------------------------------------------------------------------------------------


def test_every_grammar_rule_keeps_its_input_or_is_listed() -> None:
    """A rule whose builder ignores its input must be refused or explained."""
    lost_rules = set()
    for rule, build in parse._RULE_BUILDERS.items():
        try:
            built = build([Token("NAME", "x"), Token("NAME", "y")])
        except Exception:  # this builder needs arguments that the test does not have
            continue
        if built in (None, {}) and build is not parse._merge_parts:
            lost_rules.add(rule)
    listed = {*parse.UNSIMULATED_CLAUSES, *NOOP_RULES}
    assert lost_rules - listed - {"null", "unlimited", "group_members"} == set()
    assert {rule for rule in listed if rule not in parse._RULE_BUILDERS} <= {"none"}


CLAUSES = {
    "mirror_to": r"BACKUP DATABASE Sales TO DISK = 'D:\a.bak' MIRROR TO DISK = 'D:\b.bak' WITH FORMAT",
    "other_address": "ALTER ENDPOINT Mirroring AS TCP (LISTENER_PORT = 5023, BACKLOG = FIVE)",
    "other_payload": "ALTER ENDPOINT Mirroring FOR DATABASE_MIRRORING (ROLE = ALL, LIFETIME = 5)",
    "endpoint_affinity": "ALTER ENDPOINT Mirroring AFFINITY = NONE",
    "certificate_dialog": "CREATE CERTIFICATE c WITH SUBJECT = 's' ACTIVE FOR BEGIN_DIALOG = ON",
    "grant_option": "REVOKE GRANT OPTION FOR CONNECT ON ENDPOINT::Mirroring FROM public",
    "with_grant_option": "GRANT CONNECT ON ENDPOINT::Mirroring TO public WITH GRANT OPTION",
    "distributed": "BEGIN DISTRIBUTED TRAN",
    "mark": "BEGIN TRAN t WITH MARK 'x'",
    "mark_after": r"RESTORE LOG Sales FROM DISK = 'D:\a.trn' WITH STOPATMARK = 'm' AFTER '2026-01-01'",
    "role_name": "ALTER ROLE db_owner WITH NAME = other",
    "as_grantor": "GRANT CONNECT ON ENDPOINT::Mirroring TO public AS sa",
}


@pytest.mark.parametrize("rule", sorted(parse.UNSIMULATED_CLAUSES))
def test_a_statement_with_an_unsimulated_clause_does_nothing(rule: str) -> None:
    world = build_lab()
    before = collect_state(world)
    answer = submit_batch(world, P, CLAUSES[rule], 1.0)
    assert has_not_simulated_message(answer.texts), answer.texts
    assert collect_state(world) == before


def collect_state(world: World) -> tuple[object, ...]:
    """Return all state that a statement can change, without changes that time alone causes."""
    instances = dict(world.instances)
    copies = {
        key: (copy.file_options, copy.file_paths, copy.extra_files, copy.owner)
        for key, copy in world.copies.items()
    }
    return instances, copies, dict(world.files), dict(world.objects)


# --- MODIFY FILE ---------------------------------------------------------------------------------------------

FILE_VALUES = {
    "NEWNAME": "NEWNAME = New", "FILENAME": r"FILENAME = 'D:\N\p.mdf'", "SIZE": "SIZE = 1GB",
    "MAXSIZE": "MAXSIZE = 2GB", "FILEGROWTH": "FILEGROWTH = 64MB", "OFFLINE": "OFFLINE",
}  # fmt: skip


@pytest.mark.parametrize("name", [one for one in administration.FILE_PROPERTIES if one != "NAME"])
@pytest.mark.parametrize("file", ["Plain", "Plain_log"])
def test_each_property_of_modify_file_changes_the_database_or_is_not_simulated(name: str, file: str) -> None:
    world = build_lab()
    assert submit_batch(world, W, "CREATE DATABASE Plain").numbers == []
    before = world.copies[W, "Plain"]
    answer = submit_batch(
        world, W, f"ALTER DATABASE Plain MODIFY FILE (NAME = {file}, {FILE_VALUES[name]})", 1.0
    )
    assert has_not_simulated_message(answer.texts) is (world.copies[W, "Plain"] == before), answer.texts


# --- PowerShell ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("cmdlet", sorted(prompt.CMDLETS))
def test_no_cmdlet_accepts_an_unknown_parameter(cmdlet: str) -> None:
    """With an unknown parameter, a cmdlet reports an error and changes nothing."""
    for arguments in ("", " NODE_2", " AG1", " -Name NODE_2", " -Name AG1"):
        world = build_ag_lab()
        before = (dict(world.nodes), dict(world.instances), dict(world.computers), list(world.timers))
        apply_lines(world, f"ps NODE_1 {cmdlet}{arguments} -NoSuchSwitch")
        assert (world.nodes, world.instances, world.computers, world.timers) == before, arguments
        event_texts = " ".join(event.text for event in world.outbox)
        assert (
            "nosuchswitch" in event_texts.lower()
            or cmdlet in event_texts.lower()
            or "not simulated" in event_texts
        ), event_texts
