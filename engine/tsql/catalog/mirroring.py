"""Views about mirroring: sessions, witness records, endpoints and connections, as each server knows them."""

from collections.abc import Iterable
from typing import Final

from engine.identifiers import make_unique_id
from engine.mirroring import quorum
from engine.model import DatabaseCopy, Endpoint, EndpointState, MirrorState, Role, Safety, WitnessState
from engine.protocol.lineage import format_lsn
from engine.tsql.batches.context import SYSTEM_DATABASES, StatementContext
from engine.tsql.catalog.databases import get_end_of_log_kb
from engine.tsql.catalog.shapes import find_literal_columns
from engine.tsql.catalog.view import Record, register_view


def _find_failover_lsn_kb(context: StatementContext, copy: DatabaseCopy) -> float:
    """Return the position in KB up to which both partners have hardened the log, as far as this server knows."""
    world = context.world
    source = world.find_source_of(copy)
    if source is None or not quorum.is_connected_to_partner(world, copy):
        return copy.mirroring.failover_lsn_kb
    flushed_kb = world.flow.read_source_positions(source).flushed_kb
    if copy.stream is not None:
        return min(flushed_kb, world.flow.read_stream_positions(copy.stream).hardened_kb)
    positions = [
        world.flow.read_stream_positions(stream) for stream in world.flow.list_source_streams(source)
    ]
    return min([flushed_kb, *(stream_position.acknowledged_kb for stream_position in positions)])


def _build_session_row(context: StatementContext, copy: DatabaseCopy) -> Record:
    if copy.mirroring.guid is None or copy.mirroring.role is None or copy.mirroring.state is None:
        return {"database_id": copy.database_id}
    return {
        "database_id": copy.database_id,
        "mirroring_guid": make_unique_id("session", copy.mirroring.guid),
        "mirroring_state": int(copy.mirroring.state),
        "mirroring_state_desc": MirrorState(copy.mirroring.state).name,
        "mirroring_role": int(copy.mirroring.role),
        "mirroring_role_desc": Role(copy.mirroring.role).name,
        "mirroring_role_sequence": copy.mirroring.role_sequence,
        "mirroring_safety_level": int(copy.mirroring.safety),
        "mirroring_safety_level_desc": Safety(copy.mirroring.safety).name,
        "mirroring_safety_sequence": copy.mirroring.safety_sequence,
        "mirroring_partner_name": copy.mirroring.partner_address,
        "mirroring_partner_instance": copy.mirroring.partner,
        "mirroring_witness_name": copy.mirroring.witness_address or "",
        "mirroring_witness_state": int(copy.mirroring.witness_state),
        "mirroring_witness_state_desc": WitnessState(copy.mirroring.witness_state).name,
        "mirroring_failover_lsn": format_lsn(_find_failover_lsn_kb(context, copy)),
        "mirroring_connection_timeout": copy.mirroring.timeout_s,
        "mirroring_redo_queue": None,
        "mirroring_redo_queue_type": "UNLIMITED",
        "mirroring_end_of_log_lsn": format_lsn(get_end_of_log_kb(context, copy)),
        "mirroring_replication_lsn": format_lsn(_find_failover_lsn_kb(context, copy)),
    }


def _list_mirrored_databases(context: StatementContext) -> Iterable[Record]:
    for number in SYSTEM_DATABASES.values():
        yield {"database_id": number}
    for copy in context.list_copies():
        yield _build_session_row(context, copy)


register_view("sys.database_mirroring", _list_mirrored_databases)


def _list_witness_records(context: StatementContext) -> Iterable[Record]:
    own_records = [
        (key, record) for key, record in context.world.witnesses.items() if key[0] == context.session.server
    ]
    for (_, guid), record in sorted(own_records, key=lambda item: item[0]):
        is_exposed = record.exposed or record.suspended
        yield {
            "database_name": record.database,
            "principal_server_name": record.principal,
            "mirror_server_name": record.mirror,
            "safety_level": int(record.safety),
            "safety_level_desc": record.safety.name,
            "safety_sequence_number": record.safety_sequence,
            "role_sequence_number": record.role_sequence,
            "mirroring_guid": make_unique_id("session", guid),
            "family_guid": make_unique_id("session family", guid),
            "is_suspended": int(record.suspended),
            "is_suspended_sequence_number": 1,
            "partner_sync_state": 6 if is_exposed else 5,
            "partner_sync_state_desc": "UNSYNCHRONIZED" if is_exposed else "SYNCHRONIZED",
        }


