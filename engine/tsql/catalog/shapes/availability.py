"""Views of availability groups and of the cluster under them. See __init__.py."""

from typing import Final

TEXT: Final = """
sys.availability_databases_cluster 2012: group_id uniqueidentifier, group_database_id uniqueidentifier,
    database_name sysname, truncation_lsn numeric
sys.availability_group_listener_ip_addresses 2012: listener_id nvarchar(36), ip_address nvarchar(48),
    ip_subnet_mask nvarchar(15), is_dhcp bit, network_subnet_ip nvarchar(48), network_subnet_prefix_length
    int, network_subnet_ipv4_mask nvarchar(45), state tinyint, state_desc nvarchar(60)
sys.availability_group_listeners 2012: group_id uniqueidentifier, listener_id nvarchar(36), dns_name
    nvarchar(63), port int, is_conformant bit, ip_configuration_string_from_cluster nvarchar(max)
sys.availability_groups 2012: group_id uniqueidentifier, name sysname, resource_id nvarchar(40),
    resource_group_id nvarchar(40), failure_condition_level int, health_check_timeout int,
    automated_backup_preference tinyint, automated_backup_preference_desc nvarchar(60)
sys.availability_groups_cluster 2012: group_id uniqueidentifier, name sysname, resource_id nvarchar(40),
    resource_group_id nvarchar(40), failure_condition_level int, health_check_timeout int,
    automated_backup_preference tinyint, automated_backup_preference_desc nvarchar(60)
sys.availability_read_only_routing_lists 2012: replica_id uniqueidentifier, routing_priority int,
    read_only_replica_id uniqueidentifier
sys.availability_replicas 2012: replica_id uniqueidentifier, group_id uniqueidentifier, replica_metadata_id
    int, replica_server_name nvarchar(256), owner_sid varbinary(85), endpoint_url nvarchar(128),
    availability_mode tinyint, availability_mode_desc nvarchar(60), failover_mode tinyint,
    failover_mode_desc nvarchar(60), session_timeout int, primary_role_allow_connections tinyint,
    primary_role_allow_connections_desc nvarchar(60), secondary_role_allow_connections tinyint,
    secondary_role_allow_connections_desc nvarchar(60), create_date datetime, modify_date datetime,
    backup_priority int, read_only_routing_url nvarchar(256)
sys.dm_hadr_auto_page_repair 2012: database_id int, file_id int, page_id bigint, error_type int, page_status
    int, modification_time datetime
sys.dm_hadr_availability_group_states 2012: group_id uniqueidentifier, primary_replica varchar(128),
    primary_recovery_health tinyint, primary_recovery_health_desc nvarchar(60), secondary_recovery_health
    tinyint, secondary_recovery_health_desc nvarchar(60), synchronization_health tinyint,
    synchronization_health_desc nvarchar(60)
sys.dm_hadr_availability_replica_cluster_nodes 2012: group_name nvarchar(256), replica_server_name
    nvarchar(256), node_name nvarchar(256)
sys.dm_hadr_availability_replica_cluster_states 2012: replica_id uniqueidentifier, replica_server_name
    nvarchar(256), group_id uniqueidentifier, join_state tinyint, join_state_desc nvarchar(60)
sys.dm_hadr_availability_replica_states 2012: replica_id uniqueidentifier, group_id uniqueidentifier,
    is_local bit, role tinyint, role_desc nvarchar(60), operational_state tinyint, operational_state_desc
    nvarchar(60), recovery_health tinyint, recovery_health_desc nvarchar(60), synchronization_health
    tinyint, synchronization_health_desc nvarchar(60), connected_state tinyint, connected_state_desc
    nvarchar(60), last_connect_error_number int, last_connect_error_description nvarchar(1024),
    last_connect_error_timestamp datetime
sys.dm_hadr_cluster 2012: cluster_name nvarchar(128), quorum_type tinyint, quorum_type_desc varchar(50),
    quorum_state tinyint, quorum_state_desc varchar(50)
sys.dm_hadr_cluster_members 2012: member_name nvarchar(128), member_type tinyint, member_type_desc
    nvarchar(50), member_state tinyint, member_state_desc nvarchar(60), number_of_quorum_votes tinyint
sys.dm_hadr_cluster_networks 2012: member_name nvarchar(128), network_subnet_ip nvarchar(48),
    network_subnet_ipv4_mask nvarchar(45), network_subnet_prefix_length int, is_public bit, is_ipv4 bit
sys.dm_hadr_database_replica_cluster_states 2012: replica_id uniqueidentifier, group_database_id
    uniqueidentifier, database_name sysname, is_failover_ready bit, is_pending_secondary_suspend bit,
    is_database_joined bit, recovery_lsn numeric(25,0), truncation_lsn numeric(25,0)
sys.dm_hadr_database_replica_states 2012: database_id int, group_id uniqueidentifier, replica_id
    uniqueidentifier, group_database_id uniqueidentifier, is_local bit, is_primary_replica bit 2014,
    synchronization_state tinyint, synchronization_state_desc nvarchar(60), is_commit_participant bit,
    synchronization_health tinyint, synchronization_health_desc nvarchar(60), database_state tinyint,
    database_state_desc nvarchar(60), is_suspended bit, suspend_reason tinyint, suspend_reason_desc
    nvarchar(60), recovery_lsn numeric(25,0), truncation_lsn numeric(25,0), last_sent_lsn numeric(25,0),
    last_sent_time datetime, last_received_lsn numeric(25,0), last_received_time datetime, last_hardened_lsn
    numeric(25,0), last_hardened_time datetime, last_redone_lsn numeric(25,0), last_redone_time datetime,
    log_send_queue_size bigint, log_send_rate bigint, redo_queue_size bigint, redo_rate bigint,
    filestream_send_rate bigint, end_of_log_lsn numeric(25,0), last_commit_lsn numeric(25,0),
    last_commit_time datetime, low_water_mark_for_ghosts bigint 2014
sys.dm_hadr_instance_node_map 2012: ag_resource_id nvarchar(256), instance_name nvarchar(256), node_name
    nvarchar(256)
sys.dm_hadr_name_id_map 2012: ag_name nvarchar(256), ag_id uniqueidentifier, ag_resource_id nvarchar(256),
    ag_group_id nvarchar(256)
"""
