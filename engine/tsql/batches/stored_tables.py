"""Tables that msdb procedures and sp_configure store in the world.

Each table has a type for its rows, so that mypy checks the columns.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, Generic, TypedDict, TypeVar, cast

from msgspec import Struct

from engine import arithmetic
from engine.model import World
from engine.tsql.scalars.values import Scalar


class JobRow(TypedDict, total=False):
    """Job of SQL Server Agent."""

    id: Scalar
    job: Scalar
    description: Scalar
    start_step_id: Scalar
    notify_level_eventlog: Scalar
    notify_level_email: Scalar
    notify_email_operator_id: Scalar
    owner: Scalar
    category_id: Scalar
    version_number: Scalar
    targeted: Scalar
    date_created: Scalar
    date_modified: Scalar


class StepRow(TypedDict, total=False):
    """Step of a job."""

    id: Scalar
    job: Scalar
    step_id: Scalar
    step_name: Scalar
    subsystem: Scalar
    command: Scalar
    database_name: Scalar
    on_success_action: Scalar
    on_success_step_id: Scalar
    on_fail_action: Scalar
    on_fail_step_id: Scalar
    retry_attempts: Scalar
    retry_interval: Scalar
    output_file_name: Scalar
    flags: Scalar


class ScheduleRow(TypedDict, total=False):
    """Schedule that jobs can use."""

    id: Scalar
    name: Scalar
    enabled: Scalar
    freq_type: Scalar
    freq_interval: Scalar
    freq_subday_type: Scalar
    freq_subday_interval: Scalar
    freq_relative_interval: Scalar
    freq_recurrence_factor: Scalar
    active_start_date: Scalar
    active_end_date: Scalar
    active_start_time: Scalar
    active_end_time: Scalar


class JobScheduleRow(TypedDict, total=False):
    """Assignment of a schedule to a job."""

    id: Scalar
    job: Scalar
    schedule_id: Scalar


class HistoryRow(TypedDict, total=False):
    """Result of a job or of one step in the job history."""

    id: Scalar
    job: Scalar
    step_id: Scalar
    step_name: Scalar
    message: Scalar
    sql_message_id: Scalar
    sql_severity: Scalar
    retries_attempted: Scalar
    run_status: Scalar
    run_date: Scalar
    run_time: Scalar
    run_duration: Scalar


class ActivityRow(TypedDict, total=False):
    """Latest run of a job, with its requester, start and end."""

    id: Scalar
    job: Scalar
    by: Scalar
    source: Scalar
    start_tick: Scalar
    stop_tick: Scalar
    attempt: Scalar
    step_id: Scalar
    step_tick: Scalar
    history_id: Scalar
    stopped_by: Scalar


class AlertRow(TypedDict, total=False):
    """Alert of SQL Server Agent."""

    id: Scalar
    name: Scalar
    job: Scalar
    enabled: Scalar
    message_id: Scalar
    severity: Scalar
    delay_between_responses: Scalar
    notification_message: Scalar
    include_event_description: Scalar
    database_name: Scalar
    event_description_keyword: Scalar
    performance_condition: Scalar
    wmi_namespace: Scalar
    wmi_query: Scalar
    occurrence_count: Scalar
    answered_tick: Scalar
    last_occurrence_date: Scalar
    last_occurrence_time: Scalar
    last_response_date: Scalar
    last_response_time: Scalar


class OperatorRow(TypedDict, total=False):
    """Operator of SQL Server Agent."""

    id: Scalar
    name: Scalar
    enabled: Scalar
    email_address: Scalar
    pager_address: Scalar
    pager_days: Scalar
    netsend_address: Scalar
    weekday_pager_start_time: Scalar
    weekday_pager_end_time: Scalar
    saturday_pager_start_time: Scalar
    saturday_pager_end_time: Scalar
    sunday_pager_start_time: Scalar
    sunday_pager_end_time: Scalar


class NotificationRow(TypedDict, total=False):
    """Assignment of an operator to an alert. The alert notifies the operator."""

    id: Scalar
    alert_id: Scalar
    operator_id: Scalar
    notification_method: Scalar


class CategoryRow(TypedDict, total=False):
    """Category of jobs, alerts or operators."""

    id: Scalar
    name: Scalar
    category_class: Scalar
    category_type: Scalar


class MailProfileRow(TypedDict, total=False):
    """Profile of Database Mail."""

    id: Scalar
    name: Scalar
    description: Scalar


class MailAccountRow(TypedDict, total=False):
    """Account of Database Mail."""

    id: Scalar
    name: Scalar
    email_address: Scalar
    display_name: Scalar
    replyto_address: Scalar
    description: Scalar
    servername: Scalar


class ProfileAccountRow(TypedDict, total=False):
    """Assignment of a mail account to a mail profile."""

    id: Scalar
    profile_id: Scalar
    account_id: Scalar
    sequence_number: Scalar


class ProfilePrincipalRow(TypedDict, total=False):
    """Permission to use a mail profile."""

    id: Scalar
    profile_id: Scalar
    is_default: Scalar


class MailRow(TypedDict, total=False):
    """Mail in the queue of Database Mail."""

    id: Scalar
    profile_id: Scalar
    recipients: Scalar
    copy_recipients: Scalar
    subject: Scalar
    body: Scalar
    sent_status: Scalar
    send_request_date: Scalar


class AccessModeRow(TypedDict, total=False):
    """Database whose access mode is not MULTI_USER."""

    id: Scalar
    name: Scalar
    mode: Scalar


class OptionRow(TypedDict, total=False):
    """Server option whose value sp_configure has changed."""

    id: Scalar
    name: Scalar
    value: Scalar
    in_use: Scalar
    at_start: Scalar
    tick: Scalar


class MessageRow(TypedDict, total=False):
    """User-defined message (sp_addmessage), or message that sp_altermessage has changed."""

    id: Scalar
    message_id: Scalar
    language_id: Scalar
    severity: Scalar
    is_event_logged: Scalar
    text: Scalar


ServerOptionRow = TypedDict(
    "ServerOptionRow", {"id": Scalar, "server": Scalar, "rpc": Scalar, "rpc out": Scalar}, total=False
)
"""Options of a linked server. The names of some options contain spaces."""

AlertPositionRow = dict[str, Scalar]
"""Positions up to which the events of a server have been checked for alerts (get_alert_positions)."""

RowT = TypeVar("RowT", bound=Mapping[str, object])


STORED_ROWS_MAX: Final = 5_000
"""Maximum number of rows in one table. The oldest rows above it are removed.

