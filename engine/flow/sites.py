"""Test sites and workloads of the papers: every constant once, with unit, source and class.

Classes: *documented*, *known* (product or hardware figure), *derived*, *read off*, *fitted* (to the figures named),
*bounded* (figures leave a narrow range), *assumed*. Papers: [WP] Database Mirroring Best Practices and Performance
Considerations, 2006; from the SQLCAT guide [COMP] log compression and [AG] availability groups compared with mirroring;
[MANY] mirroring many databases; [BW] Mirroring and Bandwidth; [DD] Delayed durability and mirroring.
"""

from __future__ import annotations

from typing import Final

from msgspec.structs import replace

from engine.flow.setup import Site, Workload

NEC: Final = Site(
    name="NEC Express5800, SQL Server 2005 RC1",
    cores=8,  # documented: 8 Itanium2 1.5 GHz [WP appendix A]
    log_write_ms=4.0,  # derived: one revolution at 15,000 rpm; a sequential write just misses its sector
    log_block_kb=60.0,  # known: largest log block
    mirror_copy_ms=0.155,  # fitted: Workload2 OFF, 211 instead of 215 transactions/s [WP table 3a]
    ack_latency_ms=42.0,  # fitted: Workload2 FULL, 158 transactions/s wants 40.7; Workload1, 0.19 s, wants 59
    log_limit_kb_2005=480.0,  # assumed: log manager's limit on outstanding log writes before 2008, from memory
    log_limit_kb=3840.0,  # assumed: the same since 2008
    send_window_kb=64.0,  # bounded: 40 to 75, Workload1 OFF passes at 50 ms and not at 100 [WP fig. 10-11]
    window_handling_ms=5.0,  # bounded: 4.8 to 5.2, Workload2 OFF at 2 ms, index rebuild [WP fig. 3, 12]
    wire_efficiency=0.949,  # derived: 1460 / 1538 bytes of an Ethernet frame
    message_cpu_ms=0.697,  # fitted: least squares on the eight CPU figures with mirroring [WP tables 2, 3]
    mirror_message_cpu_ms=0.697,  # the same constant
    full_message_cpu_ms=0.211,  # fitted: with it
    wire_cpu_us_per_kb=50.5,  # fitted: with it
    encryption_cpu_us_per_kb=4.5,  # assumed: RC4 at about 220 MB/s; "marginal" [WP fig. 6-7]
    compress_cpu_us_per_kb=62.0,  # assumed: not in this build; the 16-core site's figure at this processor
    decompress_cpu_us_per_kb=45.0,  # assumed: likewise
    redo_cpu_us_per_touch=60.0,  # fitted: with the CPU figures
    mirror_flush_s=0.714,  # fitted: pages written by the mirror per transaction at two rates [WP table 3b]
    checkpoint_interval_s=60.0,  # known: recovery interval of one minute
    checkpoint_pages_per_s=7500.0,  # fitted: stop service and shut down server under load [WP table 6]
    mirror_flush_pages_per_s=4800.0,  # read off: highest sustained mirror writes, 37,143 KB/s [WP table 3b]
    log_streams=6.0,  # derived: 12 disks in RAID 1+0 are six pairs [WP appendix A]
    lan_rtt_ms=0.2,  # assumed: [WP table 7] says 0 to 2
)

FASTER: Final = 0.4
"""Core time on x64 servers of 2007 and later, relative to the 1.5 GHz Itanium2. Assumed."""


def _on_newer_cores(site: Site, name: str, cores: int) -> Site:
    """Return *site* with *cores* cores that do the same work in FASTER of the time."""
    return replace(
        site,
        name=name,
        cores=cores,
        message_cpu_ms=site.message_cpu_ms * FASTER,
        mirror_message_cpu_ms=site.mirror_message_cpu_ms * FASTER,
        full_message_cpu_ms=site.full_message_cpu_ms * FASTER,
        wire_cpu_us_per_kb=site.wire_cpu_us_per_kb * FASTER,
        encryption_cpu_us_per_kb=site.encryption_cpu_us_per_kb * FASTER,
        compress_cpu_us_per_kb=25.0,  # assumed: 40 MB/s a core; "as much as twice" the CPU [COMP fig. 4]
        decompress_cpu_us_per_kb=18.0,  # assumed: 55 MB/s a core
        redo_cpu_us_per_touch=site.redo_cpu_us_per_touch * FASTER,
    )


UNISYS: Final = replace(
    _on_newer_cores(NEC, "Unisys x64, SQL Server 2008 CTP", 16),  # documented: 16 processors [COMP]
    background_cores=0.6,  # fitted: CPU with compression "as much as twice" that without [COMP fig. 4]
)

SHAREPOINT: Final = replace(
    _on_newer_cores(NEC, "SharePoint farm, SQL Server 2005", 4),  # documented: one quad core [BW]
    log_streams=2.0,  # derived: four spindles in RAID 10 [BW]
    ack_latency_ms=25.0,  # bounded: below 35, else the log limit of 2005 would show over 100 Mbps [BW]
    window_handling_ms=2.0,  # derived: NEC's by FASTER
)

THREE_PAR: Final = replace(
    _on_newer_cores(NEC, "Dell PE6950 with 3PAR, SQL Server 2008", 8),  # documented: 4 x 2 cores [MANY]
    log_write_ms=0.5,  # assumed: into the array's cache
    mirror_copy_ms=0.0,  # assumed: one-row blocks
    log_streams=1000.0,  # assumed: 240 disks behind a cache [MANY]
    ack_latency_ms=18.0,  # fitted: 100 databases, 375 free workers carry 12,102 requests/s [MANY]
    message_cpu_ms=0.05,  # fitted: CPU of the principal, with the transactions' own [MANY]
    full_message_cpu_ms=0.0,  # in message_cpu_ms
    mirror_message_cpu_ms=0.39,  # fitted: CPU of the mirror [MANY]
    wake_up_us=55.0,  # fitted: CPU of the mirror per request falls with their number [MANY]
)

