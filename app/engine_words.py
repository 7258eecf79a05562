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