register_view("sys.database_mirroring_witnesses", _list_witness_records)


# --- endpoints -------------------------------------------------------------------------------------------

_ENDPOINT_ROLES: Final = {"NONE": 0, "PARTNER": 1, "WITNESS": 2, "ALL": 3}
"""Role of an endpoint -> number."""
_AUTHENTICATION_METHODS: Final = {
    "WINDOWS NTLM": (1, "NTLM"),
    "WINDOWS KERBEROS": (2, "KERBEROS"),
    "WINDOWS NEGOTIATE": (3, "NEGOTIATE"),
    "CERTIFICATE": (4, "CERTIFICATE"),
    "WINDOWS NTLM CERTIFICATE": (5, "NTLM, CERTIFICATE"),
    "WINDOWS KERBEROS CERTIFICATE": (6, "KERBEROS, CERTIFICATE"),
    "WINDOWS NEGOTIATE CERTIFICATE": (7, "NEGOTIATE, CERTIFICATE"),
    "CERTIFICATE WINDOWS NTLM": (8, "CERTIFICATE, NTLM"),
    "CERTIFICATE WINDOWS KERBEROS": (9, "CERTIFICATE, KERBEROS"),
    "CERTIFICATE WINDOWS NEGOTIATE": (10, "CERTIFICATE, NEGOTIATE"),
}
_ENCRYPTION_ALGORITHMS: Final = {
    (): (0, "NONE"),
    ("RC4",): (1, "RC4"),
    ("AES",): (2, "AES"),
    ("NONE", "RC4"): (3, "NONE, RC4"),
    ("NONE", "AES"): (4, "NONE, AES"),
    ("RC4", "AES"): (5, "RC4, AES"),
    ("AES", "RC4"): (6, "AES, RC4"),
    ("NONE", "RC4", "AES"): (7, "NONE, RC4, AES"),
    ("NONE", "AES", "RC4"): (8, "NONE, AES, RC4"),
}


def _build_endpoint_base(endpoint: Endpoint) -> Record:
    return {
        "name": endpoint.name,
        **find_literal_columns("mirroring._build_endpoint_base"),
        "state": int(endpoint.state),
        "state_desc": EndpointState(endpoint.state).name,
    }


_BUILT_IN_ENDPOINTS: Final = (
    (1, "Dedicated Admin Connection", 2, "TCP", 1),
    (2, "TSQL Local Machine", 4, "SHARED_MEMORY", 0),
    (3, "TSQL Named Pipes", 3, "NAMED_PIPES", 0),
    (4, "TSQL Default TCP", 2, "TCP", 0),
    (5, "TSQL Default VIA", 5, "VIA", 0),
)


def _list_endpoints(context: StatementContext) -> Iterable[Record]:
    for number, name, protocol, protocol_name, admin in _BUILT_IN_ENDPOINTS:
        yield {
            "name": name,
            "endpoint_id": number,
            **find_literal_columns("mirroring._list_endpoints"),
            "protocol": protocol,
            "protocol_desc": protocol_name,
            "is_admin_endpoint": admin,
        }
    if context.server.endpoint is not None:
        yield _build_endpoint_base(context.server.endpoint)


def _list_mirroring_endpoints(context: StatementContext) -> Iterable[Record]:
    endpoint = context.server.endpoint
    if endpoint is None:
        return
    algorithms_by_mode = {"DISABLED": ("NONE",), "SUPPORTED": ("NONE", *endpoint.algorithms)}
    names = (
        ()
        if endpoint.encryption == "DISABLED"
        else algorithms_by_mode.get(endpoint.encryption, endpoint.algorithms)
    )
    algorithm = _ENCRYPTION_ALGORITHMS.get(names, (0, ", ".join(names)))
    authentication = _AUTHENTICATION_METHODS.get(endpoint.authentication, (3, endpoint.authentication))
    numbers = {item.name: index for index, item in enumerate(context.server.certificates, start=257)}
    yield {
        **_build_endpoint_base(endpoint),
        "role": _ENDPOINT_ROLES.get(endpoint.role, 0),
        "role_desc": endpoint.role,
        "is_encryption_enabled": int(endpoint.encryption != "DISABLED"),
        "connection_auth": authentication[0],
        "connection_auth_desc": authentication[1],
        "certificate_id": numbers.get(endpoint.certificate or "", 0),
        "encryption_algorithm": algorithm[0],
        "encryption_algorithm_desc": algorithm[1],
    }