Assumed: more than a DBA reads.
"""


class Ledger(Struct, frozen=True):
    """Stored content of one table: its rows, and the ID of the latest row."""

    rows: tuple[tuple[tuple[str, Scalar], ...], ...] = ()
    last_id: int = 0


EMPTY_LEDGER: Final = Ledger()
"""Content of a table without rows."""


class StoredTable(Struct, Generic[RowT], frozen=True):
    """Table that msdb procedures or sp_configure store on an instance, as plain data in the world."""

    name: str
    row_type: type[RowT]

    def build_row(self, values: Mapping[str, Scalar]) -> RowT:
        """Return a row that contains *values*, whose column names are known only at run time.

        Raise KeyError for a column that the table does not have.
        """
        for column in values:
            self.row_type.__annotations__[column]
        return cast(RowT, values)

    def _make_key(self, server: str) -> tuple[str, str, str]:
        """Return the key of the table's rows in World.objects."""
        return server, "msdb", f"~{self.name}"  # no name in a script can be equal to this name

    def _find_ledger(self, world: World, server: str) -> Ledger:
        ledger: Ledger = world.objects.get(self._make_key(server), EMPTY_LEDGER)
        return ledger

    def list_rows(self, world: World, server: str) -> list[RowT]:
        """Return all rows, oldest first."""
        return [cast(RowT, dict(row)) for row in self._find_ledger(world, server).rows]

    def is_empty(self, world: World, server: str) -> bool:
        """Return whether the table has no rows on this server."""
        return not self._find_ledger(world, server).rows

    def find_row(self, world: World, server: str, column: str, value: Scalar) -> RowT | None:
        """Return the first row with *value* in *column*. The comparison of texts ignores case."""
        rows = self.list_rows(world, server)
        return next((row for row in rows if _is_same_value(row.get(column), value)), None)

    def add_row(self, world: World, server: str, values: RowT) -> int:
        """Add a row. Return its ID, which is also the value of its column `id`."""
        ledger = self._find_ledger(world, server)
        number = ledger.last_id + 1
        row = tuple(cast(dict[str, Scalar], {"id": number, **values}).items())
        world.objects[self._make_key(server)] = Ledger((*ledger.rows, row)[-STORED_ROWS_MAX:], number)
        return number

    def change_rows(self, world: World, server: str, is_changed: Callable[[RowT], bool], values: RowT) -> int:
        """Set *values* in each row for which *is_changed* returns True. Return the number of rows."""
        ledger = self._find_ledger(world, server)
        is_chosen = [is_changed(cast(RowT, dict(row))) for row in ledger.rows]
        changed_rows = tuple(
            tuple(cast(dict[str, Scalar], {**dict(row), **values}).items()) if hit else row
            for row, hit in zip(ledger.rows, is_chosen, strict=True)
        )
        world.objects[self._make_key(server)] = Ledger(changed_rows, ledger.last_id)
        return arithmetic.add_in_order(is_chosen)

    def remove_rows(self, world: World, server: str, predicate: Callable[[RowT], bool]) -> int:
        """Delete each row for which *predicate* returns True. Return the number of rows."""
        ledger = self._find_ledger(world, server)
        kept_rows = tuple(row for row in ledger.rows if not predicate(cast(RowT, dict(row))))
        world.objects[self._make_key(server)] = Ledger(kept_rows, ledger.last_id)
        return len(ledger.rows) - len(kept_rows)


