"""Facts of a run that conditions can test: state of the world, availability, and sent batches."""

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Final, Literal

from msgspec import Struct

from engine.availability.policy import RECORDED_READY_STATE
from engine.cluster import config
from engine.drill.team.calls import TeamCalls
from engine.events import Event, PowerShellData, SqlDoneData
from engine.flow import NO_STREAM_NUMBERS, StreamNumbers
from engine.mirroring import prerequisites
from engine.model import (
    DatabaseCopy,
    DbState,
    Endpoint,
    Instance,
    MirrorState,
    ReplicaRole,
    Role,
    SyncState,
    Tick,
    WitnessState,
    World,
)
from engine.protocol import availability, group_policies, security, streams
from engine.tsql.batches.work import ResultCache

ObjectKind = Literal["database", "server", "client", "program", "role"]
"""Kind of object that a condition can name."""


class SentBatch(Struct, frozen=True, gc=False):
    """Text and error numbers of a batch or PowerShell line that was sent, for tests by conditions.

    Messages and result sets are stored only in the event of the batch.
    """

    tick: Tick
    server: str | None
    """Server that received the batch, or node on which the PowerShell line was typed."""
    text: str
    errors: list[int]
    """Error numbers; [0] for a refused PowerShell line."""


class ConditionContext(Struct, frozen=True):
    """State of a run that conditions can test: the current world and parts of its past."""

    world: World
    batches: Sequence[SentBatch]
    """The trainee's batches and prompt lines, oldest first."""
    operations: Sequence[Event] = ()
    """Completed long operations (bulk loads, index rebuilds), oldest first."""
    calls: TeamCalls = ()
    """Orders and questions between the roles of a team."""

    def list_serving_copies(self, database: str) -> list[DatabaseCopy]:
        """Return the copies of *database* that clients can use."""
        return availability.list_serving_copies(self.world, database)

    def find_leading_copy(self, database: str) -> DatabaseCopy | None:
        """Return the leading copy of *database* in this context; None if the database has no copy."""
        return find_leading_copy(self.world, database, self.list_serving_copies(database))

    def find_log_numbers(self, database: str) -> StreamNumbers:
        """Return the numbers of the log source and of the stream that the leading copy of *database* uses.

        A number is -1 if there is none.
        """
        copy = self.find_leading_copy(database)
        copies = [copy] if copy is not None else self.world.list_copies_of(database)
        logging_copies = (copy for copy in copies if self.world.find_source_of(copy) is not None)
        return (
            next((streams.find_stream_numbers(self.world, copy) for copy in logging_copies), None)
            or NO_STREAM_NUMBERS
        )


class ConditionNames(Struct, frozen=True):
    """Names that a condition may use, as the scenario spells them."""

    databases: tuple[str, ...]
    servers: tuple[str, ...]
    clients: tuple[str, ...]
    computers: tuple[str, ...] = ()
    """Computers without their own instance: file servers, and nodes of failover cluster instances."""
    programs: tuple[str, ...] = ()
    """External programs."""
    roles: tuple[str, ...] = ()
    """Keys of the roles of a team."""

    def list_names(self, kind: ObjectKind) -> tuple[str, ...]:
        """Return the names of all objects of *kind*."""
        return {
            "database": self.databases,
            "server": (*self.servers, *self.computers),
            "client": self.clients,
            "program": self.programs,
            "role": self.roles,
        }[kind]


def find_leading_copy(
    world: World, database: str, serving_copies: Iterable[DatabaseCopy] | None = None
) -> DatabaseCopy | None:
    """Return the leading copy of *database*; None if the database has no copy.

    Order of preference: a serving copy, a principal or primary, a copy without a partner, any other
    copy. *serving_copies*: copies that clients can use; None means that they are determined here.
    """
    copies = world.list_copies_of(database)
    if serving_copies is None:
        serving_copies = availability.list_serving_copies(world, database)
    serving = {copy.server for copy in serving_copies}

    def rank_copy(copy: DatabaseCopy) -> tuple[bool, bool, bool, int]:
        """Return a sort key of a copy: the leading copy has the largest key."""
        return (
            copy.server in serving,
            copy.group is not None and group_policies.get_policy(copy).is_leader(copy),
            copy.group is None,
            group_policies.get_policy(copy).get_role_sequence(copy),
        )

    return max(copies, key=rank_copy, default=None)


# --- words after `is` ---------------------------------------------------------------------------------------

NO_SESSION_STATE: Final = "NONE"
"""Word that conditions use for the state of a copy without a session or availability group."""
ARMED_STATE: Final = "ARMED"
"""Word "ARMED" in conditions: a loss of the principal would now lead to an automatic failover."""

