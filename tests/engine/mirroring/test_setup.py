"""Life cycle of a mirroring session from setup to removal, and every possible mistake in its setup."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from msgspec.structs import replace

from engine.messages import SqlError, fill_message
from engine.mirroring import commands
from engine.model import DbState, EndpointState, MirrorState, RecoveryModel, Role, World
from engine.protocol import accounts, backup, endpoints, options, statements
from tests.engine.protocol.setups import (
    DB,
    FULL,
    MIRROR,
    PRINCIPAL,
    TRN,
    M,
    P,
    W,
    build_unmirrored_world,
    copy_file,
    get_address,
    get_refusal_number,
    prepare_mirror,
    restore_full,
    restore_log,
    settle_and_run,
    start_mirroring,
    take_full_backup,
    take_log_backup,
)
from tests.engine.worlds import apply_lines, build_lab
from tests.events import read_field


def list_session_states(world: World) -> tuple[MirrorState | None, MirrorState | None]:
    return world.copies[PRINCIPAL].mirroring.state, world.copies[MIRROR].mirroring.state


def test_a_session_is_set_up_from_backup_to_witness() -> None:
    world = prepare_mirror()
    copy = world.copies[MIRROR]
    assert (copy.db_state, copy.mirroring.role, copy.restoring) == (DbState.RESTORING, None, 0)
    start_mirroring(world)
    assert list_session_states(world) == (MirrorState.SYNCHRONIZED, MirrorState.SYNCHRONIZED)
    assert world.copies[MIRROR].mirroring.role is Role.MIRROR
    commands.set_witness(world, P, DB, get_address(W))
    assert world.copies[MIRROR].mirroring.witness == W
    apply_lines(world, f"power-off {P}")
    assert world.copies[MIRROR].mirroring.role is Role.PRINCIPAL, "the witness makes it fail over by itself"


def restore_and_set_partners(world: World, *paths: str) -> int:
    """Restore *paths* on SERVER_B and execute SET PARTNER on both servers. Return the error number, or 0."""
    for path in paths:
        copy_file(world, path)
        restore_full(world, path) if path == FULL else restore_log(world, path)
    commands.set_partner(world, M, DB, get_address(P))
    return get_refusal_number(commands.set_partner, world, P, DB, get_address(M))


def test_a_full_backup_alone_does_not_include_later_log() -> None:
    # [DOC: Prepare a Mirror Database]: minimally a full backup and a subsequent log backup
    world = build_unmirrored_world()
    take_full_backup(world)
    assert restore_and_set_partners(world, FULL) == 1478
    take_log_backup(world)
    copy_file(world, TRN)
    restore_log(world)
    assert get_refusal_number(commands.set_partner, world, P, DB, get_address(M)) == 0


def test_a_copy_only_log_backup_counts_as_log() -> None:
    world = build_unmirrored_world()
    take_full_backup(world)
    take_log_backup(world, copy_only=True)
    assert restore_and_set_partners(world, FULL, TRN) == 0


@pytest.mark.parametrize("fulls", [1, 2])
def test_a_new_database_without_a_log_backup_needs_none(fulls: int) -> None:
    world = build_unmirrored_world(full_backup=False, log_backed_up=False)
    for _ in range(fulls):
        take_full_backup(world, init=True)
        settle_and_run(world, 20.0)
    assert restore_and_set_partners(world, FULL) == 0


def test_after_its_first_log_backup_a_new_database_is_like_any_other() -> None:
    world = build_unmirrored_world(full_backup=False, log_backed_up=False)
    take_full_backup(world)
    take_log_backup(world, path="D:\\first.trn")
    settle_and_run(world, 20.0)
    take_full_backup(world, init=True)
    assert restore_and_set_partners(world, FULL) == 1478


def set_recovery_model(world: World, model: str) -> None:
    options.set_option(world, P, DB, "RECOVERY", model)


def test_a_database_just_switched_from_simple_needs_no_log_backup() -> None:
    world = build_unmirrored_world()
    set_recovery_model(world, "SIMPLE")
    settle_and_run(world, 10.0)
    set_recovery_model(world, "FULL")
    take_full_backup(world)
    assert restore_and_set_partners(world, FULL) == 0


def test_switching_to_simple_breaks_the_chain_of_a_prepared_mirror() -> None:
    world = prepare_mirror()
    set_recovery_model(world, "SIMPLE")
    settle_and_run(world, 10.0)
    set_recovery_model(world, "FULL")
    assert get_refusal_number(backup.back_up_log, world, P, DB, "D:\\no.trn") == 4214
    commands.set_partner(world, M, DB, get_address(P))
    assert get_refusal_number(commands.set_partner, world, P, DB, get_address(M)) == 1412


def test_in_simple_a_full_backup_starts_no_chain_but_a_later_differential_does() -> None:
    world = build_unmirrored_world()
    set_recovery_model(world, "SIMPLE")
    take_full_backup(world)
    set_recovery_model(world, "FULL")
    assert get_refusal_number(backup.back_up_log, world, P, DB, "D:\\no.trn") == 4214
    take_full_backup(world, path="D:\\diff.bak", differential=True)
    assert get_refusal_number(backup.back_up_log, world, P, DB, "D:\\now.trn") == 0


def test_message_1478_has_its_full_text() -> None:
    _, text = fill_message(1478, DB)
    assert "has not been taken or has not been restored on the mirror database." in text


def test_an_unrestored_log_backup_is_missing() -> None:
    world = build_unmirrored_world()
    take_full_backup(world)
    settle_and_run(world, 30.0)
    take_log_backup(world)
    copy_file(world, FULL)
    restore_full(world)
    commands.set_partner(world, M, DB, get_address(P))
    with pytest.raises(SqlError) as problem:
        commands.set_partner(world, P, DB, get_address(M))
    assert (problem.value.number, problem.value.state) == (1412, 0)
    copy_file(world, TRN)
    restore_log(world)
    assert get_refusal_number(commands.set_partner, world, P, DB, get_address(M)) == 0


def test_after_partner_off_a_log_backup_must_be_restored_before_mirroring_restarts() -> None:
    world = prepare_mirror()
    start_mirroring(world)
    commands.remove_session(world, P, DB)
    assert world.copies[MIRROR].db_state is DbState.RESTORING
    settle_and_run(world, 30.0)
    take_log_backup(world, path="D:\\later.trn")
    commands.set_partner(world, M, DB, get_address(P))
    assert get_refusal_number(commands.set_partner, world, P, DB, get_address(M)) == 1478
    copy_file(world, "D:\\later.trn")
    restore_log(world, "D:\\later.trn")
    commands.set_partner(world, P, DB, get_address(M))
    settle_and_run(world, 20.0)
    assert list_session_states(world) == (MirrorState.SYNCHRONIZED, MirrorState.SYNCHRONIZED)


def test_after_partner_off_without_a_log_backup_mirroring_restarts_at_once() -> None:
    world = prepare_mirror()
    start_mirroring(world)
    commands.remove_session(world, P, DB)
    settle_and_run(world, 30.0)
    start_mirroring(world)
    assert list_session_states(world) == (MirrorState.SYNCHRONIZED, MirrorState.SYNCHRONIZED)


def test_a_diverged_copy_cannot_become_the_mirror() -> None:
    world = prepare_mirror()
    start_mirroring(world)
    commands.remove_session(world, P, DB)
    finish_open = statements.restore_without_backup(world, M, DB)
    assert isinstance(finish_open, statements.PendingStatement)
    settle_and_run(world, 2.0)
    statements.COMPLETION_HANDLERS[finish_open.handler](world, M, *finish_open.args)
    settle_and_run(world, 5.0)
    take_log_backup(world, M, "D:\\tail.trn", norecovery=True)
    assert world.copies[MIRROR].db_state is DbState.RESTORING
    commands.set_partner(world, M, DB, get_address(P))
    assert get_refusal_number(commands.set_partner, world, P, DB, get_address(M)) == 1412


def test_the_future_mirror_remembers_its_principal_until_off() -> None:
    world = prepare_mirror()
    commands.set_partner(world, M, DB, get_address(W))
    assert get_refusal_number(commands.set_partner, world, M, DB, get_address(P)) == 1405
    assert get_refusal_number(commands.set_partner, world, P, DB, get_address(M)) == 1418, (
        "it calls back elsewhere"
    )
    commands.remove_session(world, M, DB)
    start_mirroring(world)
    assert list_session_states(world)[0] is MirrorState.SYNCHRONIZED


WorldChange = Callable[[World], object]

INVALID_STATEMENTS: dict[str, tuple[WorldChange, int, str, str]] = {
    # problem -> (setup of the problem, message number, server of the statement, partner's address)
    "mirror not told first": (lambda w: None, 1416, P, get_address(M)),
    "partner is itself": (lambda w: None, 1452, P, get_address(P)),
    "no address": (lambda w: None, 1449, P, "SERVER_B:5022"),
    "another port": (lambda w: None, 1418, P, "TCP://SERVER_B:5023"),
    "no such host": (lambda w: None, 1418, P, "TCP://SERVER_X:5022"),
    "endpoint stopped": (
        lambda w: endpoints.alter_endpoint(w, M, "Mirroring", state="STOPPED"),
        1418,
        P,
        get_address(M),
    ),
    "no endpoint here": (lambda w: endpoints.drop_endpoint(w, P, "Mirroring"), 1418, P, get_address(M)),
    "endpoint of a witness": (
        lambda w: endpoints.alter_endpoint(w, M, "Mirroring", role="WITNESS"),
        1418,
        P,
        get_address(M),
    ),
    "encryption": (
        lambda w: endpoints.alter_endpoint(w, M, "Mirroring", encryption="DISABLED"),
        1418,
        P,
        get_address(M),
    ),
    "firewall": (lambda w: apply_lines(w, f"close-firewall {M} 5022"), 1418, P, get_address(M)),
    "server off": (lambda w: apply_lines(w, f"power-off {M}"), 1418, P, get_address(M)),
    "simple recovery": (
        lambda w: w.update_copy(PRINCIPAL, recovery_model=RecoveryModel.SIMPLE),
        1465,
        P,
        get_address(M),
    ),
    "mirror of other lineage": (
        lambda w: (w.update_copy(MIRROR, family=99), commands.set_partner(w, M, DB, get_address(P))),
        1436,
        P,
        get_address(M),
    ),
    "mirror online": (
        lambda w: (w.update_copy(MIRROR, db_state=DbState.ONLINE), w.update_mirroring(MIRROR, partner=P)),
        1464,
        P,
        get_address(M),
    ),
    "mirror missing": (lambda w: w.copies.pop(MIRROR), 1448, P, get_address(M)),
    "other edition": (
        lambda w: (commands.set_partner(w, M, DB, get_address(P)), w.update_instance(M, edition="Standard")),
        1463,
        P,
        get_address(M),
    ),
    "express": (lambda w: w.update_instance(P, edition="Express"), 1463, P, get_address(M)),
    "older mirror": (
        lambda w: (commands.set_partner(w, M, DB, get_address(P)), w.update_instance(P, version=2008)),
        1415,
        P,
        get_address(M),
    ),
}


@pytest.mark.parametrize("case", INVALID_STATEMENTS)
def test_invalid_set_partner_statements_are_refused_by_number(case: str) -> None:
    world = PREPARED_WORLD.fork()
    spoil, number, server, endpoint = INVALID_STATEMENTS[case]
    spoil(world)
    assert get_refusal_number(commands.set_partner, world, server, DB, endpoint) == number
    assert world.copies[PRINCIPAL].mirroring.guid is None


PREPARED_WORLD = prepare_mirror()


def test_the_partner_must_be_able_to_connect_back() -> None:
    world = PREPARED_WORLD.fork()
    commands.set_partner(world, M, DB, get_address(P))
    apply_lines(world, f"close-firewall {P} 5022")
    assert get_refusal_number(commands.set_partner, world, P, DB, get_address(M)) == 1418


def test_set_witness_needs_all_three_connected_and_an_endpoint() -> None:
    world = build_lab(witness=False)
    endpoints.alter_endpoint(world, W, "Mirroring", state="STOPPED")
    assert get_refusal_number(commands.set_witness, world, P, DB, get_address(W)) == 1456
    endpoints.alter_endpoint(world, W, "Mirroring", state="STARTED", role="PARTNER")
    assert get_refusal_number(commands.set_witness, world, P, DB, get_address(W)) == 1427
    endpoints.alter_endpoint(world, W, "Mirroring", role="WITNESS")
    apply_lines(world, f"cut {M} {W}")
    assert get_refusal_number(commands.set_witness, world, P, DB, get_address(W)) == 1426
    apply_lines(world, f"mend {M} {W}")
    assert get_refusal_number(commands.set_witness, world, P, DB, get_address(M)) == 1429
    assert get_refusal_number(commands.set_witness, world, M, DB, get_address(W)) == 1470
    commands.set_witness(world, P, DB, get_address(W))
    assert get_refusal_number(commands.set_witness, world, P, DB, get_address(W)) == 1446


def create_certificates(world: World, *, grant: bool = True) -> None:
    """Create endpoints with certificate authentication, and exchange the certificates between all three
    servers.
    """
    for me in (P, M, W):
        accounts.create_master_key(world, me)
        accounts.create_certificate(world, me, f"{me}_cert", subject=me)
        accounts.back_up_certificate(world, me, f"{me}_cert", f"D:\\{me}.cer")
        endpoints.alter_endpoint(
            world,
            me,
            "Mirroring",
            authentication="CERTIFICATE",
            certificate=f"{me}_cert",
            algorithms=("AES",),
        )
    for me in (P, M, W):
        for peer in (P, M, W):
            if peer != me:
                copy_file(world, f"D:\\{peer}.cer", peer, me)
                accounts.create_login(world, me, f"{peer}_login", password="Secret#1")
                accounts.create_user(world, me, "master", f"{peer}_user", login=f"{peer}_login")
                accounts.create_certificate(
                    world, me, f"{peer}_cert", owner=f"{peer}_user", file=f"D:\\{peer}.cer"
                )
                if grant:
                    endpoints.change_connect_permission(world, me, "Mirroring", "GRANT", (f"{peer}_login",))


def test_a_session_with_certificates_between_untrusted_domains_works() -> None:
    world = prepare_mirror()
    for number, name in enumerate((P, M, W)):
        world.update_computer(name, domain=f"DOMAIN{number}")
        world.update_instance(name, service_account=f"DOMAIN{number}\\sql")
    commands.set_partner(world, M, DB, get_address(P))
    assert get_refusal_number(commands.set_partner, world, P, DB, get_address(M)) == 1418
    create_certificates(world)
    commands.set_partner(world, P, DB, get_address(M))
    settle_and_run(world, 20.0)
    commands.set_witness(world, P, DB, get_address(W))
    assert world.copies[PRINCIPAL].mirroring.witness == W
    assert list_session_states(world) == (MirrorState.SYNCHRONIZED, MirrorState.SYNCHRONIZED)


def test_a_missing_grant_is_logged_by_the_acceptor() -> None:
    world = prepare_mirror()
    create_certificates(world, grant=False)
    commands.set_partner(world, M, DB, get_address(P))
    assert get_refusal_number(commands.set_partner, world, P, DB, get_address(M)) == 1418
    log_events = [e for e in settle_and_run(world, 1.0) if e.kind == "errorlog" and e.server == M]
    assert [read_field(e, "number") for e in log_events] == [28048]
    assert (
        "The login 'SERVER_A_login' does not have CONNECT permission on the endpoint. State 84."
        in log_events[0].text
    )


def test_changing_encryption_in_two_steps_keeps_the_session() -> None:
    # [WP, endpoint encryption]: DISABLED to SUPPORTED everywhere, then to REQUIRED everywhere.
    world = build_lab()
    for name, server in world.instances.items():
        assert server.endpoint is not None
        world.update_instance(name, endpoint=replace(server.endpoint, encryption="DISABLED"))
    for level in ("SUPPORTED", "REQUIRED"):
        for name in (W, M, P):
            endpoints.alter_endpoint(world, name, "Mirroring", encryption=level)
            settle_and_run(world, 10.0)
            assert list_session_states(world) == (MirrorState.SYNCHRONIZED, MirrorState.SYNCHRONIZED), (
                name,
                level,
            )
    assert world.copies[PRINCIPAL].mirroring.role is Role.PRINCIPAL, (
        "no change was long enough for a failover"
    )
    assert world.failovers == [] or all(failover.canceled for failover in world.failovers)


def test_changing_encryption_in_one_step_breaks_the_session() -> None:
    world = build_lab(witness=False)
    for name, server in world.instances.items():
        assert server.endpoint is not None
        world.update_instance(name, endpoint=replace(server.endpoint, encryption="DISABLED"))
    endpoints.alter_endpoint(world, M, "Mirroring", encryption="REQUIRED")
    events = settle_and_run(world, 60.0)
    assert list_session_states(world) == (MirrorState.DISCONNECTED, MirrorState.DISCONNECTED)
    refused = [e.server for e in events if e.kind == "errorlog" and read_field(e, "number") in (28047, 28048)]
    assert sorted(str(server) for server in refused) == [P, M], "once for each acceptor, not each second"
    endpoints.alter_endpoint(world, P, "Mirroring", encryption="SUPPORTED")
    settle_and_run(world, 20.0)
    assert list_session_states(world) == (MirrorState.SYNCHRONIZED, MirrorState.SYNCHRONIZED)


def test_stopping_the_mirrors_endpoint_disconnects_cleanly() -> None:
    world = build_lab()
    endpoints.alter_endpoint(world, M, "Mirroring", state="STOPPED")
    settle_and_run(world, 5.0)
    assert list_session_states(world) == (MirrorState.DISCONNECTED, MirrorState.DISCONNECTED)
    assert world.clients["APP"].connected_to == P, "clients go on"
    end = world.instances[M].endpoint
    assert end is not None
    assert end.state is EndpointState.STOPPED
    endpoints.alter_endpoint(world, M, "Mirroring", state="STARTED")
    settle_and_run(world, 10.0)
    assert list_session_states(world) == (MirrorState.SYNCHRONIZED, MirrorState.SYNCHRONIZED)


@pytest.mark.parametrize(
    "wrong_address", ["TCP://SERVER_A:5023", "TCP://NOBODY:5022", "TCP://10.0.0.11:5022"]
)
def test_a_wrong_address_on_the_mirror_prevents_the_session(wrong_address: str) -> None:
    """The mirror calls a wrong address: error 1418 at the principal, 1474 in the error log of the mirror, no
    session.
    """
    world = PREPARED_WORLD.fork()
    commands.set_partner(world, M, DB, wrong_address)
    assert get_refusal_number(commands.set_partner, world, P, DB, get_address(M)) == 1418
    assert any(line[1] == 1474 and wrong_address in line[4] for line in world.errorlog[M])
    assert world.copies[PRINCIPAL].mirroring.guid is None


def test_an_endpoint_with_an_ip_address_is_reachable_by_that_address() -> None:
    world = PREPARED_WORLD.fork()
    endpoints.alter_endpoint(world, M, "Mirroring", ip="10.0.0.12")
    commands.set_partner(world, M, DB, get_address(P))
    assert get_refusal_number(commands.set_partner, world, P, DB, "TCP://10.0.0.12:5022") == 0
    settle_and_run(world, 10.0)
    assert world.copies[MIRROR].mirroring.state is MirrorState.SYNCHRONIZED


@pytest.mark.parametrize("ip", ["10.0.0.99", "127.0.0.1"])
def test_an_endpoint_with_a_foreign_ip_address_is_unreachable(ip: str) -> None:
    world = PREPARED_WORLD.fork()
    endpoints.alter_endpoint(world, M, "Mirroring", ip=ip)
    assert get_refusal_number(commands.set_partner, world, P, DB, get_address(M)) == 1418


def test_new_ports_on_both_sides_separate_the_partners_until_one_is_reverted() -> None:
    """One correct address is enough for a connection. With two wrong addresses, the partners never connect."""
    world = build_lab(witness=False)
    endpoints.alter_endpoint(world, M, "Mirroring", port=7022)
    settle_and_run(world, 5.0)
    assert world.copies[PRINCIPAL].mirroring.state is MirrorState.SYNCHRONIZED
    endpoints.alter_endpoint(world, P, "Mirroring", port=7022)
    settle_and_run(world, 60.0)
    assert world.copies[PRINCIPAL].mirroring.state is MirrorState.DISCONNECTED
    assert any(line[1] == 1474 and "10061" in line[4] for line in world.errorlog[P])
    endpoints.alter_endpoint(world, P, "Mirroring", port=5022)
    settle_and_run(world, 5.0)
    assert world.copies[PRINCIPAL].mirroring.state is MirrorState.SYNCHRONIZED