def _is_same_value(a: object, b: Scalar) -> bool:
    return a == b or (isinstance(a, str) and isinstance(b, str) and a.casefold() == b.casefold())


JOBS: Final = StoredTable("sysjobs", JobRow)
STEPS: Final = StoredTable("sysjobsteps", StepRow)
SCHEDULES: Final = StoredTable("sysschedules", ScheduleRow)
JOB_SCHEDULES: Final = StoredTable("sysjobschedules", JobScheduleRow)
HISTORY: Final = StoredTable("sysjobhistory", HistoryRow)
ACTIVITY: Final = StoredTable("activity", ActivityRow)
ALERTS: Final = StoredTable("sysalerts", AlertRow)
OPERATORS: Final = StoredTable("sysoperators", OperatorRow)
NOTIFICATIONS: Final = StoredTable("sysnotifications", NotificationRow)
CATEGORIES: Final = StoredTable("syscategories", CategoryRow)
MAIL_PROFILES: Final = StoredTable("sysmail_profile", MailProfileRow)
MAIL_ACCOUNTS: Final = StoredTable("sysmail_account", MailAccountRow)
MAIL_PROFILE_ACCOUNTS: Final = StoredTable("sysmail_profileaccount", ProfileAccountRow)
MAIL_PRINCIPALS: Final = StoredTable("sysmail_principalprofile", ProfilePrincipalRow)
MAILS: Final = StoredTable("sysmail_mailitems", MailRow)
ACCESS_MODES: Final = StoredTable("user access", AccessModeRow)
OPTIONS: Final = StoredTable("options", OptionRow)
MESSAGES: Final = StoredTable("messages", MessageRow)
CHANGED_MESSAGES: Final = StoredTable("messagelogging", MessageRow)
"""System messages that sp_altermessage has changed."""
SERVER_OPTIONS: Final = StoredTable("serveroptions", ServerOptionRow)
ALERT_POSITIONS: Final = StoredTable[AlertPositionRow]("seen", dict)