def list_tcp_endpoints(context: StatementContext) -> Iterable[Record]:
    """Yield the rows of sys.tcp_endpoints."""
    ports = {1: (0, 1), 4: (0, 0)}
    for row in _list_endpoints(context):
        if row["protocol"] != 2:
            continue
        number = int(str(row["endpoint_id"]))
        endpoint = context.server.endpoint
        mirroring = number == 65536 and endpoint is not None
        yield {
            **row,
            "port": endpoint.port if mirroring and endpoint is not None else ports[number][0],
            "is_dynamic_port": 0 if mirroring else ports[number][1],
            "ip_address": endpoint.ip
            if mirroring and endpoint is not None and endpoint.ip != "ALL"
            else None,
        }


register_view("sys.endpoints", _list_endpoints)
register_view("sys.database_mirroring_endpoints", _list_mirroring_endpoints)
register_view("sys.tcp_endpoints", list_tcp_endpoints)


# --- connections, page repair ----------------------------------------------------------------------------


def _get_authentication_method(endpoint: Endpoint | None) -> str:
    """Return the authentication method of a connection, which the endpoint determines."""
    words = endpoint.authentication.split() if endpoint is not None else []
    if words[:1] == ["CERTIFICATE"]:
        return "Certificate"
    return {"NTLM": "NTLM", "KERBEROS": "Kerberos"}.get("".join(words[1:2]), "Microsoft Negotiate")


def _list_connections(context: StatementContext) -> Iterable[Record]:
    """Yield one row for each connected instance. All mirroring sessions of two instances share one row."""
    world, own_server = context.world, context.session.server
    ticks_by_peer: dict[str, int] = {}
    for (_, server, peer), contact in world.contacts.items():
        if server == own_server and contact.connected:
            ticks_by_peer[peer] = max(ticks_by_peer.get(peer, 0), contact.since_tick)
    endpoint = context.server.endpoint
    for peer, tick in sorted(ticks_by_peer.items()):
        encrypted = endpoint is not None and endpoint.encryption != "DISABLED"
        algorithm = (
            _ENCRYPTION_ALGORITHMS[endpoint.algorithms[:1]]
            if encrypted and endpoint is not None
            else (0, "NONE")
        )
        yield {
            "connection_id": make_unique_id("connection", own_server, peer, tick),
            "transport_stream_id": make_unique_id("stream", own_server, peer, tick),
            **find_literal_columns("mirroring._list_connections"),
            "connect_time": context.get_datetime_value(tick),
            "login_time": context.get_datetime_value(tick),
            "authentication_method": _get_authentication_method(endpoint),
            "principal_name": world.instances[peer].service_account,
            "remote_user_name": world.instances[peer].service_account,
            "last_activity_time": context.get_datetime_value(world.tick - world.tick % 100),
            "is_accept": int(own_server > peer),
            "encryption_algorithm": algorithm[0],
            "encryption_algorithm_desc": algorithm[1],
            "total_bytes_sent": _sum_bytes_sent(context, peer),
        }


def _sum_bytes_sent(context: StatementContext, peer: str) -> int:
    """Return the bytes of log that the principals on this instance have sent to *peer*."""
    total_kb = 0.0
    for copy in context.list_copies():
        if copy.mirroring.partner == peer and copy.source is not None:
            flow = context.world.flow
            for stream in flow.list_source_streams(copy.source):
                total_kb += flow.read_stream_positions(stream).sent_kb
    return int(total_kb * 1024)


register_view("sys.dm_db_mirroring_connections", _list_connections)


def list_page_repairs(context: StatementContext, only_groups: bool = False) -> Iterable[Record]:
    """Yield the page repairs of mirrored databases, or with *only_groups* those of availability groups."""
    for copy in context.list_copies():
        for repair in copy.page_repairs if (copy.availability.guid is not None) is only_groups else ():
            yield {
                "database_id": copy.database_id,
                "file_id": repair.file,
                "page_id": repair.page,
                "error_type": repair.error_type,
                "page_status": repair.status,
                "modification_time": context.get_datetime_value(repair.tick),
            }


register_view("sys.dm_db_mirroring_auto_page_repair", list_page_repairs)
