"""Words that stand in the engine's tables, marked here for translation: the engine knows no languages.

Whoever shows one gives it to `tr`. A test compares them with the tables that they come from.
"""

from __future__ import annotations

from typing import Final

from app.language import mark

VERB_HELP: Final = frozenset(
    {
        mark("cut the power of a server"),
        mark("switch a server on; it boots and starts SQL Server"),
        mark("shut the operating system down"),
        mark("stop the SQL Server service"),
        mark("start the SQL Server service"),
        mark("stop and start the SQL Server service"),
        mark("freeze the instance: it is there and answers nothing"),
        mark("let a frozen instance go on"),
        mark("pull all network cables of a server"),
        mark("plug all network cables of a server"),
        mark("cut one link; both ends lose the carrier"),
        mark("mend one link, whatever was done to it"),
        mark("drop all packets of one link in silence"),
        mark("drop the packets from one end to the other in silence"),
        mark("reset the open connections of one link; they may reconnect"),
        mark("change one link"),
        mark("slow a disk down by a factor; 1 is healthy"),
        mark("slow the processors down by a factor; 1 is healthy"),
        mark("fill the log file of the serving copy"),
        mark("leave a transaction open: its log and all after it must stay"),
        mark("end the transaction that was left open"),
        mark("the volume of one database fails"),
        mark("replace the failed volume of one database"),
        mark("close a port of a server"),
        mark("open a port of a server"),
        mark("disable TCP/IP from the next start of the service on"),
        mark("enable TCP/IP from the next start of the service on"),
        mark("stop SQL Server Agent: no job runs"),
        mark("start SQL Server Agent"),
        mark("let a certificate (the endpoint's) have expired"),
        mark("give a certificate its former end of life"),
        mark("damage a page of one copy of a database"),
        mark("restore the damaged pages of one copy"),
        mark("take back every fault that is still active"),
        mark("change what the clients do (Workload1, Workload2, none, …)"),
        mark("load rows in bulk, batch by batch"),
        mark("rebuild a large index in one transaction"),
        mark("stop a client application"),
        mark("start a client application"),
        mark("point an application at a server"),
        mark("copy a file to the same path"),
        mark("delete a file"),
        mark("copy logins with their SIDs and passwords"),
        mark("copy jobs, disabled"),
        mark("enable one job, or all"),
        mark("disable one job, or all"),
        mark("create a linked server"),
        mark("copy the definitions of linked servers"),
        mark("add a drive"),
        mark("give a drive a new size"),
        mark("have SQL Server run under another account; it restarts"),
        mark("install a version (the present one: a service pack); the service is down meanwhile"),
        mark("send T-SQL to a server"),
        mark("cancel the running batch of a window"),
        mark("write a remark into the run"),
        mark("open a hint: 1 where to look, 2 what it means, 3 what to type"),
        mark("answer a question that has been asked, by the number of a choice"),
        mark("note that somebody came back to this moment, from which one, and what is known since"),
        mark("end the drill and have it scored"),
    }
)
"""What each verb of an input line does."""

