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
        mark("a drive fails, with all files on it"),
        mark("replace a failed drive; its files are there again"),
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

SCHEMA_NOTES: Final = frozenset(
    {
        mark("What the drill is called in the list of drills."),
        mark("One sentence for the list of drills: what happens, and what is to be done."),
        mark("For whom it is."),
        mark("How long it takes a person, for planning."),
        mark("What is trained; by these the list of drills can be searched."),
        mark("Who wrote the file, as the file says: plain text that nobody has verified."),
        mark("Decides everything that is left to chance. The same number gives the same run."),
        mark("The drill ends after this time, whatever has been reached."),
        mark(
            "Whether `revert-all` can be used although something is scored: it finds and mends every "
            "fault at once."
        ),
        mark(
            "Why it is right to do everything before the story's faults come; None: with a timeline it "
            "is not."
        ),
        mark("What the learner reads before the clock starts."),
        mark("Notes for the instructor."),
        mark("[[source]]: where the matter of the drill is published."),
        mark("Title of the paper, manual page or talk, as one would look it up."),
        mark("Chapter, page or figure in it."),
        mark("Names, sizes and times of which the seed picks one for {name} in the texts."),
        mark("[settings]: choices that the documents leave open."),
        mark(
            "There is an automatic failover although only the link between principal and witness was "
            "cut before."
        ),
        mark("SET PARTNER RESUME is taken by the mirror, too."),
        mark("SET WITNESS OFF is taken by the mirror, too."),
        mark("With safety OFF a new backlog turns SYNCHRONIZED back into SYNCHRONIZING."),
        mark("Time from power on until SQL Server starts."),
        mark("Time that the service needs to start."),
        mark("Date and time that the servers show when the drill starts."),
        mark("[[server]]: a computer with one instance on it."),
        mark("Name of the computer and of the instance on it."),
        mark("SQL Server by its year. 2008 and later compress the log on the way to the mirror."),
        mark("Standard mirrors with safety FULL only."),
        mark("Processor cores. None: as many as the site's servers have."),
        mark("Hardware that it runs on: disks, processors and network as in one of the papers."),
        mark("Windows domain. Servers of different domains need certificates to connect."),
        mark("Account under which the instance runs; the same one everywhere needs no permission to connect."),
        mark("Trace flags that are on from the start, such as 1462 (the log is not compressed)."),
        mark("0: as many as the product chooses for the cores."),
        mark("TCP ports that its firewall keeps closed at the start."),
        mark(
            "Databases for which it has the usual jobs, enabled: log backup, index maintenance, "
            "nightly load."
        ),
        mark("Its database mirroring endpoint."),
        mark("TCP port on which it listens."),
        mark("STOPPED and DISABLED answer nobody."),
        mark("Whether it takes part as a partner, as a witness, or both (ALL)."),
        mark("What it asks of the other end; REQUIRED and DISABLED do not go together."),
        mark("In the order of preference; both ends need one in common."),
        mark(
            "Certificate by which it is known to others; [[before]] lines create it. None: by the "
            "service account."
        ),
        mark(
            "[[link]]: the network between two ends, the same both ways; pairs not named have a local "
            "network."
        ),
        mark("The two servers, or an application and a server."),
        mark("Round trip time of a packet without any load."),
        mark("By how much the round trip varies."),
        mark("What it carries in each direction."),
        mark("Share of the packets that are lost: 0.01 is one in a hundred."),
        mark("[[database]]: a user database and what its clients do."),
        mark("Name of the database; of several equal ones that of the first."),
        mark(
            "So many equal databases, numbered on from the name: Branch001 with 100 is Branch001 to "
            "Branch100."
        ),
        mark("Where it is, if no session says so."),
        mark(
            "Servers on which a backup of it was restored WITH NORECOVERY, just before the drill; not "
            "with a session."
        ),
        mark("What its applications do, as measured in the papers; none: nothing."),
        mark("So many times the workload."),
        mark("Size of its data."),
        mark("Size of its log file at the start."),
        mark("Size up to which its log file grows; then it is full."),
        mark("A mirrored database has FULL."),
        mark("Size of its log on the way to the mirror, where it is compressed: 0.27 is 27 %."),
        mark("Whether a commit waits for the log to be written (SQL Server 2014)."),
        mark("Time between two backups of its log. 0: no log backup job."),
        mark("[[session]]: a database mirroring session that has been running for long."),
        mark("Of several equal databases the first; each of them has such a session."),
        mark("Server that serves the database at the start."),
        mark("Server that holds the copy."),
        mark("Third server that votes. None: no witness, so no automatic failover."),
        mark("FULL waits for the mirror with each commit; OFF does not."),
        mark("Silence after which a partner counts as lost (SET PARTNER TIMEOUT)."),
        mark("How it stands at the start."),
        mark("[[client]]: an application with its connection string."),
        mark("Name of the application."),
        mark("Databases that it works in."),
        mark("Server that its connection string names first."),
        mark(
            "Server that its connection string names as failover partner. None: the second is not "
            "known to it."
        ),
        mark("Its SQL login. Empty: one that every server knows and lets in."),
        mark(
            "[[before]]: an input line done before the drill starts, unseen: settings, logins, jobs, "
            "certificates, drives.\n\nNothing that takes time; its T-SQL is not charged to the trainee."
        ),
        mark("An act as it is typed at the desk, such as `sql SERVER_A CREATE LOGIN …`."),
        mark(
            "[[timeline]]: an input line that the scenario gives, at a time, in a window, or when a "
            "condition holds."
        ),
        mark("What happens: an act as it is typed at the desk, such as `power-off SERVER_A`."),
        mark("Time since the start at which it happens."),
        mark("Some moment of this window, drawn from the seed."),
        mark("It happens when this holds, such as `Sales is SUSPENDED`."),
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
        mark("What the trainee is told who tries it."),
        mark("[[role]]: who takes part and what this person knows."),
        mark("Who it is: a name, an office."),
        mark("What this person knows and wants."),
        mark("[[goal]]: a state to be reached and to be kept until the end."),
        mark("Short name by which hints refer to it."),
        mark("What the learner reads: what has to be so at the end."),
        mark("The condition by which it is reached, such as `Sales is SYNCHRONIZED`."),
        mark("Not judged before this time (at the start the system is whole)."),
        mark("It has to hold this long."),
        mark("Reached by this time since the start, or missed."),
        mark("Share of the points for goals."),
        mark("[[forbidden]]: a state that must never be reached."),
        mark("Short name of it."),
        mark("What it is, for the debrief."),
        mark("The condition by which it is reached, such as `Sales on SERVER_B is PRINCIPAL`."),
        mark("Reaching it ends the drill."),
        mark("What would have been better, for the debrief."),
        mark(
            "[[question]]: what has happened, and why? Asked at a moment, answered once, explained "
            "when the drill is over."
        ),
        mark("Short name by which it is answered."),
        mark("What is asked."),
        mark("Time since the start at which it is asked."),
        mark("It is asked when this holds."),
        mark("Time for the answer. None: until the end."),
        mark("What can be answered."),
        mark("Numbers of the choices that are right, from 1; any of them will do."),
        mark("Numbers of the choices that are right then, from 1."),
        mark("With `when`: asked this long after the condition began to hold, if it holds then."),
        mark(
            "What the question takes for granted. While it does not hold the question is not asked, and one "
            "that was never asked is not counted."
        ),
        mark(
            "What `why` takes for granted, such as `Sales is ARMED`. Where it does not hold when the act is "
            "seen, the act costs nothing here."
        ),
        mark("The other course, such as `forced_failovers(Sales) > 0`; looked at when the question is asked."),
        mark("The explanation that fits, read when the drill is over."),
        mark("Other right answers for other courses of the run; the first whose condition holds counts."),
        mark("The explanation, read when the drill is over."),
        mark("Share of the points for diagnosis."),
        mark("Time stands still until it is answered."),
        mark("[[predict]]: time stands still; what will happen next? Judged a while later by what then is."),
        mark("Time for the answer: who waits has seen it."),
        mark(
            "So long after it was asked the conditions of the choices are looked at; those that hold "
            "are right."
        ),
        mark("What can be expected, each with the condition by which it is judged."),
        mark("What may be expected."),
        mark("The condition by which it is seen to have come."),
        mark("Share of the points for predictions."),
        mark("[[hint]]: three layers of help towards one goal, each with its cost in points."),
        mark("Short name of the goal that it leads to."),
        mark("Where to look."),
        mark("What it means."),
        mark("What to type."),
        mark("Points that each of the three layers costs; in guided mode none."),
        mark(
            "[[solution]]: an input line with its time (`95 …`, or `+5 …` after the step before or the "
            "condition)."
        ),
        mark(
            "An act with its time: `95 power-on SERVER_A` at 95 s, `+5 …` 5 s after the step before or "
            "the condition."
        ),
        mark("It waits until this holds."),
        mark("Why this, and why now."),
        mark("Points for goals reached, shared out by their weights."),
        mark("Name of this part of the score."),
        mark("Points that can be had; those of all parts make 100."),
        mark("What would have earned all the points."),
        mark(
            "A short time without service: full points up to a target, none from a limit on, "
            "in a straight line between."
        ),
        mark("None: all databases together."),
        mark("Up to here all the points."),
        mark("From here on none."),
        mark("A short time served without a synchronized mirror: points as for the time without service."),
        mark("Few committed transactions lost: points as for the time without service."),
        mark("Transactions lost up to which there are all the points."),
        mark("Transactions lost from which on there are none."),
        mark("All the points if the condition holds at the end."),
        mark("What has to hold at the end, such as `witness of Sales is CONNECTED`."),
        mark("All the points unless one of the forbidden states was reached."),
        mark("Points for questions answered rightly, shared out by their weights."),
        mark("Points for predictions that came true, shared out by their weights."),
        mark("Points that wrong, refused and harmful commands take away."),
        mark("Price of each command that the server refuses."),
        mark("Acts that cost points of conduct, each once."),
        mark("The condition by which the act is seen, such as `ran \"SET PARTNER OFF\"`."),
        mark("Points that it costs."),
        mark("What is wrong with it, for the debrief."),
        mark("[fidelity]: how far the simulation can be trusted here."),
        mark("What is simulated as it is."),
        mark("What is simulated more simply than it is."),
        mark("What is not simulated."),
    }
)  # fmt: skip
"""What the schema says of tables and keys of scenario files. The form reads what stands after `None: `."""
