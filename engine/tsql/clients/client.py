"""Client side of query windows: connections, execution of submissions, and client messages of sqlcmd or SSMS."""

from typing import Final

from msgspec.structs import replace

from engine.constants import CLIENT_LOGIN_TIMEOUT_S, DRIVER_WINDOW_MARKER, TICKS_PER_S
from engine.events import NoteData, SessionData, SqlData, SqlDoneData
from engine.localization import build_message
from engine.messages import Message, SqlError, fill_message
from engine.model import Handlers, World
from engine.protocol import clients, statements
from engine.tsql.batches import statement_execution, transactions, waitfor, work
from engine.tsql.batches.data import (
    AGENT_WINDOW_MARKER,
    ConnectionLostError,
    SilentCompletion,
    Submission,
    Window,
    get_batch_text,
)
from engine.tsql.batches.machine import OUTPUT_ITEMS_MAX
from engine.tsql.batches.runner import SubmissionRunner
from engine.tsql.batches.work import WorkMeter
from engine.tsql.clients import agent_history, connections
from engine.tsql.clients.connections import (
    get_server_name,
    open_session,
    report_refused_login,
    resolve_server,
)
from engine.tsql.language import script
from engine.tsql.scalars.types import clean_text

QUEUED_SUBMISSIONS_MAX: Final = 16
"""Maximum number of submissions that wait in one window. Assumed."""

SUBMISSION_CHARACTERS_MAX: Final = 1_000_000
"""Maximum number of characters in one submission: about 25,000 lines, compiled in many steps (work.py). Assumed."""

RUNNING_CHARACTERS_MAX: Final = 2_500_000
"""Maximum number of characters in all running submissions together. Assumed."""


def submit_text(world: World, window: str, text: str) -> None:
    """Send *text* from a window. It runs now, or after the submissions that the window has sent before.

    The event `sql_done` reports the end of the submission.
    """
    name = _normalize_window_name(world, window)
    text = clean_text(text)
    session = world.sessions.setdefault(name, Window())
    if len(text) > SUBMISSION_CHARACTERS_MAX:
        world.emit(SqlData(window=name, batch=0), f"{text[:200]}…", server=get_server_name(name))
        limit = SUBMISSION_CHARACTERS_MAX
        description = (
            f"Not simulated: more than {limit} characters at once ({len(text)} were sent, none was run)."
        )
        length_message = Message(0, 10, 0, 0, description, get_server_name(name))
        refused_run = Submission(id=0, text="", steps=(), messages=(length_message,), started_tick=world.tick)
        _emit_completion_event(world, name, refused_run)
        return
    if name in world.batches:
        if len(session.queue) >= QUEUED_SUBMISSIONS_MAX:
            world.emit(SqlData(window=name, batch=0), text, server=get_server_name(name))
            description = (
                f"{QUEUED_SUBMISSIONS_MAX} batches wait in this window already; this one was not sent."
            )
            message = Message(0, 10, 0, 0, description)
            refused_run = Submission(id=0, text=text, steps=(), messages=(message,), started_tick=world.tick)
            _emit_completion_event(world, name, refused_run)
            return
        world.sessions[name] = replace(session, queue=(*session.queue, text))
        return
    _start_submission(world, name, text)


def _normalize_window_name(world: World, window: str) -> str:
    """Return the window's name with the server spelled as in the world.

    Raises KeyError for an unknown server.
    """
    server, mark, number = window.partition("#")
    exact = next((name for name in world.instances if name.lower() == server.lower()), None)
    if exact is None:
        raise KeyError(server)
    return exact + mark + number


def _start_submission(world: World, name: str, text: str) -> None:
    number = world.next_id()
    world.emit(SqlData(window=name, batch=number), text, server=get_server_name(name))
    if sum(len(run.text) for run in world.batches.values()) + len(text) > RUNNING_CHARACTERS_MAX:
        limit = RUNNING_CHARACTERS_MAX
        description = (
            f"Not simulated: more than {limit} characters of T-SQL under way in all windows together."
        )
        message = Message(0, 10, 0, 0, description, get_server_name(name))
        world.batches[name] = Submission(id=number, text=text, steps=(), started_tick=world.tick)
        _finish_submission(world, name, replace(world.batches[name], messages=(message,)))
        return
    session: Window = world.sessions[name]
    # For a remote session, the client program has already processed GO and $(name).
    full_text = (script.ScriptBatch(text),) if session.remote else None
    world.batches[name] = Submission(id=number, text=text, steps=full_text, started_tick=world.tick)
    _run_submission(world, name)