SKILLS: Final = frozenset(
    {
        mark("Reading the state"),
        mark(
            "Read role, state, safety and witness of a session from the catalog views, on the right server."
        ),
        mark("Reading errors"),
        mark("Read the error a server gives and its ERRORLOG, and tell from them what is wrong."),
        mark("Monitoring"),
        mark("Use the Database Mirroring Monitor, its thresholds and alerts, and know how old its rows are."),
        mark("Setting a session up"),
        mark("Backup, restore with all log backups, partners in the right order, witness last."),
        mark("Endpoints"),
        mark("Check and mend endpoints: state, port, role, encryption, firewall, permission to connect."),
        mark("Certificates"),
        mark("Authenticate partners by certificates where domains do not trust one another."),
        mark("Quorum"),
        mark("Tell who still sees whom, and therefore who may serve."),
        mark("Automatic failover"),
        mark("Know when a mirror takes over by itself, and leave it to it."),
        mark("Why it did not fail over"),
        mark("Say why an automatic failover did or did not happen, and where that could be seen."),
        mark("Detection of failures"),
        mark("Know how failures are noticed, after how long, and what a partner timeout costs either way."),
        mark("Manual failover"),
        mark("Move a database by hand at the right moment, with nothing lost."),
        mark("Forced service"),
        mark("Force service only where it must be, know what is lost, and bring the session back after it."),
        mark("Removing a session"),
        mark("Remove a session or recover its mirror when nothing else brings service back."),
        mark("Suspend and resume"),
        mark("Suspend, resume, and never forget a session that is suspended."),
        mark("Restoring protection"),
        mark("Bring the lost partner back, so that the next failure is harmless too."),
        mark("Split brain"),
        mark("Prevent two principals of one database, and put them together again."),
        mark("Choosing safety"),
        mark("Choose safety, durability and witness by distance, load and what may be lost."),
        mark("Send and redo queue"),
        mark("Read both queues, and estimate loss and failover time from them."),
        mark("Log space"),
        mark("See why a log cannot be reused, and act before it is full."),
        mark("Planned maintenance"),
        mark("Patch, upgrade and reconfigure with hardly any time without service."),
        mark("Around the database"),
        mark("Bring along what a failover does not: logins, jobs, linked servers."),
        mark("Several databases"),
        mark("Run many mirrored databases on one server, and those that belong together."),
    }
)
"""Titles and texts of the skills."""

PRECONDITIONS: Final = frozenset(
    {
        mark("a witness is configured"),
        mark("safety is FULL"),
        mark("the mirror was SYNCHRONIZED when it last saw the principal"),
        mark("the mirror runs and can redo its log"),
        mark("mirror and witness see each other"),
        mark("the principal has not run exposed since"),
        mark("the mirror has lost the principal"),
        mark("the witness has lost the principal"),
    }
)
"""What an automatic failover needs."""

SCHEMA_KEYS: Final = frozenset(
    {
        mark("Absent"),
        mark("Algorithms"),
        mark("Allow revert all"),
        mark("Async backlog unsynchronizes"),
        mark("Auto failover after witness cut"),
        mark("Better"),
        mark("Between"),
        mark("Blocked ports"),
        mark("Boot"),
        mark("Certificate"),
        mark("Choice"),
        mark("Choices"),
        mark("Compression ratio"),
        mark("Cores"),
        mark("Cost"),
        mark("Count"),
        mark("Data source"),
        mark("Delayed durability"),
        mark("Domain"),
        mark("Early"),
        mark("Edition"),
        mark("Encryption"),
        mark("Endpoint"),
        mark("Facilitator"),
        mark("Failover partner"),
        mark("Hold"),
        mark("Jitter"),
        mark("Jobs for"),
        mark("Judged after"),
        mark("Level"),
        mark("Limit"),
        mark("Log backup every"),
        mark("Log max"),
        mark("Log size"),
        mark("Login"),
        mark("Loss"),
        mark("Max worker threads"),
        mark("Means"),
        mark("Modelled"),
        mark("Name"),
        mark("Paper"),
        mark("Port"),
        mark("Price"),
        mark("Recovery model"),
        mark("Refused"),
        mark("Restart service"),
        mark("Restored on"),
        mark("Resume on mirror"),
        mark("Section"),
        mark("Seed"),
        mark("Service account"),
        mark("Simplified"),
        mark("Site"),
        mark("Start time"),
        mark("Summary"),
        mark("Target"),
        mark("Timeout"),
        mark("Trace flags"),
        mark("Until"),
        mark("Variants"),
        mark("Weight"),
        mark("Why"),
        mark("Within"),
        mark("Witness off on mirror"),
    }
)
"""Keys of scenario files as the editor's form words them, those that stand nowhere else."""

