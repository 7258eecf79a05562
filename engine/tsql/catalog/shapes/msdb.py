"""Tables of msdb: Agent, mail, backups, log shipping, the mirroring monitor. See __init__.py."""

from typing import Final

TEXT: Final = """
msdb.dbo.backupfile 2005: backup_set_id int, first_family_number tinyint, first_media_number smallint,
    filegroup_name nvarchar(128), page_size int, file_number numeric(10,0), backed_up_page_count
    numeric(10,0), file_type char(1), source_file_block_size numeric(10,0), file_size numeric(20,0),
    logical_name nvarchar(128), physical_drive nvarchar(260), physical_name nvarchar(260), state tinyint,
    state_desc nvarchar(64), create_lsn numeric(25,0), drop_lsn numeric(25,0), file_guid uniqueidentifier,
    read_only_lsn numeric(25,0), read_write_lsn numeric(25,0), differential_base_lsn numeric(25,0),
    differential_base_guid uniqueidentifier, backup_size numeric(20,0), filegroup_guid uniqueidentifier,
    is_readonly bit, is_present bit
msdb.dbo.backupfilegroup 2005: backup_set_id int, name sysname, filegroup_id int, filegroup_guid
    uniqueidentifier, type char(2), type_desc nvarchar(60), is_default bit, is_readonly bit,
    log_filegroup_guid uniqueidentifier
msdb.dbo.backupmediafamily 2005: media_set_id int, family_sequence_number tinyint, media_family_id
    uniqueidentifier, media_count int, logical_device_name nvarchar(128), physical_device_name
    nvarchar(260), device_type tinyint, physical_block_size int, mirror tinyint
msdb.dbo.backupmediaset 2005: media_set_id int, media_uuid uniqueidentifier, media_family_count tinyint,
    name nvarchar(128), description nvarchar(255), software_name nvarchar(128), software_vendor_id int,
    MTF_major_version tinyint, mirror_count tinyint, is_password_protected bit, is_compressed bit,
    is_encrypted bit 2014
msdb.dbo.backupset 2005: backup_set_id int, backup_set_uuid uniqueidentifier, media_set_id int,
    first_family_number tinyint, first_media_number smallint, last_family_number tinyint, last_media_number
    smallint, catalog_family_number tinyint, catalog_media_number smallint, position int, expiration_date
    datetime, software_vendor_id int, name nvarchar(128), description nvarchar(255), user_name
    nvarchar(128), software_major_version tinyint, software_minor_version tinyint, software_build_version
    smallint, time_zone smallint, mtf_minor_version tinyint, first_lsn numeric(25,0), last_lsn
    numeric(25,0), checkpoint_lsn numeric(25,0), database_backup_lsn numeric(25,0), database_creation_date
    datetime, backup_start_date datetime, backup_finish_date datetime, type char(1), sort_order smallint,
    code_page smallint, compatibility_level tinyint, database_version int, backup_size numeric(20,0),
    database_name nvarchar(128), server_name nvarchar(128), machine_name nvarchar(128), flags int,
    unicode_locale int, unicode_compare_style int, collation_name nvarchar(128), is_password_protected bit,
    recovery_model nvarchar(60), has_bulk_logged_data bit, is_snapshot bit, is_readonly bit, is_single_user
    bit, has_backup_checksums bit, is_damaged bit, begins_log_chain bit, has_incomplete_metadata bit,
    is_force_offline bit, is_copy_only bit, first_recovery_fork_guid uniqueidentifier,
    last_recovery_fork_guid uniqueidentifier, fork_point_lsn numeric(25,0), database_guid uniqueidentifier,
    family_guid uniqueidentifier, differential_base_lsn numeric(25,0), differential_base_guid
    uniqueidentifier, compressed_backup_size numeric(20,0) 2008, key_algorithm nvarchar(32) 2014,
    encryptor_thumbprint varbinary(20) 2014, encryptor_type nvarchar(32) 2014
msdb.dbo.cdc_jobs 2005: database_id int, job_type nvarchar(20), job_id uniqueidentifier, maxtrans int,
    maxscans int, continuous bit, pollinginterval bigint, retention bigint, threshold bigint
msdb.dbo.dbm_monitor_alerts 2005: database_id smallint, retention_period int, time_behind int,
    enable_time_behind bit, send_queue int, enable_send_queue bit, redo_queue int, enable_redo_queue bit,
    average_delay int, enable_average_delay bit
msdb.dbo.dbm_monitor_data 2005: database_id smallint, role bit, status tinyint, witness_status tinyint,
    log_flush_rate bigint, send_queue_size bigint, send_rate bigint, redo_queue_size bigint, redo_rate
    bigint, transaction_delay bigint, transactions_per_sec bigint, time datetime, end_of_log_lsn numeric,
    failover_lsn numeric, local_time datetime
msdb.dbo.log_shipping_monitor_alert 2005: alert_job_id uniqueidentifier
msdb.dbo.log_shipping_monitor_error_detail 2005: agent_id uniqueidentifier, agent_type tinyint, session_id
    int, database_name sysname, sequence_number int, log_time datetime, log_time_utc datetime, message
    nvarchar, source nvarchar, help_url nvarchar
msdb.dbo.log_shipping_monitor_history_detail 2005: agent_id uniqueidentifier, agent_type tinyint, session_id
    int, database_name sysname, session_status tinyint, log_time datetime, log_time_utc datetime, message
    nvarchar(max)
msdb.dbo.log_shipping_monitor_primary 2005: primary_id uniqueidentifier, primary_server sysname,
    primary_database sysname, backup_threshold int, threshold_alert int, threshold_alert_enabled bit,
    last_backup_file nvarchar(500), last_backup_date datetime, last_backup_date_utc datetime,
    history_retention_period int
msdb.dbo.log_shipping_monitor_secondary 2005: secondary_server sysname, secondary_database sysname,
    secondary_id uniqueidentifier, primary_server sysname, primary_database sysname, restore_threshold int,
    threshold_alert int, threshold_alert_enabled bit, last_copied_file nvarchar(500), last_copied_date
    datetime, last_copied_date_utc datetime, last_restored_file nvarchar(500), last_restored_date datetime,
    last_restored_date_utc datetime, last_restored_latency int, history_retention_period int
msdb.dbo.log_shipping_primary_databases 2005: primary_id uniqueidentifier, primary_database sysname,
    backup_directory nvarchar(500), backup_share nvarchar(500), backup_retention_period int, backup_job_id
    uniqueidentifier, monitor_server sysname, monitor_server_security_mode bit, last_backup_file
    nvarchar(500), last_backup_date datetime, user_specified_monitor bit, backup_compression tinyint
msdb.dbo.log_shipping_primary_secondaries 2005: primary_id uniqueidentifier, secondary_server sysname,
    secondary_database sysname
msdb.dbo.log_shipping_secondary 2005: secondary_id uniqueidentifier, primary_server sysname,
    primary_database sysname, backup_source_directory nvarchar(500), backup_destination_directory
    nvarchar(500), file_retention_period int, copy_job_id uniqueidentifier, restore_job_id uniqueidentifier,
    monitor_server sysname, monitor_server_security_mode bit, last_copied_file nvarchar(500),
    last_copied_date datetime
msdb.dbo.log_shipping_secondary_databases 2005: secondary_database sysname, secondary_id uniqueidentifier,
    restore_delay int, restore_all bit, restore_mode bit, disconnect_users bit, block_size int, buffer_count
    int, max_transfer_size int, last_restored_file nvarchar(500), last_restored_date datetime
msdb.dbo.logmarkhistory 2005: database_name nvarchar(128), mark_name nvarchar(128), description
    nvarchar(255), user_name nvarchar(128), lsn numeric(25,0), mark_time datetime
msdb.dbo.restorefile 2005: restore_history_id int, file_number numeric(10,0), destination_phys_drive
    nvarchar(260), destination_phys_name nvarchar(260)
msdb.dbo.restorefilegroup 2005: restore_history_id int, filegroup_name nvarchar(128)
msdb.dbo.restorehistory 2005: restore_history_id int, restore_date datetime, destination_database_name
    nvarchar(128), user_name nvarchar(128), backup_set_id int, restore_type char(1), replace bit, recovery
    bit, restart bit, stop_at datetime, device_count tinyint, stop_at_mark_name nvarchar(128), stop_before
    bit
msdb.dbo.suspect_pages 2005: database_id int, file_id int, page_id bigint, event_type int, error_count int,
    last_update_date datetime
msdb.dbo.sysalerts 2005: id int, name sysname, event_source nvarchar(100), event_category_id int, event_id
    int, message_id int, severity int, enabled tinyint, delay_between_responses int, last_occurrence_date
    int, last_occurrence_time int, last_response_date int, last_response_time int, notification_message
    nvarchar(512), include_event_description tinyint, database_name nvarchar(512), event_description_keyword
    nvarchar(100), occurrence_count int, count_reset_date int, count_reset_time int, job_id
    uniqueidentifier, has_notification int, flags int, performance_condition nvarchar(512), category_id int
msdb.dbo.syscategories 2005: category_id int, category_class int, category_type tinyint, name sysname
msdb.dbo.syscollector_collection_items 2005: collection_set_id int, collection_item_id int,
    collector_type_uid uniqueidentifier, name nvarchar(4000), frequency int, parameters xml
msdb.dbo.syscollector_collection_sets 2005: collection_set_id int, collection_set_uid uniqueidentifier, name
    nvarchar(4000), target nvarchar(max), is_system bit, is_running bit, collection_mode smallint, proxy_id
    int, schedule_uid uniqueidentifier, collection_job_id uniqueidentifier, upload_job_id uniqueidentifier,
    logging_level smallint, days_until_expiration smallint, description nvarchar(4000), dump_on_any_error
    bit, dump_on_codes nvarchar(max)
msdb.dbo.syscollector_collector_types 2005: name sysname, parameter_schema xml, parameter_formatter xml,
    collection_package_path nvarchar(4000), collection_package_name sysname, upload_package_path
    nvarchar(4000), upload_package_name sysname, is_system bit
msdb.dbo.syscollector_config_store 2005: parameter_name nvarchar(128), parameter_value sql_variant
msdb.dbo.syscollector_execution_log 2005: log_id bigint, parent_log_id bigint, collection_set_id int,
    collection_item_id int, start_time datetime, last_iteration_time datetime, finish_time datetime,
    runtime_execution_mode smallint, status smallint, operator nvarchar(128), package_id uniqueidentifier,
    package_name nvarchar(4000), package_execution_id uniqueidentifier, failure_message nvarchar(2048)
msdb.dbo.syscollector_execution_log_full 2005: log_id bigint, parent_log_id bigint, name nvarchar(4000),
    status smallint, runtime_execution_mode smallint, start_time datetime, last_iteration_time datetime,
    finish_time datetime, duration int, failure_message nvarchar(2048), operator nvarchar(128),
    package_execution_id uniqueidentifier, collection_set_id int
msdb.dbo.syscollector_execution_stats 2005: log_id bigint, task_name nvarchar(128), execution_row_count_in
    int, execution_row_count_out int, execution_row_count_errors int, execution_time_ms int, log_time
    datetime
msdb.dbo.sysdbmaintplan_databases 2005: plan_id uniqueidentifier, database_name sysname
msdb.dbo.sysdbmaintplan_history 2005: sequence_id int, plan_id uniqueidentifier, plan_name sysname,
    database_name sysname, server_name sysname, activity nvarchar(128), succeeded bit, end_time datetime,
    duration int, start_time datetime, error_number int, message nvarchar(512)
msdb.dbo.sysdbmaintplan_jobs 2005: plan_id uniqueidentifier, job_id uniqueidentifier
msdb.dbo.sysdbmaintplans 2005: plan_id uniqueidentifier, plan_name sysname, date_created datetime, owner
    sysname, max_history_rows int, remote_history_server sysname, max_remote_history_rows int,
    user_defined_1 int, user_defined_2 nvarchar(100), user_defined_3 datetime, user_defined_4
    uniqueidentifier, log_shipping bit
msdb.dbo.sysdownloadlist 2005: instance_id int, source_server sysname, operation_code tinyint, object_type
    tinyint, target_server sysname, error_message nvarchar(1024), date_posted datetime, date_downloaded
    datetime, status tinyint, deleted_object_name sysname
msdb.dbo.sysjobactivity 2005: session_id int, job_id uniqueidentifier, run_requested_date datetime,
    run_requested_source sysname, queued_date datetime, start_execution_date datetime, last_executed_step_id
    int, last_executed_step_date datetime, stop_execution_date datetime, job_history_id int, next_scheduled_run_date
    datetime
msdb.dbo.sysjobhistory 2005: instance_id int, job_id uniqueidentifier, step_id int, step_name sysname,
    sql_message_id int, sql_severity int, message nvarchar(4000), run_status int, run_date int, run_time
    int, run_duration int, operator_id_emailed int, operator_id_netsent int, operator_id_paged int,
    retries_attempted int, server sysname
msdb.dbo.sysjobs 2005: job_id uniqueidentifier, originating_server_id int, name sysname, enabled tinyint,
    description nvarchar(512), start_step_id int, category_id int, owner_sid varbinary(85),
    notify_level_eventlog int, notify_level_email int, notify_level_netsend int, notify_level_page int,
    notify_email_operator_id int, notify_netsend_operator_id int, notify_page_operator_id int, delete_level
    int, date_created datetime, date_modified datetime, version_number int, originating_server sysname
msdb.dbo.sysjobs_view 2005: job_id uniqueidentifier, originating_server_id int, originating_server sysname,
    name sysname, enabled tinyint, description nvarchar, start_step_id int, category_id int, owner_sid
    varbinary, notify_level_eventlog int, notify_level_email int, notify_level_netsend int,
    notify_level_page int, notify_email_operator_id int, notify_netsend_operator_id int,
    notify_page_operator_id int, delete_level int, date_created datetime, date_modified datetime,
    version_number int
msdb.dbo.sysjobschedules 2005: schedule_id int, job_id uniqueidentifier, next_run_date int, next_run_time
    int
msdb.dbo.sysjobservers 2005: job_id uniqueidentifier, server_id int, last_run_outcome tinyint, last_run_date
    int, last_run_time int, last_run_duration int, last_outcome_message nvarchar
msdb.dbo.sysjobsteps 2005: job_id uniqueidentifier, step_id int, step_name sysname, subsystem nvarchar(40),
    command nvarchar(max), flags int, additional_parameters ntext, cmdexec_success_code int,
    on_success_action tinyint, on_success_step_id int, on_fail_action tinyint, on_fail_step_id int, server
    sysname, database_name sysname, database_user_name sysname, retry_attempts int, retry_interval int,
    os_run_priority int, output_file_name nvarchar(200), last_run_outcome int, last_run_duration int,
    last_run_retries int, last_run_date int, last_run_time int, proxy_id int, step_uid uniqueidentifier
msdb.dbo.sysjobstepslogs 2005: log_id int, log nvarchar(max), date_created datetime, date_modified datetime,
    log_size int, step_uid uniqueidentifier
msdb.dbo.sysmail_account 2005: account_id int, name sysname, description nvarchar, email_address nvarchar,
    display_name nvarchar, replyto_address nvarchar, last_mod_datetime datetime, last_mod_user nvarchar
msdb.dbo.sysmail_allitems 2005: mailitem_id int, profile_id int, recipients varchar(max), copy_recipients
    varchar(max), blind_copy_recipients varchar(max), subject nvarchar(510), body varchar(max), body_format
    varchar(20), importance varchar(6), sensitivity varchar(12), file_attachments varchar(max),
    attachment_encoding varchar(20), query varchar(max), execute_query_database sysname,
    attach_query_result_as_file bit, query_result_header bit, query_result_width int, query_result_separator
    char(1), exclude_query_output bit, append_query_error bit, send_request_date datetime, send_request_user
    sysname, sent_account_id int, sent_status varchar(8), sent_date datetime, last_mod_date datetime,
    last_mod_user sysname
msdb.dbo.sysmail_event_log 2005: log_id int, event_type varchar(11), log_date datetime, description
    nvarchar(max), process_id int, mailitem_id int, account_id int, last_mod_date datetime, last_mod_user
    sysname
msdb.dbo.sysmail_faileditems 2005: mailitem_id int, profile_id int, recipients varchar(max), copy_recipients
    varchar(max), blind_copy_recipients varchar(max), subject nvarchar(510), body varchar(max), body_format
    varchar(20), importance varchar(6), sensitivity varchar(12), file_attachments varchar(max),
    attachment_encoding varchar(20), query varchar(max), execute_query_database sysname,
    attach_query_result_as_file bit, query_result_header bit, query_result_width int, query_result_separator
    char(1), exclude_query_output bit, append_query_error bit, send_request_date datetime, send_request_user
    sysname, sent_account_id int, sent_status varchar(8), sent_date datetime, last_mod_date datetime,
    last_mod_user sysname
msdb.dbo.sysmail_mailattachments 2005: attachment_id int, mailitem_id int, filename nvarchar(520), filesize
    int, attachment varbinary(max), last_mod_date datetime, last_mod_user sysname
msdb.dbo.sysmail_mailitems 2005: mailitem_id int, profile_id int, recipients varchar, copy_recipients
    varchar, blind_copy_recipients varchar, subject nvarchar, body nvarchar, send_request_date datetime,
    sent_status varchar, sent_date datetime, last_mod_date datetime
msdb.dbo.sysmail_principalprofile 2005: profile_id int, principal_sid varbinary, is_default bit,
    last_mod_datetime datetime, last_mod_user nvarchar
msdb.dbo.sysmail_profile 2005: profile_id int, name sysname, description nvarchar, last_mod_datetime
    datetime, last_mod_user nvarchar
msdb.dbo.sysmail_profileaccount 2005: profile_id int, account_id int, sequence_number int, last_mod_datetime
    datetime, last_mod_user nvarchar
msdb.dbo.sysmail_sentitems 2005: mailitem_id int, profile_id int, recipients varchar(max), copy_recipients
    varchar(max), blind_copy_recipients varchar(max), subject nvarchar(510), body varchar(max), body_format
    varchar(20), importance varchar(6), sensitivity varchar(12), file_attachments varchar(max),
    attachment_encoding varchar(20), query varchar(max), execute_query_database sysname,
    attach_query_result_as_file bit, query_result_header bit, query_result_width int, query_result_separator
    char(1), exclude_query_output bit, append_query_error bit, send_request_date datetime, send_request_user
    sysname, sent_account_id int, sent_status varchar(8), sent_date datetime, last_mod_date datetime,
    last_mod_user sysname
msdb.dbo.sysmail_server 2005: account_id int, servertype sysname, servername sysname, port int, username
    nvarchar, credential_id int, use_default_credentials bit, enable_ssl bit
msdb.dbo.sysmail_unsentitems 2005: mailitem_id int, profile_id int, recipients varchar(max), copy_recipients
    varchar(max), blind_copy_recipients varchar(max), subject nvarchar(510), body varchar(max), body_format
    varchar(20), importance varchar(6), sensitivity varchar(12), file_attachments varchar(max),
    attachment_encoding varchar(20), query varchar(max), execute_query_database sysname,
    attach_query_result_as_file bit, query_result_header bit, query_result_width int, query_result_separator
    char(1), exclude_query_output bit, append_query_error bit, send_request_date datetime, send_request_user
    sysname, sent_account_id int, sent_status varchar(8), sent_date datetime, last_mod_date datetime,
    last_mod_user sysname
msdb.dbo.sysmaintplan_plans 2005: id uniqueidentifier, name sysname, description nvarchar, owner sysname
msdb.dbo.sysmaintplan_subplans 2005: subplan_id uniqueidentifier, subplan_name sysname, subplan_description
    nvarchar, plan_id uniqueidentifier, job_id uniqueidentifier, msx_job_id uniqueidentifier, schedule_id
    int, msx_plan bit
msdb.dbo.sysnotifications 2005: alert_id int, operator_id int, notification_method tinyint
msdb.dbo.sysoperators 2005: id int, name sysname, enabled tinyint, email_address nvarchar(100),
    last_email_date int, last_email_time int, pager_address nvarchar(100), last_pager_date int,
    last_pager_time int, weekday_pager_start_time int, weekday_pager_end_time int, saturday_pager_start_time
    int, saturday_pager_end_time int, sunday_pager_start_time int, sunday_pager_end_time int, pager_days
    tinyint, netsend_address nvarchar(100), last_netsend_date int, last_netsend_time int, category_id int
msdb.dbo.syspolicy_conditions 2005: condition_id int, name sysname, date_created datetime, description
    nvarchar(max), created_by sysname, modified_by sysname, date_modified datetime, is_name_condition
    smallint, facet nvarchar(max), Expression nvarchar(max), obj_name sysname
msdb.dbo.syspolicy_policies 2005: policy_id int, name sysname, condition_id int, root_condition_id int,
    date_created datetime, execution_mode int, policy_category int, schedule_uid uniqueidentifier,
    description nvarchar(max), help_text nvarchar(4000), help_link nvarchar(2083), object_set_id int,
    is_enabled bit, job_id uniqueidentifier, created_by sysname, modified_by sysname, date_modified datetime
msdb.dbo.syspolicy_policy_categories 2005: policy_category_id int, name sysname,
    mandate_database_subscriptions bit
msdb.dbo.syspolicy_policy_category_subscriptions 2005: policy_category_subscription_id int, target_type
    sysname, target_object sysname, policy_category_id int
msdb.dbo.syspolicy_policy_execution_history 2005: history_id bigint, policy_id int, start_date datetime,
    end_date datetime, result bit, exception_message nvarchar(max), exception nvarchar(max)
msdb.dbo.syspolicy_policy_execution_history_details 2005: detail_id bigint, history_id bigint,
    target_query_expression nvarchar(max), execution_date datetime, result bit, result_detail nvarchar(max),
    exception_message nvarchar(max), exception nvarchar(max)
msdb.dbo.syspolicy_system_health_state 2005: health_state_id bigint, policy_id int, last_run_date datetime,
    target_query_expression_with_id nvarchar(400), target_query_expression nvarchar(max), result bit
msdb.dbo.sysproxies 2005: proxy_id int, name sysname, credential_id int, enabled tinyint, description
    nvarchar(512), user_sid varbinary(85), credential_date_created datetime
msdb.dbo.sysproxylogin 2005: proxy_id int, sid varbinary(85), principal_id int, flags int
msdb.dbo.sysproxysubsystem 2005: subsystem_id int, proxy_id int
msdb.dbo.sysschedules 2005: schedule_id int, schedule_uid uniqueidentifier, originating_server_id int, name
    sysname, owner_sid varbinary(85), enabled int, freq_type int, freq_interval int, freq_subday_type int,
    freq_subday_interval int, freq_relative_interval int, active_start_date int, active_end_date int,
    active_start_time int, active_end_time int, date_created datetime, date_modified datetime,
    version_number int, freq_recurrence_factor int
msdb.dbo.syssessions 2005: session_id int, agent_start_date datetime
msdb.dbo.syssubsystems 2005: subsystem_id int, subsystem nvarchar(40), description_id int, subsystem_dll
    nvarchar(255), agent_exe nvarchar(255), start_entry_point nvarchar(30), event_entry_point nvarchar(30),
    stop_entry_point nvarchar(30), max_worker_threads int
msdb.dbo.systargetservergroupmembers 2012: servergroup_id int, server_id int
msdb.dbo.systargetservergroups 2005: servergroup_id int, name sysname
msdb.dbo.systargetservers 2005: server_id int, server_name sysname, location nvarchar(200),
    time_zone_adjustment int, enlist_date datetime, last_poll_date datetime, status int,
    local_time_at_last_poll datetime, enlisted_by_nt_user nvarchar(100), poll_internal int
msdb.dbo.systaskids 2005: task_id int, job_id uniqueidentifier
msdb.dbo.sysmaintplan_log 2005: task_detail_id uniqueidentifier, plan_id uniqueidentifier, subplan_id
    uniqueidentifier, start_time datetime, end_time datetime, succeeded bit, logged_remotely bit,
    source_server_name sysname, plan_name sysname, subplan_name sysname
msdb.dbo.sysmaintplan_logdetail 2005: task_detail_id uniqueidentifier, line1 nvarchar(256), line2 nvarchar(256),
    line3 nvarchar(256), line4 nvarchar(256), line5 nvarchar(256), server_name sysname, start_time datetime,
    end_time datetime, error_number int, error_message nvarchar(max), command nvarchar(max), succeeded bit
"""