def cancel_batches(world: World, window: str) -> None:
    """Cancel the running batch of a window (Alt+Break) and discard the queued submissions."""
    name = _normalize_window_name(world, window)
    run: Submission | None = world.batches.get(name)
    if run is None:
        return
    world.sessions[name] = replace(world.sessions[name], queue=())
    _abandon_pending_statement(world, name, run)
    note = Message(0, 11, 0, 0, "Query was cancelled by user.", get_server_name(name))
    _finish_submission(world, name, replace(run, messages=(*run.messages, note)))


def continue_batch(world: World, name: str, wait_id: int) -> None:
    """Continue a batch at the end of a wait (timer handler)."""
    run: Submission | None = world.batches.get(name)
    if run is None or run.wait_id != wait_id or not run.waiting:
        return
    if run.waiting == "login":
        _finish_submission(world, name, _append_client_message(world, name, run, -2))
        return
    session = world.sessions[name].session
    if session is not None and world.instances[session.server].hung:
        return  # check_connections continues the batch when the server responds again
    if (
        run.waiting == "commit"
        and session is not None
        and not transactions.can_acknowledge_commits(world, session)
    ):
        number, since_tick = world.next_id(), run.since_tick or 0
        world.batches[name] = replace(
            run, wait_id=number, due_tick=waitfor.compute_next_poll_tick(world.tick, since_tick)
        )
        world.call_at(world.batches[name].due_tick, "tsql.continue", name, number)
        return
    _run_submission(world, name)


def kill_connection(world: World, name: str, server: str, spid: int) -> None:
    """End a connection that KILL has selected, and the batch that runs in it (timer handler)."""
    session = world.sessions[name].session if name in world.sessions else None
    if session is not None and (session.server, session.spid) == (server, spid):
        _break_connection(world, name, 596)


HANDLERS: Final[Handlers] = {"tsql.continue": continue_batch, "tsql.kill": kill_connection}
"""Timer names of query windows -> handler."""


# --- running ---------------------------------------------------------------------------------------------


def _run_submission(world: World, name: str) -> None:
    """Run the submission of a window until it ends, waits, or has used up its work allowance."""
    run: Submission = world.batches[name]
    is_new_batch = not run.waiting and AGENT_WINDOW_MARKER not in name
    remote = is_new_batch and world.sessions[name].remote
    meter = WorkMeter(
        work.compute_work_allowance(world, is_new=is_new_batch, has_booked_turn=run.booked, is_remote=remote)
    )
    if meter.is_exhausted:
        _book_turn(world, name, run)
        return
    booked = run.booked
    if booked or run.waiting == "busy":
        run = replace(run, booked=False, waiting="" if run.waiting == "busy" else run.waiting)
    try:
        _run_steps(world, name, run, meter)
    finally:
        if not remote:  # a program's new submission has its own allowance (compute_work_allowance)
            work.record_work(world, meter.spent, booked)
    remaining_run: Submission | None = world.batches.get(name)
    if remaining_run is not None and remaining_run.id == run.id:
        world.batches[name] = remaining_run = replace(remaining_run, spent=remaining_run.spent + meter.spent)
        if remaining_run.waiting == "busy":
            _book_turn(world, name, _warn_if_long_running(world, name, remaining_run))


LONG_BATCH_S: Final = 30
"""Simulated seconds after which a batch can be reported as a possible endless loop. Assumed."""
LONG_BATCH_WORK: Final = 1_000_000
"""Work units (work.py) after which a batch can be reported as a possible endless loop.

Assumed: scripts that people write need about a second of work.
"""