SSD: Final = replace(
    _on_newer_cores(NEC, "SSD data disk, SQL Server 2012", 32),  # assumed
    log_write_ms=0.88,  # fitted: 5,000 requests/s with an availability group [AG fig. 3]
    log_reread_share=0.28,  # fitted: 4,000 requests/s with mirroring; its log cache is of fixed size [AG fig. 3]
    ack_latency_ms=2.0,  # assumed
    send_window_kb=1024.0,  # assumed: window scaling of later Windows
    window_handling_ms=0.5,  # assumed: so that the channel is no limit at this log rate
    checkpoint_pages_per_s=64_000.0,  # read off: bursts of 500 MB/s [AG fig. 1]
    mirror_flush_pages_per_s=64_000.0,  # the same disk
)

DELAYED: Final = replace(
    _on_newer_cores(NEC, "delayed durability test, SQL Server 2014", 8),  # assumed
    log_write_ms=0.5,  # assumed
    ack_latency_ms=5.3,  # fitted: 98,850 rows in 30 s in high safety mode [DD]
    window_handling_ms=2.0,  # derived: NEC's by FASTER
)

WORKLOAD1: Final = Workload(
    name="Workload1",  # order management [WP table 1]
    connections=1000,  # documented
    think_s=1000 / 241 - 0.13,  # derived: Little's law on the baseline, 241 transactions/s and 0.13 s
    cpu_ms=1.328,  # derived: 4 % of 8 cores at 241 transactions/s
    other_delay_ms=124.5,  # derived: what remains of the baseline response time
    log_kb_per_transaction=720 / 241,  # derived
    page_touches=10.74,  # fitted with hot_pages: principal 4,500 and mirror 19,640 KB/s of data writes
    hot_pages=34_110,
    compression_ratio=0.5,  # assumed
)

WORKLOAD2: Final = Workload(
    name="Workload2",  # stock trading [WP table 1]
    connections=20,  # documented
    think_s=0.0,  # documented
    cpu_ms=14.73,  # derived: 39.6 % of 8 cores at 215 transactions/s
    other_delay_ms=61.7,  # derived: what remains of 20 / 215 s
    log_kb_per_transaction=55.7,  # derived: mean of three columns of [WP table 3a]
    page_touches=31.2,  # fitted with hot_pages: principal 1,500 and mirror 37,143 KB/s of data writes
    hot_pages=11_250,
    compression_ratio=0.27,  # read off: the same kind of application compresses by 73 %
    transactions_per_business_transaction=69.67,  # read off: responses give 68.8, 70.7, 69.5
)

STOCK_EXCHANGE: Final = replace(
    WORKLOAD2,
    name="StockExchange",  # 20 connections, 12 MB/s of log, like Workload2 [COMP]
    cpu_ms=WORKLOAD2.cpu_ms * FASTER,
    other_delay_ms=WORKLOAD2.other_delay_ms + WORKLOAD2.cpu_ms * (1.0 - FASTER),  # same log rate: documented
)

INSERTS: Final = Workload(
    name="Inserts",  # one row after another into many databases [MANY]
    connections=20,  # documented, for each database
    think_s=0.1271,  # fitted: 20 databases, 2,680 requests/s
    cpu_ms=0.37,  # fitted: CPU of the principal
    other_delay_ms=1.0,  # assumed
    log_kb_per_transaction=0.5,  # assumed
    page_touches=2.0,  # assumed
    hot_pages=2_000,  # assumed
)

USERS: Final = Workload(
    name="Users",  # 1,000 users of one OLTP database [AG]
    connections=1000,  # documented
    think_s=0.01,  # assumed: the log device is the limit
    cpu_ms=1.0,  # assumed
    other_delay_ms=10.0,  # assumed
    log_kb_per_transaction=11.5,  # assumed with the log device's speed
    page_touches=6.82,  # fitted: 205 MB/s of data writes on the mirror at 4,000 requests/s [AG fig. 1]
    hot_pages=492_000,  # fitted: 63 MB/s on a secondary at 5,000 requests/s [AG fig. 1]
)

LOG_ROWS: Final = Workload(
    name="LogRows",  # 50 threads insert into a log table [DD]
    connections=50,  # documented
    think_s=0.0,  # documented: a stress tool
    cpu_ms=0.5,  # assumed
    other_delay_ms=8.55,  # fitted: 165,757 rows in 30 s with delayed durability [DD]
    log_kb_per_transaction=2.15,  # fitted: transaction delay three times as large with it [DD]
    page_touches=1.0,  # assumed
    hot_pages=2_000,  # assumed
)

IDLE: Final = Workload(
    name="none",  # nobody works in the database
    connections=0,
    think_s=1.0,
    cpu_ms=1.0,
    other_delay_ms=10.0,
    log_kb_per_transaction=1.0,
    page_touches=1.0,
    hot_pages=1_000,
)

SITES: Final = {
    "nec": NEC,
    "unisys": UNISYS,
    "sharepoint": SHAREPOINT,
    "3par": THREE_PAR,
    "ssd": SSD,
    "delayed": DELAYED,
}
"""Hardware by the name that scenarios use."""

WORKLOADS: Final = {
    workload.name: workload
    for workload in (WORKLOAD1, WORKLOAD2, STOCK_EXCHANGE, INSERTS, USERS, LOG_ROWS, IDLE)
}
"""Workloads by the name that scenarios and input lines use."""
