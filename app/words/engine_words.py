"""Words that stand in the engine's tables, marked here for translation: the engine knows no languages.

Whoever shows one gives it to `tr`. A test compares them with the tables that they come from.
"""

from __future__ import annotations

from typing import Final

from app.words.language import mark

SKILLS: Final = frozenset(
    {
        mark("Reading the state"),
        mark(
            "Read role, state, safety and witness of a session from the catalog views, on the right server."
        ),
        mark("Reading errors"),
        mark("Read the error of a server and its ERRORLOG, and find the cause."),
        mark("Monitoring"),
        mark("Use the Database Mirroring Monitor, its thresholds and alerts, and check the age of its rows."),
        mark("Setting a session up"),
        mark("Backup, restore with all log backups, partners in the right order, witness last."),
        mark("Endpoints"),
        mark("Check and fix endpoints: state, port, role, encryption, firewall, CONNECT permission."),
        mark("Certificates"),
        mark("Authenticate partners by certificates where domains do not trust one another."),
        mark("Quorum"),
        mark("Determine which servers see each other, and which of them may therefore serve."),
        mark("Automatic failover"),
        mark("Know when the mirror fails over automatically, and do not interfere."),
        mark("No automatic failover: why"),
        mark("Explain why an automatic failover did or did not happen, and where the evidence was."),
        mark("Failure detection"),
        mark(
            "Know how and how soon failures are detected, and the cost of a partner timeout "
            "that is too short or too long."
        ),
        mark("Manual failover"),
        mark("Fail a database over manually at the right moment, without data loss."),
        mark("Forced service"),
        mark("Force service only as a last resort, know what is lost, and restore the session afterwards."),
        mark("Removing a session"),
        mark("Remove a session, or recover its mirror when nothing else restores service."),
        mark("Suspend and resume"),
        mark("Suspend and resume, and never leave a session suspended by mistake."),
        mark("Restoring protection"),
        mark("Bring the lost partner back, so that the next failure is harmless too."),
        mark("Split brain"),
        mark("Prevent two principals of one database, and reconcile them."),
        mark("Choosing safety"),
        mark("Choose safety, durability and witness by distance, load and acceptable data loss."),
        mark("Send and redo queue"),
        mark("Read both queues, and estimate loss and failover time from them."),
        mark("Log space"),
        mark("Find out why a log cannot be reused, and act before it is full."),
        mark("Planned maintenance"),
        mark("Patch, upgrade and reconfigure with hardly any downtime."),
        mark("Around the database"),
        mark("Transfer what a failover leaves behind: logins, jobs, linked servers."),
        mark("Several databases"),
        mark("Run many mirrored databases on one server, and those that must fail over together."),
    }
)
"""Titles and texts of the skills."""