def _warn_if_long_running(world: World, name: str, run: Submission) -> Submission:
    """Return the submission. If it has been running for a long time, add a warning once."""
    if run.told or run.spent < LONG_BATCH_WORK or world.tick - run.started_tick < LONG_BATCH_S * TICKS_PER_S:
        return run
    text = build_message(
        "the batch in {window} has been executing for {t_s} s", window=name, t_s=LONG_BATCH_S
    )
    world.emit(NoteData(), text, server=get_server_name(name))
    message = Message(0, 0, 0, 0, _LONG_BATCH_TEXT, get_server_name(name))
    return replace(run, told=True, messages=(*run.messages, message))


_LONG_BATCH_TEXT: Final = (
    f"This batch has been executing for {LONG_BATCH_S} s. "
    "A loop whose condition stays true runs until it is canceled."
)


def _book_turn(world: World, name: str, run: Submission) -> None:
    """Schedule the next turn of a submission, after all turns that are already reserved."""
    delay_ticks, number = work.book_turn(world), world.next_id()
    waiting = run.waiting or "busy"
    world.batches[name] = replace(run, waiting=waiting, booked=True, due_tick=delay_ticks, wait_id=number)
    world.call_at(delay_ticks, "tsql.continue", name, number)


def _run_steps(world: World, name: str, run: Submission, meter: WorkMeter) -> None:
    """Run the steps of a submission one after the other, as long as *meter* allows."""
    while True:
        if meter.is_exhausted:
            world.batches[name] = replace(run, waiting=run.waiting or "busy")
            return
        if run.steps is None:
            run = _split_batches(world, name, run, meter)
            continue
        if not run.frames and not run.waiting:
            run = _apply_error_exit(run, get_server_name(name), meter)
            steps = run.steps or ()
            if run.step >= len(steps):
                _finish_submission(world, name, run)
                return
            step = steps[run.step]
            if not isinstance(step, script.ScriptBatch):
                meter.count_units(CLIENT_COMMAND_WORK)
                run = _run_client_step(world, name, run, step)
                continue
        run, is_over = _run_slice(world, name, run, meter)
        if not is_over:
            return


CLIENT_COMMAND_WORK: Final = 20
"""Work units (work.py) of a client command such as `:CONNECT`. Measured: about 20 microseconds."""


def _split_batches(world: World, name: str, run: Submission, meter: WorkMeter) -> Submission:
    """Divide the submission into batches at its GO lines, as far as *meter* allows."""
    session: Window = world.sessions[name]
    splitting = script.split_script_in_steps(run.text, dict(session.variables))
    remaining_work = meter.allowance - meter.spent
    if not splitting.continue_to(run.read + remaining_work):
        meter.count_units(remaining_work)
        return replace(run, read=run.read + remaining_work)
    meter.count_units(splitting.spent - run.read)
    steps, variables = splitting.get_result()
    if (current_variables := tuple(sorted(variables.items()))) != session.variables:
        world.sessions[name] = replace(session, variables=current_variables)
    return replace(run, steps=steps, read=0)


