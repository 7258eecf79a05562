"""Policy of a database that belongs to no mirroring session and no availability group."""

from __future__ import annotations

from engine.mirroring import commands
from engine.protocol import group_policies, serving
from tests.engine.worlds import DB, PRINCIPAL, P, apply_lines, build_lab


def test_a_database_without_group_serves_alone() -> None:
    world = build_lab(witness=False)
    commands.remove_session(world, P, DB)
    apply_lines(world, wait_s=1.0)
    copy = world.copies[PRINCIPAL]
    policy = group_policies.get_policy(copy)
    assert (policy.get_role(copy), policy.get_state(copy), policy.get_partner(copy)) == ("", "", None)
    assert (policy.is_leader(copy), policy.is_follower(copy), policy.can_write(copy)) == (True, False, True)
    assert not policy.has_waiting_commits(world, copy)
    assert not policy.has_synchronized_copy(copy)
    assert not policy.has_stopped_log(copy)
    assert not policy.can_back_up_closed(copy)
    assert policy.can_read(copy, read_intent=True)
    assert policy.can_read(copy, read_intent=False)
    assert policy.allows_snapshot(copy) is None
    assert policy.find_log_hold(world, copy, []) is None
    assert [policy.find_backup_refusal(world, copy, log) for log in (True, False)] == [0, 0]
    assert policy.find_refusal(copy) is None
    assert (
        group_policies.list_preconditions(world, DB),
        group_policies.has_automatic_failover(world, DB),
    ) == ([], False)
    assert serving.is_serving(world, PRINCIPAL)


def test_a_failed_volume_refuses_connections_with_945() -> None:
    world = build_lab(witness=False)
    commands.remove_session(world, P, DB)
    apply_lines(world, f"fail-disk {P} {DB}", wait_s=1.0)
    copy = world.copies[PRINCIPAL]
    refusal = group_policies.get_policy(copy).find_refusal(copy)
    assert refusal is not None
    assert refusal.number == 945
    assert not serving.is_serving(world, PRINCIPAL)


def test_only_a_database_with_a_willing_target_has_automatic_failover() -> None:
    assert [
        group_policies.has_automatic_failover(build_lab(witness=witness), DB) for witness in (True, False)
    ] == [
        True,
        False,
    ]