SCHEMA_NOTES: Final = frozenset(
    {
        mark("Title of the drill in the list."),
        mark("One sentence for the list of drills: what happens, and what the task is."),
        mark("Level of experience."),
        mark("Time a learner needs, for planning."),
        mark("Skills trained; the list of drills can be filtered by them."),
        mark("Author according to the file: plain text, not verified."),
        mark("Seed of everything random. The same seed gives the same run."),
        mark("Time after which the drill ends, whether its goals are reached or not."),
        mark(
            "Whether `revert-all` is allowed in a scored drill: it finds and repairs every fault at once."
        ),
        mark(
            "Reason why it is right to act before the faults of the timeline; None: acting early is not right."
        ),
        mark("Text for the learner before the clock starts."),
        mark("Notes for the instructor."),
        mark("[[source]]: publication of the drill's subject."),
        mark("Title of the paper, manual page or talk, as in a catalogue."),
        mark("Chapter, page or figure in it."),
        mark("Names, sizes and times; the seed picks one for {name} in the texts."),
        mark("[settings]: choices that the documentation leaves open."),
        mark(
            "Automatic failover happens even if only the link between principal and witness was cut before."
        ),
        mark("SET PARTNER RESUME is accepted on the mirror, too."),
        mark("SET WITNESS OFF is accepted on the mirror, too."),
        mark("Time from power on until SQL Server starts."),
        mark("Time that the service needs to start."),
        mark("Date and time on the servers' clocks at the start of the drill."),
        mark("[[server]]: a computer with one instance of SQL Server."),
        mark("Name of the computer and of its instance."),
        mark("SQL Server version by year. 2008 and later compress the log stream to the mirror."),
        mark("Standard supports safety FULL only; Workgroup and Express can only be a witness."),
        mark("Processor cores. None: as many as the hardware of the site has."),
        mark("Hardware: disks, processors and network as in one of the papers."),
        mark("Windows domain. Servers of different domains need certificates to connect."),
        mark("Service account of the instance; the same account on all servers needs no CONNECT permission."),
        mark("Trace flags that are on from the start, such as 1462 (no log compression)."),
        mark("Worker threads. 0: the number that SQL Server chooses for the cores."),
        mark("TCP ports that the firewall blocks at the start."),
        mark(
            "Databases with the usual jobs on this server, enabled: log backup, index maintenance, nightly load."
        ),
        mark("Its database mirroring endpoint."),
        mark("TCP port of the listener."),
        mark("STOPPED and DISABLED accept no connection."),
        mark("PARTNER, WITNESS, or both (ALL)."),
        mark("Encryption required of the other end; REQUIRED and DISABLED are incompatible."),
        mark("In order of preference; both ends need one in common."),
        mark(
            "Certificate for authentication; [[before]] lines create it. None: authentication by "
"the service account."
        ),
        mark(
            "[[link]]: the network between two ends, the same in both directions; pairs not "
"listed have a local network."
        ),
        mark("The two servers, or an application and a server."),
        mark("Round trip time of a packet on an idle link."),
        mark("Variation of the round trip."),
        mark("Bandwidth in each direction."),
        mark("Share of the packets that are lost: 0.01 is 1 %."),
        mark("[[database]]: a user database and its workload."),
        mark("Name of the database; with a count, of the first one."),
        mark(
            "Number of equal databases, numbered from the name on: Branch001 with 100 is Branch001 to Branch100."
        ),
        mark("Server of a database without a session."),
        mark(
            "Servers on which a backup was restored WITH NORECOVERY just before the drill; not with a session."
        ),
        mark("Workload of its applications, as measured in the papers; none: no load."),
        mark("Multiple of the workload."),
        mark("Size of the data."),
        mark("Size of the log file at the start."),
        mark("Size at which the log file stops growing and is full."),
        mark("A mirrored database needs FULL."),
        mark("Size of the compressed log stream to the mirror as a share: 0.27 is 27 %."),
        mark("Whether a commit waits for the log write (SQL Server 2014)."),
        mark("Interval of log backups. 0: no log backup job."),
        mark("[[session]]: a database mirroring session, up and running at the start."),
        mark("Database of the session; of several equal ones the first: each has such a session."),
        mark("Server with the principal role at the start."),
        mark("Server with the mirror role at the start."),
        mark("Witness server. None: no witness, so no automatic failover."),
        mark("FULL: each commit waits for the mirror; OFF: no wait."),
        mark("Silence after which a partner counts as lost (SET PARTNER TIMEOUT)."),
        mark("State at the start."),
        mark("[[client]]: an application with its connection string."),
        mark("Name of the application."),
        mark("Databases that it uses."),
        mark("Data Source of its connection string."),
        mark(
            "Failover Partner of its connection string. None: not specified."
        ),
        mark("Its SQL login. Empty: a login that exists on every server."),
        mark(
            "[[before]]: an input line carried out before the drill starts: settings, logins, "
"jobs, certificates, drives.\n\nActions that need no time; their T-SQL is not charged "
"to the trainee."
        ),
        mark("An action as typed at the desk, such as `sql SERVER_A CREATE LOGIN …`."),
        mark(
            "[[timeline]]: an input line of the scenario, at a time, in a window, or when a condition holds."
        ),
        mark("What happens: an action as typed at the desk, such as `power-off SERVER_A`."),
        mark("Time since the start."),
        mark("A moment in this window, drawn from the seed."),
        mark("Condition that triggers it, such as `Sales is SUSPENDED`."),
        mark("With `when`: delay after the condition first held."),
        mark("Why, for the instructor."),
        mark(
            "[[locked]]: an action that the trainee cannot do in this story: a spare part is missing, for example."
        ),
        mark(
            "The input line without its time, or its first words: `workload` locks every line that begins with it."
        ),
        mark("Time at which it is unlocked. None: never."),
        mark("Reason that the trainee is told."),
        mark("[[role]]: a person of the story and what this person knows."),
        mark("Name or office of the person."),
        mark("What this person knows and wants."),
        mark("[[goal]]: a state to reach and to keep until the end."),
        mark("Short name for hints to refer to."),
        mark("Text for the learner: the state at the end."),
        mark("The condition by which it is reached, such as `Sales is SYNCHRONIZED`."),
        mark("Not judged before this time (at the start everything is healthy)."),
        mark("Time for which it has to hold."),
        mark("Deadline since the start; missed after it."),
        mark("Weight in the points for goals."),
        mark("[[forbidden]]: a state that must never be reached."),
        mark("Short name."),
        mark("Text for the debrief."),
        mark("The condition by which it is reached, such as `Sales on SERVER_B is PRINCIPAL`."),
        mark("Reaching it ends the drill."),
        mark("What would have been better, for the debrief."),
        mark(
            "[[question]]: what has happened, and why? Asked at a moment, answered once, explained "
            "when the drill is over."
        ),
        mark("Short name for the answer command."),
        mark("Text of the question."),
        mark("Time since the start at which the question is asked."),
        mark("Condition at which the question is asked."),
        mark("Time for the answer. None: until the end."),
        mark("Possible answers."),
        mark("Numbers of the right choices, from 1; each of them counts as right."),
        mark("Numbers of the right choices in this case, from 1."),
        mark("With `when`: delay after the condition began to hold; asked only if it still holds."),
        mark(
            "Precondition of the question. While it does not hold the question is not asked; a "
"question that is never asked does not count."
        ),
        mark(
            "Precondition of `why`, such as `Sales is ARMED`. Where it does not hold when the "
"action is seen, the action costs nothing here."
        ),
        mark("Condition of the other outcome, such as `forced_failovers(Sales) > 0`; checked "
"when the question is asked."),
        mark("The explanation in this case, shown when the drill is over."),
        mark("Other right answers for other outcomes of the run; the first one whose condition holds counts."),
        mark("The explanation, shown when the drill is over."),
        mark("Weight in the points for diagnosis."),
        mark("The clock is paused until the question is answered."),
        mark("[[predict]]: the clock is paused; what will happen next? Judged later by what happens."),
        mark("Time for the answer; after it the outcome can be seen."),
        mark(
            "Time after the question at which the conditions of the choices are checked; those that hold are right."
        ),
        mark("Possible outcomes, each with the condition by which it is judged."),
        mark("Text of the outcome."),
        mark("Condition by which the outcome is recognised."),
        mark("Weight in the points for predictions."),
        mark("[[hint]]: three layers of help towards one goal, each with its cost in points."),
        mark("Short name of its goal."),
        mark("Where to look."),
        mark("What it means."),
        mark("What to type."),
        mark("Price of each of the three layers in points; in guided mode they are free."),
        mark(
            "[[solution]]: an input line with its time (`95 …`, or `+5 …` after the previous "
"step or the condition)."
        ),
        mark(
            "An action with its time: `95 power-on SERVER_A` at 95 s, `+5 …` 5 s after the "
"previous step or the condition."
        ),
        mark("Condition that it waits for."),
        mark("Why this, and why now."),
        mark("Points for goals reached, divided by weight."),
        mark("Name of this part of the score."),
        mark("Maximum; the parts add up to 100."),
        mark("Advice for the full points."),
        mark(
            "Downtime: full points up to a target, none after a limit, linear in between."
        ),
        mark("None: all databases together."),
        mark("Full points up to here."),
        mark("No points from here on."),
        mark("Time unprotected, without a synchronized mirror: points as for downtime."),
        mark("Committed transactions lost: points as for downtime."),
        mark("Lost transactions up to which the points are full."),
        mark("Lost transactions from which on there are no points."),
        mark("Full points if the condition holds at the end."),
        mark("Condition at the end, such as `witness of Sales is CONNECTED`."),
        mark("Full points unless one of the forbidden states was reached."),
        mark("Points for right answers, divided by weight."),
        mark("Points for predictions that came true, divided by weight."),
        mark("Points less the price of wrong, refused and harmful commands."),
        mark("Price of each command that the server refuses."),
        mark("Actions that cost points of conduct, each once."),
        mark('Condition by which the action is seen, such as `ran "SET PARTNER OFF"`.'),
        mark("Price in points."),
        mark("What is wrong with it, for the debrief."),
        mark("[fidelity]: limits of the simulation in this drill."),
        mark("What is simulated faithfully."),
        mark("What is simplified."),
        mark("What is not simulated."),
    }
)  # fmt: skip
"""What the schema says of tables and keys of scenario files. The form reads what stands after `None: `."""