def _apply_error_exit(run: Submission, server: str, meter: WorkMeter) -> Submission:
    """Return the submission.

    If an error has occurred since `:ON ERROR EXIT`, skip the rest of the submission.
    """
    if run.errors_from is None:
        return run
    messages = run.messages[run.errors_from :]
    meter.count_units(len(messages) // 10)
    if not any(message.is_error for message in messages):
        return replace(run, errors_from=len(run.messages))
    note = Message(0, 10, 0, 0, _ERROR_EXIT_TEXT, server)
    return replace(run, step=len(run.steps or ()), errors_from=None, messages=(*run.messages, note))


_ERROR_EXIT_TEXT: Final = "** An error was encountered during execution of batch. Exiting."
"""Message of sqlcmd after an error with `:ON ERROR EXIT`."""


def _run_client_step(
    world: World,
    name: str,
    run: Submission,
    step: script.ConnectStep | script.ClientNote | script.ErrorExitStep,
) -> Submission:
    """Execute a client command of the script. Return the submission, which continues at its next step."""
    run = replace(run, step=run.step + 1)
    if isinstance(step, script.ErrorExitStep):
        return replace(run, errors_from=len(run.messages) if step.leave else None)
    if isinstance(step, script.ClientNote):
        note = Message(0, 16 if step.fatal else 10, 0, 0, step.text, get_server_name(name))
        if len(run.messages) < OUTPUT_ITEMS_MAX or step.fatal:
            run = replace(run, messages=(*run.messages, note))
        return replace(run, step=len(run.steps or ())) if step.fatal else run
    session = world.sessions[name]
    server_name = step.server.split("\\")[0].split(",")[0].split(".")[0].lower()
    targets = (*world.instances, *world.listeners)
    server = next((target for target in targets if target.lower() == server_name), None)
    if server is None:
        return replace(_append_client_message(world, name, run, 53, step.server), step=len(run.steps or ()))
    world.sessions[name] = replace(session, server=server, session=None)
    return run


def _run_slice(world: World, name: str, run: Submission, meter: WorkMeter) -> tuple[Submission, bool]:
    """Run the submission until it waits or its batch ends.

    Return the submission, and True if its next step can run immediately.
    """
    window: Window = world.sessions[name]
    server, refusal = resolve_server(world, name)
    if refusal is not None:
        _finish_submission(world, name, report_refused_login(world, name, run, server, refusal))
        return run, False
    if world.instances[server].hung and world.instances[server].running:
        _handle_hung_server(world, name, run, is_connected=window.session is not None)
        return run, False
    if window.lost:
        world.sessions[name] = replace(window, lost=0)
        _finish_submission(world, name, _append_client_message(world, name, run, window.lost))
        return run, False
    try:
        session = open_session(world, name, window, server)
    except SqlError as problem:
        _finish_submission(world, name, report_refused_login(world, name, run, server, problem))
        return run, False
    if session is None and window.remote:
        _break_connection(world, name, 64)
        return run, False
    if session is None:
        _finish_submission(
            world,
            name,
            _append_client_message(world, name, run, connections.get_refusal_number(world, server), server),
        )
        return run, False
    if session is not window.session:
        # Store the session now, so that the catalog views show it.
        world.sessions[name] = replace(window, session=session)
        if not window.server:
            clients.count_listener_login(
                world, window.target.source or "", window.target.database, window.target.read_intent
            )
    machine = SubmissionRunner(world, run, session, statement_execution.execute_statement, meter)
    try:
        if run.waiting:
            machine.resume_after_wait()
        elif not run.frames:
            step = (run.steps or ())[run.step]
            assert isinstance(step, script.ScriptBatch)
            if step.count > 1 and not run.repeats:
                machine.messages.append(Message(0, 0, 0, 0, _LOOP_BEGIN_TEXT, server))
            machine.begin_batch(step.text)
        is_done = not machine.run.waiting and machine.run_until_wait()
    except ConnectionLostError as error:
        submission = _append_client_message(world, name, machine.build_submission(), *error.numbers)
        if window.remote:
            world.sessions[name] = replace(world.sessions[name], session=machine.session, queue=())
            _finish_submission(world, name, submission)
            close_connection(world, name, "ended by the server")
            return submission, False
        world.sessions[name] = replace(world.sessions[name], session=None)
        _finish_submission(world, name, submission)
        return submission, False
    world.sessions[name] = replace(world.sessions[name], session=machine.session)
    run = machine.build_submission()
    if not is_done:
        world.batches[name] = run
        if run.waiting != "busy":
            world.call_at(run.due_tick, "tsql.continue", name, run.wait_id)
        return run, False
    return _begin_next_batch(run, server), True


def _begin_next_batch(run: Submission, server: str) -> Submission:
    """Return the submission, which continues at its next batch or repeats the same batch for `GO n`."""
    step = (run.steps or ())[run.step]
    assert isinstance(step, script.ScriptBatch)
    repeats = run.repeats + 1
    if repeats < step.count:
        return replace(run, frames=(), repeats=repeats)
    if step.count > 1:
        message = Message(0, 0, 0, 0, _LOOP_END_TEXT.format(step.count), server)
        run = replace(run, messages=(*run.messages, message))
    return replace(run, frames=(), repeats=0, step=run.step + 1)


_LOOP_BEGIN_TEXT: Final = "Beginning execution loop"
"""Message of Management Studio before the repetitions of `GO n`."""
_LOOP_END_TEXT: Final = "Batch execution completed {0} times."
"""Message of Management Studio after the repetitions of `GO n`."""


def _handle_hung_server(world: World, name: str, run: Submission, is_connected: bool) -> None:
    """Let a submission wait for a hung server.

    *is_connected*: the window already has a connection. Otherwise, the attempt to connect fails after
    the login timeout.
    """
    number = world.next_id()
    reason = "server" if is_connected else "login"
    due_tick = world.tick + round(CLIENT_LOGIN_TIMEOUT_S * TICKS_PER_S)
    world.batches[name] = replace(run, waiting=reason, wait_id=number, due_tick=due_tick)
    if not is_connected:
        world.call_at(due_tick, "tsql.continue", name, number)


def _finish_submission(world: World, name: str, run: Submission) -> None:
    world.batches.pop(name, None)
    if not run.messages and not world.sessions[name].remote:
        finished_message = Message(0, 0, 0, 0, "Commands completed successfully.", get_server_name(name))
        run = replace(run, messages=(finished_message,))
    _emit_completion_event(world, name, run)
    _store_last_batch(world, name, run)
    if AGENT_WINDOW_MARKER in name:
        errors = [message for message in run.messages if message.is_error]
        number = errors[-1].number if errors else 0
        text = agent_history.join_messages(run.messages)
        error_text = errors[0].text if errors else ""
        world.call_at(world.tick, "tsql.step_done", name, error_text, run.started_tick, text, number)
    session: Window = world.sessions[name]
    if session.server:
        world.sessions[name] = session = replace(session, server="", session=None)
    if session.queue:
        world.sessions[name] = replace(session, queue=session.queue[1:])
        _start_submission(world, name, session.queue[0])


def _store_last_batch(world: World, name: str, run: Submission) -> None:
    """Store the text and times of the last batch in the session.

    Catalog views show them while the session sleeps.
    """
    session: Window = world.sessions[name]
    if session.session is not None:
        sql_session = replace(
            session.session,
            last_text=get_batch_text(run),
            last_begun_tick=run.started_tick,
            last_ended_tick=world.tick,
        )
        world.sessions[name] = replace(session, session=sql_session)


def _build_completion_json(end: SilentCompletion) -> dict[str, object]:
    """Return the fields of a statement completion as JSON: after_messages, after_results, rows and status."""
    return {
        "after_messages": end.after_messages,
        "after_results": end.after_results,
        "rows": end.rows,
        "status": end.status,
    }


def _emit_completion_event(world: World, name: str, run: Submission) -> None:
    errors = [message for message in run.messages if message.is_error]
    program = None
    if (
        world.programs
        and (session := world.sessions[name].session) is not None
        and session.program is not None
    ):
        connections.count_answered_batch(world, session.program.name, session.server, has_failed=bool(errors))
        program = connections.find_program_name(world, session.program.name)
    world.emit(
        SqlDoneData(
            window=name,
            batch=run.text,
            run=run.id,
            messages=[connections.build_message_json(message) for message in run.messages],
            results=[
                {
                    "columns": list(grid.columns),
                    "types": list(grid.types),
                    **({} if all(grid.nullable) else {"nullable": list(grid.nullable)}),
                    "rows": [list(row) for row in grid.rows],
                    "after_messages": grid.after_messages,
                    **({"failed": True} if grid.failed else {}),
                }
                for grid in run.results
            ],
            started_tick=run.started_tick,
            elapsed_ticks=world.tick - run.started_tick,
            program=program,
            ends=[_build_completion_json(end) for end in run.ends]
            if run.ends and DRIVER_WINDOW_MARKER in name
            else None,
        ),
        errors[0].text if errors else "ok",
        server=get_server_name(name),
    )


# --- connections -----------------------------------------------------------------------------------------


def record_transactions(world: World) -> None:
    """Record the open transactions of all windows, which prevent log truncation."""
    sessions = [window.session for window in world.sessions.values() if window.session is not None]
    transactions.record_log_holders(world, sessions, world.instances)


def check_connections(world: World) -> None:
    """End requests whose server or database has been lost, and continue the others.

    This function is called after each change of the world.
    """
    record_transactions(world)
    checked_states: set[tuple[object, ...]] = set()
    """Connection states without a loss that were already checked. Most connections have equal states."""
    for name, window in list(world.sessions.items()):
        session = window.session
        if session is None or world.sessions.get(name) is not window:
            continue
        current_state = (
            session.server,
            session.started_tick,
            session.database,
            session.read_intent,
            session.logs,
        )
        if current_state in checked_states:
            continue
        instance = world.instances[session.server]
        if not connections.is_connection_open(world, session):
            _break_connection(
                world,
                name,
                64
                if not world.computers[instance.computer].powered
                or not world.computers[instance.computer].nic_up
                else 10054,
            )
        elif (
            not instance.hung
            and (closed_name := connections.find_unusable_database(world, session)) is not None
        ):
            copy = world.copies.get((session.server, closed_name))
            if copy is not None and copy.disk_failed:
                _break_connection(world, name, 9001, copy.database)
            else:
                _break_connection(world, name, 10054)
        else:
            checked_states.add(current_state)
            continue
        checked_states.clear()  # effects of the lost connection may have reached other servers
    run: Submission
    for name, run in list(world.batches.items()):
        if world.batches.get(name) is not run:  # a job step may have ended or restarted the batch
            continue
        instance = world.instances[resolve_server(world, name)[0]]
        if run.waiting in ("server", "login"):
            if not instance.hung:
                world.batches[name] = replace(run, waiting="")
                _run_submission(world, name)
        elif run.due_tick <= world.tick and not instance.hung:
            _run_submission(world, name)
        elif run.pending is not None and connections.log_lost_backup(world, instance, *run.pending):
            _break_connection(world, name, 10054)


def _break_connection(world: World, name: str, number: int, *arguments: str) -> None:
    """Break the connection of a window and roll back its uncommitted work.

    A running batch ends with the error *number*. Without a running batch, the next batch gets the error
    if a transaction was open. In all other cases, a window reconnects silently, as drivers do.
    """
    session: Window = world.sessions[name]
    run: Submission | None = world.batches.get(name)
    if run is not None:
        _abandon_pending_statement(world, name, run)
    if session.remote:
        world.sessions[name] = replace(world.sessions[name], queue=())
        if run is not None:
            _finish_submission(world, name, _append_client_message(world, name, run, number, *arguments))
        close_connection(world, name, "lost")
        return
    has_transaction = session.session is not None and session.session.transactions > 0
    error_number = number if run is None and has_transaction else 0
    world.sessions[name] = replace(session, session=None, lost=error_number)
    if run is not None:
        _finish_submission(world, name, _append_client_message(world, name, run, number, *arguments))


CLOSED_BY_PROGRAM_REASON: Final = "closed by the program"
"""Reason of `close_connection` if the program itself requested the close."""


def close_connection(world: World, name: str, reason: str) -> None:
    """Close the connection of a program and remove its window."""
    session = world.sessions.pop(name).session
    assert session is not None, "the window of a program has its connection as long as it is there"
    if session.program is not None and reason != CLOSED_BY_PROGRAM_REASON:
        connections.increase_program_counters(world, session.program.name, lost=1)
    text = build_message("{login} disconnected: {why}", login=session.login, why=reason)
    world.emit(SessionData(window=name, what=reason), text, server=session.server)


def _abandon_pending_statement(world: World, name: str, run: Submission) -> None:
    """Roll back the work of a pending statement. Do not roll back a commit that waits for its log."""
    session: Window = world.sessions[name]
    if session.session is not None:
        world.sessions[name] = replace(session, session=transactions.discard_transaction(session.session))
    if run.pending is not None:
        server = resolve_server(world, name)[0]
        statements.abandon_statement(world, server, *run.pending)


def _append_client_message(
    world: World, name: str, run: Submission, number: int | None = None, *arguments: object
) -> Submission:
    """Append a message of the client to the submission. If *number* is None, append nothing."""
    if number is None:
        return run
    server = get_server_name(name)
    severity, text = fill_message(number, *(arguments or [server]))
    return replace(run, messages=(*run.messages, Message(number, severity, 0, 0, text, server)))