SCHEMA_NOTES: Final = frozenset(
    {
        mark("How long it takes a person, for planning."),
        mark("Who wrote the file, as the file says: plain text that nobody has verified."),
        mark("The drill ends after this time, whatever has been reached."),
        mark(
            "Whether `revert-all` can be used although something is scored: it finds and mends every "
            "fault at once."
        ),
        mark(
            "Why it is right to do everything before the story's faults come; None: with a timeline it "
            "is not."
        ),
        mark("Notes for the instructor."),
        mark("Where the matter of the drill is published."),
        mark("[settings]: choices that the documents leave open; the fields of model.Settings."),
        mark("[[server]]: a computer with one instance on it."),
        mark("None: as many as the site's servers have."),
        mark("Name of the hardware in flow/sites.py."),
        mark(
            "Account under which the instance runs; the same one everywhere needs no permission to connect."
        ),
        mark("0: as many as the product chooses for the cores."),
        mark(
            "Databases for which it has the usual jobs, enabled: log backup, index maintenance, nightly load."
        ),
        mark(
            "Certificate by which it is known to others; [[before]] lines create it. None: by the "
            "service account."
        ),
        mark(
            "[[link]]: the network between two ends, the same both ways; pairs not named have a local "
            "network."
        ),
        mark("[[database]]: a user database and what its clients do."),
        mark(
            "So many equal databases, numbered on from the name: Branch001 with 100 is Branch001 to "
            "Branch100."
        ),
        mark("Where it is, if no session says so."),
        mark(
            "Servers on which a backup of it was restored WITH NORECOVERY, just before the drill; not "
            "with a session."
        ),
        mark("0: no log backup job."),
        mark("[[session]]: a database mirroring session that has been running for long."),
        mark("Of several equal databases the first; each of them has such a session."),
        mark("[[client]]: an application with its connection string."),
        mark("Its SQL login. Empty: one that every server knows and lets in."),
        mark(
            "[[before]]: an input line done before the drill starts, unseen: settings, logins, jobs, "
            "certificates, drives.\n\nNothing that takes time; its T-SQL is not charged to the trainee."
        ),
        mark(
            "[[timeline]]: an input line that the scenario gives, at a time, in a window, or when a "
            "condition holds."
        ),
        mark("Some moment of this window, drawn from the seed."),
        mark("With `when`: this long after the condition first held."),
        mark("Why, for the instructor."),
        mark(
            "[[locked]]: an act that the trainee cannot do, because of the story: a part has to be "
            "delivered first."
        ),
        mark(
            "The input line, without its time; or its first words: `workload` keeps away every one of "
            "its lines."
        ),
        mark("From then on it can be done. None: never."),
        mark("[[role]]: who takes part and what this person knows."),
        mark("[[goal]]: a state to be reached and to be kept until the end."),
        mark("Not judged before this time (at the start the system is whole)."),
        mark("It has to hold this long."),
        mark("Reached by this time since the start, or missed."),
        mark("Share of the points for goals."),
        mark("[[forbidden]]: a state that must never be reached."),
        mark("Reaching it ends the drill."),
        mark(
            "[[question]]: what has happened, and why? Asked at a moment, answered once, explained when "
            "the drill is over."
        ),
        mark("With `when`: asked this long after the condition first held."),
        mark("Time for the answer. None: until the end."),
        mark("Numbers of the choices that are right, from 1; any of them will do."),
        mark("Share of the points for diagnosis."),
        mark("Time stands still until it is answered."),
        mark("[[predict]]: time stands still; what will happen next? Judged a while later by what then is."),
        mark("Time for the answer: who waits has seen it."),
        mark(
            "So long after it was asked the conditions of the choices are looked at; those that hold are "
            "right."
        ),
        mark("Share of the points for predictions."),
        mark("[[hint]]: three layers of help towards one goal, each with its cost in points."),
        mark("Where to look."),
        mark("What it means."),
        mark("What to type."),
        mark(
            "[[solution]]: an input line with its time (`95 …`, or `+5 …` after the step "
            "before or the condition)."
        ),
        mark("None: all databases together."),
        mark("Price of each command that the server refuses."),
        mark("[fidelity]: how far the simulation can be trusted here."),
    }
)
"""What the schema says of tables and keys of scenario files. The form reads what stands after `None: `."""
