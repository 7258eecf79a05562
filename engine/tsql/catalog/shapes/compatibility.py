"""Views of SQL Server 2000, kept for its scripts. See __init__.py."""

from typing import Final

TEXT: Final = """
sys.sysaltfiles 2005: fileid smallint, groupid smallint, size int, maxsize int, growth int, status int, perf
    int, dbid smallint, name sysname, filename nvarchar(260)
sys.syscacheobjects 2005: bucketid int, cacheobjtype nvarchar(17), objtype nvarchar(8), objid int, dbid
    smallint, dbidexec smallint, uid smallint, refcounts int, usecounts int, pagesused int, setopts int,
    langid smallint, dateformat smallint, status int, lasttime bigint, maxexectime bigint, avgexectime
    bigint, lastreads bigint, lastwrites bigint, sqlbytes int, sql nvarchar(3900)
sys.syscharsets 2005: type smallint, id tinyint, csid tinyint, status smallint, name sysname, description
    nvarchar(255), binarydefinition varbinary(6000), definition image
sys.syscolumns 2005: name sysname, id int, xtype tinyint, typestat tinyint, xusertype smallint, length
    smallint, xprec tinyint, xscale tinyint, colid smallint, xoffset smallint, bitpos tinyint, reserved
    tinyint, colstat smallint, cdefault int, domain int, number smallint, colorder smallint, autoval
    varbinary(8000), offset smallint, collationid int, status tinyint, type tinyint, usertype smallint,
    printfmt varchar(255), prec smallint, scale int, iscomputed int, isoutparam int, isnullable int,
    collation sysname
sys.syscomments 2005: id int, number smallint, colid smallint, status smallint, ctext varbinary(8000),
    texttype smallint, language smallint, encrypted bit, compressed bit, text nvarchar(4000)
sys.sysconfigures 2005: value int, config int, comment nvarchar(255), status smallint
sys.sysconstraints 2012: constid int, id int, colid smallint, spare1 tinyint, status int, actions int, error
    int
sys.syscurconfigs 2005: value int, config smallint, comment nvarchar(255), status smallint
sys.sysdatabases 2005: name sysname, dbid smallint, sid varbinary(85), mode smallint, status int, status2
    int, crdate datetime, reserved datetime, category int, cmptlevel tinyint, filename nvarchar(260),
    version smallint
sys.sysdepends 2005: id int, depid int, number smallint, depnumber smallint, status smallint, deptype
    tinyint, depdbid smallint, depsiteid smallint, selall bit, resultobj bit, readobj bit
sys.sysdevices 2005: name sysname, size int, low int, high int, status smallint, cntrltype smallint, phyname
    nvarchar(260)
sys.sysfilegroups 2005: groupid smallint, allocpolicy smallint, status int, groupname sysname
sys.sysfiles 2005: fileid smallint, groupid smallint, size int, maxsize int, growth int, status int, perf
    int, name sysname, filename nvarchar(260)
sys.sysforeignkeys 2005: constid int, fkeyid int, rkeyid int, fkey smallint, rkey smallint, keyno smallint
sys.sysfulltextcatalogs 2005: ftcatid smallint, name sysname, status smallint, path nvarchar(260)
sys.sysindexes 2012: id int, status int, first binary(6), indid smallint, root binary(6), minlen smallint,
    keycnt smallint, groupid smallint, dpages int, reserved int, used int, rowcnt bigint, rowmodctr int,
    reserved3 int, reserved4 int, xmaxlen smallint, maxirow smallint, OrigFillFactor tinyint, StatVersion
    tinyint, reserved2 int, FirstIAM binary(6), impid smallint, lockflags smallint, pgmodctr int, keys
    varbinary(816), name sysname, statblob image, maxlen int, rows int
sys.sysindexkeys 2005: id int, indid smallint, colid smallint, keyno smallint
sys.syslanguages 2005: langid smallint, dateformat nchar(3), datefirst tinyint, upgrade int, name sysname,
    alias sysname, months nvarchar(372), shortmonths nvarchar(132), days nvarchar(217), lcid int, msglangid
    smallint
sys.syslockinfo 2005: rsc_text nchar(32), rsc_bin binary(16), rsc_valblk binary(16), rsc_dbid smallint,
    rsc_indid smallint, rsc_objid int, rsc_type tinyint, rsc_flag tinyint, req_mode tinyint, req_status
    tinyint, req_refcnt smallint, req_cryrefcnt smallint, req_lifetime int, req_spid int, req_ecid int,
    req_ownertype smallint, req_transactionID bigint, req_transactionUOW uniqueidentifier
sys.syslogins 2005: sid varbinary(85), status smallint, createdate datetime, updatedate datetime, accdate
    datetime, totcpu int, totio int, spacelimit int, timelimit int, resultlimit int, name sysname, dbname
    sysname, password nvarchar(128), language sysname, denylogin int, hasaccess int, isntname int, isntgroup
    int, isntuser int, sysadmin int, securityadmin int, serveradmin int, setupadmin int, processadmin int,
    diskadmin int, dbcreator int, bulkadmin int, loginname nvarchar(128)
sys.sysmembers 2005: memberuid smallint, groupuid smallint
sys.sysmessages 2005: error int, severity tinyint, dlevel smallint, description nvarchar(255), msglangid
    smallint
sys.sysobjects 2005: name sysname, id int, xtype char(2), uid smallint, info smallint, status int,
    base_schema_ver int, replinfo int, parent_obj int, crdate datetime, ftcatid smallint, schema_ver int,
    stats_schema_ver int, type char(2), userstat smallint, sysstat smallint, indexdel smallint, refdate
    datetime, version int, deltrig int, instrig int, updtrig int, seltrig int, category int, cache smallint
sys.sysoledbusers 2005: rmtsrvid smallint, rmtloginame nvarchar(128), rmtpassword nvarchar(128), loginsid
    varbinary(85), status smallint, changedate datetime
sys.sysperfinfo 2005: object_name nchar(128), counter_name nchar(128), instance_name nchar(128), cntr_value
    bigint, cntr_type int
sys.syspermissions 2005: id int, grantee smallint, grantor smallint, actadd smallint, actmod smallint,
    seladd varbinary(4000), selmod varbinary(4000), updadd varbinary(4000), updmod varbinary(4000), refadd
    varbinary(4000), refmod varbinary(4000)
sys.sysprocesses 2005: spid smallint, kpid smallint, blocked smallint, waittype binary(2), waittime bigint,
    lastwaittype nchar(32), waitresource nchar(256), dbid smallint, uid smallint, cpu int, physical_io
    bigint, memusage int, login_time datetime, last_batch datetime, ecid smallint, open_tran smallint,
    status nchar(30), sid binary(86), hostname nchar(128), program_name nchar(128), hostprocess nchar(10),
    cmd nchar(16), nt_domain nchar(128), nt_username nchar(128), net_address nchar(12), net_library
    nchar(12), loginame nchar(128), context_info binary(128), sql_handle binary(20), stmt_start int,
    stmt_end int, request_id int
sys.sysprotects 2005: id int, uid smallint, action tinyint, protecttype tinyint, columns varbinary(8000),
    grantor smallint
sys.sysreferences 2005: constid int, fkeyid int, rkeyid int, rkeyindid smallint, keycnt smallint, forkeys
    varbinary(32), refkeys varbinary(32), fkeydbid smallint, rkeydbid smallint, fkey1 smallint, fkey2
    smallint, fkey3 smallint, fkey4 smallint, fkey5 smallint, fkey6 smallint, fkey7 smallint, fkey8
    smallint, fkey9 smallint, fkey10 smallint, fkey11 smallint, fkey12 smallint, fkey13 smallint, fkey14
    smallint, fkey15 smallint, fkey16 smallint, rkey1 smallint, rkey2 smallint, rkey3 smallint, rkey4
    smallint, rkey5 smallint, rkey6 smallint, rkey7 smallint, rkey8 smallint, rkey9 smallint, rkey10
    smallint, rkey11 smallint, rkey12 smallint, rkey13 smallint, rkey14 smallint, rkey15 smallint, rkey16
    smallint
sys.sysremotelogins 2005: remoteserverid smallint, remoteusername sysname, status smallint, sid
    varbinary(85), changedate datetime
sys.sysservers 2005: srvid smallint, srvstatus smallint, srvname sysname, srvproduct sysname, providername
    nvarchar(128), datasource nvarchar(4000), location nvarchar(4000), providerstring nvarchar(4000),
    schemadate datetime, topologyx int, topologyy int, catalog sysname, srvcollation sysname, connecttimeout
    int, querytimeout int, srvnetname char(30), isremote bit, rpc bit, pub bit, sub bit, dist bit, dpub bit,
    rpcout bit, dataaccess bit, collationcompatible bit, system bit, useremotecollation bit,
    lazyschemavalidation bit, collation sysname, nonsqlsub bit
sys.systypes 2005: name sysname, xtype tinyint, status tinyint, xusertype smallint, length smallint, xprec
    tinyint, xscale tinyint, tdefault int, domain int, uid smallint, reserved smallint, collationid int,
    usertype smallint, variable bit, allownulls bit, type tinyint, printfmt varchar(255), prec smallint,
    scale tinyint, collation sysname
sys.sysusers 2005: uid smallint, status smallint, name sysname, sid varbinary(85), roles varbinary(2048),
    createdate datetime, updatedate datetime, altuid smallint, password varbinary(256), gid smallint,
    environ varchar(255), hasdbaccess int, islogin int, isntname int, isntgroup int, isntuser int, issqluser
    int, isaliased int, issqlrole int, isapprole int
"""