GROUP_STATE_WORDS: Final = (*ReplicaRole.__members__, *SyncState.__members__, RECORDED_READY_STATE)
"""Words that conditions can use for the state of a copy in an availability group."""
DATABASE_STATE_WORDS: Final = tuple(
    dict.fromkeys((*MirrorState.__members__, *SyncState.__members__, ARMED_STATE, NO_SESSION_STATE))
)
"""Words that conditions can use for the state of a database."""
COPY_STATE_WORDS: Final = tuple(
    dict.fromkeys(
        (
            *Role.__members__,
            *MirrorState.__members__,
            *DbState.__members__,
            *GROUP_STATE_WORDS,
            NO_SESSION_STATE,
            "ABSENT",
        )
    )
)
"""Words that conditions can use for the state of a database copy. ABSENT: the server has no copy."""
WITNESS_STATE_WORDS: Final = (*WitnessState.__members__, NO_SESSION_STATE)
"""Words that conditions can use for the state of a session's witness."""
SAFETY_LEVEL_WORDS: Final = ("OFF", "FULL", NO_SESSION_STATE)
"""Words that conditions can use for the safety of a session."""
CLIENT_STATE_WORDS: Final = ("CONNECTED",)
"""Words that conditions can use for the state of a client."""
SERVER_STATE_TESTS: Final[dict[str, Callable[[World, str], bool]]] = {
    "RUNNING": lambda world, name: _has_instance_state(world, name, lambda one: one.answering),
    "STOPPED": lambda world, name: (
        world.get_computer(name).powered and _has_instance_state(world, name, lambda one: not one.running)
    ),
    "OFF": lambda world, name: not world.get_computer(name).powered,
    "HUNG": lambda world, name: _has_instance_state(world, name, lambda one: one.hung),
    "UNPLUGGED": lambda world, name: not world.get_computer(name).nic_up,
    "LISTENING": lambda world, name: _has_instance_state(world, name, security.is_listening),
    "ENCRYPTING": lambda world, name: _has_instance_state(
        world, name, lambda one: _requires_encryption(one.endpoint)
    ),
    "MEMBER": lambda world, name: _is_cluster_member(world, name),
    "VOTING": lambda world, name: (
        _is_cluster_member(world, name) and name in world.nodes[world.get_computer(name).name].config.counted
    ),
}
"""State word -> function that tests whether a server is in this state.

MEMBER: the server's node is in a cluster with quorum. VOTING: in addition, the node's vote counts.
"""


def _has_instance_state(world: World, name: str, predicate: Callable[[Instance], bool]) -> bool:
    """Return whether the instance *name* meets *predicate*; False for a computer without an instance."""
    return name in world.instances and predicate(world.instances[name])


def _is_cluster_member(world: World, name: str) -> bool:
    node = world.nodes.get(world.get_computer(name).name)
    return node is not None and bool(node.partition) and config.is_running(world, node)


def _requires_encryption(endpoint: Endpoint | None) -> bool:
    return endpoint is not None and endpoint.encryption == "REQUIRED"


def is_database_in_state(context: ConditionContext, database: str, state: str) -> bool:
    """Evaluate `Sales is SYNCHRONIZED` (the state of the leading copy) or `Sales is ARMED`."""
    if state == ARMED_STATE:
        return group_policies.has_automatic_failover(context.world, database)
    return _get_copy_state_word(context.find_leading_copy(database)) == state


def get_state_word(world: World, database: str) -> str:
    """Return the session or group state of *database*, as its leading copy knows it.

    The result is "NONE" if the copy has no session and no group.
    """
    return _get_copy_state_word(find_leading_copy(world, database))


def _get_copy_state_word(copy: DatabaseCopy | None) -> str:
    if copy is None or copy.group is None:
        return NO_SESSION_STATE
    return group_policies.get_policy(copy).get_database_state(copy)


def is_copy_in_state(context: ConditionContext, database: str, server: str, state: str) -> bool:
    """Evaluate `Sales on SERVER_B is PRINCIPAL`: the role, mirroring state or database state of one copy."""
    copy = context.world.copies.get((server, database))
    if copy is None:
        return state == "ABSENT"
    if copy.group is None and state == NO_SESSION_STATE:
        return True
    return state in group_policies.get_policy(copy).collect_state_names(context.world, copy)


def is_database_served(context: ConditionContext, database: str, server: str | None) -> bool:
    """Evaluate `Sales serves [on SERVER_B]`: clients can reach the database and use it."""
    serving = context.list_serving_copies(database)
    return bool(serving) if server is None else any(copy.server == server for copy in serving)


def is_witness_in_state(context: ConditionContext, database: str, state: str) -> bool:
    """Evaluate `Sales witness is CONNECTED`, as the principal knows it."""
    copy = context.find_leading_copy(database)
    return state == (
        (prerequisites.get_witness_state_desc(copy) if copy is not None else "") or NO_SESSION_STATE
    )


def is_safety_level(context: ConditionContext, database: str, level: str) -> bool:
    """Evaluate `Sales safety is FULL`, as the principal knows it."""
    copy = context.find_leading_copy(database)
    return level == ((prerequisites.get_safety_desc(copy) if copy is not None else "") or NO_SESSION_STATE)


def is_instance_on_node(world: World, instance: str, computer: str) -> bool:
    """Evaluate `SQLFCI1 on NODE_2 is RUNNING`: the instance runs on this node."""
    return instance in world.instances and world.instances[instance].computer == computer


def is_client_connected(context: ConditionContext, client: str, server: str | None) -> bool:
    """Evaluate `APP [on SERVER_B] is CONNECTED`."""
    connected = context.world.clients[client].connected_to
    return connected is not None and server in (None, connected)


# --- batches that were sent ---------------------------------------------------------------------------------


def has_sent_batch(context: ConditionContext, text: str, server: str | None, without_error: bool) -> bool:
    """Return whether a batch contains *text* outside comments and literals.

    *server*: None means any server. *without_error*: True to ignore batches with errors.
    """
    normalized, keep_literals = normalize_sql(text, keep_literals=True), "'" in text
    for batch in context.batches:
        if (
            server in (None, batch.server)
            and normalized in normalize_sql(batch.text, keep_literals)
            and not (without_error and batch.errors)
        ):
            return True
    return False


def has_error(context: ConditionContext, number: int, server: str | None) -> bool:
    """Return whether a batch had error *number*. *server*: None means any server."""
    return any(server in (None, batch.server) and number in batch.errors for batch in context.batches)


# --- text, errors and origin of batches and prompt lines --------------------------------------------------

_SQL_COMMENT_PATTERN: Final = re.compile(r"--[^\n]*+|/\*.*?(?:\*/|\Z)", re.DOTALL)
"""Pattern of a T-SQL comment; an unterminated one extends to the end."""


_SQL_LITERAL_PATTERN: Final = re.compile(r"N?'[^']*+(?:''[^']*+)*+(?:'|\Z)")
"""Pattern of a T-SQL string literal; an unterminated one extends to the end."""


NORMALIZED_CACHE_CHARACTERS_MAX: Final = 2_000_000
"""Maximum total length of the batches in `_NORMALIZED_CACHE`, in characters.

The cache exists because conditions read all batches each second.
"""


def normalize_sql(sql: str, keep_literals: bool) -> str:
    """Normalize *sql* for comparisons: uppercase, without comments and brackets, with single spaces.

    Literals are removed unless *keep_literals* is True, so that the text of a PRINT does not count as a
    statement.
    """
    return _NORMALIZED_CACHE.get(
        (sql, keep_literals), len(sql), lambda: _normalize_uncached(sql, keep_literals)
    )


def _normalize_uncached(sql: str, keep_literals: bool) -> str:
    sql = _SQL_COMMENT_PATTERN.sub(" ", sql)
    if not keep_literals:
        sql = _SQL_LITERAL_PATTERN.sub("''", sql)
    return " ".join(sql.upper().replace("[", "").replace("]", "").split())


_NORMALIZED_CACHE: Final[ResultCache[str]] = ResultCache(NORMALIZED_CACHE_CHARACTERS_MAX)
"""Cache of normalized batches."""


ERROR_SEVERITY_MIN: Final = 11
"""Lowest severity of an error. Messages below it are information. Documented by Microsoft."""


def list_error_numbers(batch: SqlDoneData) -> list[int]:
    """Return the numbers of the errors in a batch."""
    return [message["number"] for message in batch.messages if message["severity"] >= ERROR_SEVERITY_MIN]


TIMELINE_WINDOW_SUFFIX: Final = "story"
"""Suffix in the name of a query window through which the timeline sends T-SQL, as in SERVER_A#story.

Trainees cannot use such a window.
"""


def is_timeline_window(window: str) -> bool:
    """Return whether the query window belongs to the timeline. Its batches do not count as the trainee's."""
    return window.partition("#")[2].lower() == TIMELINE_WINDOW_SUFFIX


def summarize_batch(event: Event, batch: SqlDoneData) -> SentBatch:
    """Reduce a batch to its text and its errors."""
    return SentBatch(event.tick, event.server, batch.batch, list_error_numbers(batch))


def summarize_prompt_line(event: Event, line: PowerShellData) -> SentBatch:
    """Convert a PowerShell line on a node to a SentBatch."""
    return SentBatch(event.tick, event.server, line.command, [0] if line.refused else [])
