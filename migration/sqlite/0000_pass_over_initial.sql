CREATE TABLE `pass_over_audit_anchors` (
	`session_id` text PRIMARY KEY NOT NULL,
	`directory` text NOT NULL,
	`seq` integer NOT NULL,
	`hash` text NOT NULL,
	`time_pruned` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `pass_over_applies` (
	`apply_id` text PRIMARY KEY NOT NULL,
	`change_id` text NOT NULL,
	`pass_over_id` text NOT NULL,
	`kind` text NOT NULL,
	`undoes` text,
	`directory` text NOT NULL,
	`ops` text NOT NULL,
	`approval` text NOT NULL,
	`actor` text NOT NULL,
	`owner_id` text NOT NULL,
	`status` text NOT NULL,
	`problem` text,
	`verification` text,
	`time_created` integer NOT NULL,
	`time_done` integer,
	FOREIGN KEY (`change_id`) REFERENCES `pass_over_changes`(`change_id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE INDEX `pass_over_applies_pass_over_id_idx` ON `pass_over_applies` (`pass_over_id`);--> statement-breakpoint
CREATE UNIQUE INDEX `pass_over_applies_pending_idx` ON `pass_over_applies` (`directory`) WHERE "pass_over_applies"."status" = 'pending';--> statement-breakpoint
CREATE UNIQUE INDEX `pass_over_applies_undoes_idx` ON `pass_over_applies` (`undoes`) WHERE "pass_over_applies"."status" in ('pending', 'done');--> statement-breakpoint
CREATE TABLE `pass_over_blob_pieces` (
	`hash` text NOT NULL,
	`position` integer NOT NULL,
	`sealed` blob NOT NULL,
	PRIMARY KEY(`hash`, `position`)
);
--> statement-breakpoint
CREATE TABLE `pass_over_blobs` (
	`hash` text PRIMARY KEY NOT NULL,
	`bytes` integer NOT NULL,
	`pieces` integer NOT NULL,
	`time_created` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `pass_over_change_files` (
	`change_id` text NOT NULL,
	`position` integer NOT NULL,
	`path` text NOT NULL,
	`old_hash` text,
	`new_hash` text,
	`body` text NOT NULL,
	PRIMARY KEY(`change_id`, `position`),
	FOREIGN KEY (`change_id`) REFERENCES `pass_over_changes`(`change_id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE UNIQUE INDEX `pass_over_change_files_change_id_path_idx` ON `pass_over_change_files` (`change_id`,`path`);--> statement-breakpoint
CREATE TABLE `pass_over_changes` (
	`change_id` text PRIMARY KEY NOT NULL,
	`pass_over_id` text NOT NULL,
	`origin` text NOT NULL,
	`directory` text NOT NULL,
	`notes` text NOT NULL,
	`from_change_id` text,
	`time_created` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `pass_over_changes_pass_over_id_idx` ON `pass_over_changes` (`pass_over_id`);--> statement-breakpoint
CREATE INDEX `pass_over_changes_directory_idx` ON `pass_over_changes` (`directory`);--> statement-breakpoint
CREATE TABLE `pass_over_contents` (
	`pass_over_id` text NOT NULL,
	`hash` text NOT NULL,
	PRIMARY KEY(`pass_over_id`, `hash`),
	FOREIGN KEY (`pass_over_id`) REFERENCES `pass_over_requests`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE TABLE `pass_over_verdicts` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`change_id` text NOT NULL,
	`path` text NOT NULL,
	`hunk` integer,
	`accepted` integer NOT NULL,
	`reason` text,
	`actor` text NOT NULL,
	`time_created` integer NOT NULL,
	FOREIGN KEY (`change_id`) REFERENCES `pass_over_changes`(`change_id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE INDEX `pass_over_verdicts_change_id_idx` ON `pass_over_verdicts` (`change_id`);--> statement-breakpoint
CREATE TABLE `pass_over_worktrees` (
	`directory` text PRIMARY KEY NOT NULL,
	`project` text NOT NULL,
	`kind` text NOT NULL,
	`owner_id` text NOT NULL,
	`pass_over_id` text,
	`collected` integer DEFAULT false NOT NULL,
	`time_used` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `pass_over_worktrees_project_idx` ON `pass_over_worktrees` (`project`);--> statement-breakpoint
CREATE TABLE `pass_over_commands` (
	`command_id` text PRIMARY KEY NOT NULL,
	`pass_over_id` text NOT NULL,
	`kind` text NOT NULL,
	`text` text NOT NULL,
	`actor` text NOT NULL,
	`status` text NOT NULL,
	`result` text,
	`time_created` integer NOT NULL,
	`time_done` integer,
	FOREIGN KEY (`pass_over_id`) REFERENCES `pass_over_requests`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE INDEX `pass_over_commands_pass_over_id_idx` ON `pass_over_commands` (`pass_over_id`);--> statement-breakpoint
CREATE INDEX `pass_over_commands_pending_idx` ON `pass_over_commands` (`pass_over_id`) WHERE "pass_over_commands"."status" = 'pending';--> statement-breakpoint
CREATE TABLE `pass_over_flow_commands` (
	`command_id` text PRIMARY KEY NOT NULL,
	`run_id` text NOT NULL,
	`input` text NOT NULL,
	`actor` text NOT NULL,
	`status` text NOT NULL,
	`result` text,
	`time_created` integer NOT NULL,
	`time_done` integer,
	FOREIGN KEY (`run_id`) REFERENCES `pass_over_flow_runs`(`run_id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE INDEX `pass_over_flow_commands_run_id_idx` ON `pass_over_flow_commands` (`run_id`);--> statement-breakpoint
CREATE INDEX `pass_over_flow_commands_pending_idx` ON `pass_over_flow_commands` (`run_id`) WHERE "pass_over_flow_commands"."status" = 'pending';--> statement-breakpoint
CREATE TABLE `pass_over_flow_deliveries` (
	`run_id` text NOT NULL,
	`seq` integer NOT NULL,
	`session_id` text NOT NULL,
	`directory` text NOT NULL,
	`mode` text NOT NULL,
	`call_id` text,
	`status` text NOT NULL,
	`message_id` text,
	`owner_id` text NOT NULL,
	`time_created` integer NOT NULL,
	`time_delivered` integer,
	PRIMARY KEY(`run_id`, `seq`),
	FOREIGN KEY (`run_id`) REFERENCES `pass_over_flow_runs`(`run_id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE INDEX `pass_over_flow_deliveries_directory_idx` ON `pass_over_flow_deliveries` (`directory`) WHERE "pass_over_flow_deliveries"."status" <> 'delivered' and "pass_over_flow_deliveries"."mode" <> 'none';--> statement-breakpoint
CREATE TABLE `pass_over_flow_journal` (
	`run_id` text NOT NULL,
	`seq` integer NOT NULL,
	`at` integer NOT NULL,
	`input` text NOT NULL,
	PRIMARY KEY(`run_id`, `seq`),
	FOREIGN KEY (`run_id`) REFERENCES `pass_over_flow_runs`(`run_id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE TABLE `pass_over_flow_runs` (
	`run_id` text PRIMARY KEY NOT NULL,
	`flow` text NOT NULL,
	`plan` text NOT NULL,
	`plan_hash` text NOT NULL,
	`machine` integer NOT NULL,
	`inputs` text NOT NULL,
	`directory` text NOT NULL,
	`session_id` text NOT NULL,
	`originator` text NOT NULL,
	`started_by` text NOT NULL,
	`model` text,
	`status` text NOT NULL,
	`reason` text,
	`seq` integer NOT NULL,
	`owner_id` text NOT NULL,
	`fence` integer NOT NULL,
	`time_created` integer NOT NULL,
	`time_ended` integer,
	CONSTRAINT "pass_over_flow_runs_status_known" CHECK("pass_over_flow_runs"."status" in ('running', 'waiting', 'paused', 'completed', 'stopped', 'cancelled'))
);
--> statement-breakpoint
CREATE INDEX `pass_over_flow_runs_directory_idx` ON `pass_over_flow_runs` (`directory`,`time_created`);--> statement-breakpoint
CREATE INDEX `pass_over_flow_runs_owner_id_idx` ON `pass_over_flow_runs` (`owner_id`) WHERE "pass_over_flow_runs"."time_ended" is null;--> statement-breakpoint
CREATE TABLE `pass_over_result_cache` (
	`key` text PRIMARY KEY NOT NULL,
	`pass_over_id` text NOT NULL,
	`files` text NOT NULL,
	`at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `pass_over_result_cache_pass_over_id_idx` ON `pass_over_result_cache` (`pass_over_id`);--> statement-breakpoint
CREATE TABLE `pass_over_gates` (
	`gate_id` text PRIMARY KEY NOT NULL,
	`key` text NOT NULL,
	`kind` text NOT NULL,
	`pass_over_id` text,
	`run_id` text,
	`session_id` text NOT NULL,
	`directory` text NOT NULL,
	`asked_by` text NOT NULL,
	`question` text NOT NULL,
	`detail` text NOT NULL,
	`policy` text NOT NULL,
	`default_action` text NOT NULL,
	`status` text NOT NULL,
	`note` text,
	`answered_by` text,
	`surface` text,
	`time_created` integer NOT NULL,
	`time_expires` integer NOT NULL,
	`time_answered` integer,
	`time_acted` integer,
	CONSTRAINT "pass_over_gates_status_known" CHECK("pass_over_gates"."status" in ('pending', 'approved', 'rejected', 'questioned', 'withdrawn'))
);
--> statement-breakpoint
CREATE UNIQUE INDEX `pass_over_gates_key_idx` ON `pass_over_gates` (`key`);--> statement-breakpoint
CREATE INDEX `pass_over_gates_pass_over_id_idx` ON `pass_over_gates` (`pass_over_id`);--> statement-breakpoint
CREATE INDEX `pass_over_gates_run_id_idx` ON `pass_over_gates` (`run_id`);--> statement-breakpoint
CREATE INDEX `pass_over_gates_pending_idx` ON `pass_over_gates` (`time_expires`) WHERE "pass_over_gates"."status" = 'pending';--> statement-breakpoint
CREATE TABLE `pass_over_live` (
	`pass_over_id` text PRIMARY KEY NOT NULL,
	`phase` text NOT NULL,
	`step` integer NOT NULL,
	`attempt` integer NOT NULL,
	`tokens` integer NOT NULL,
	`cost` real NOT NULL,
	`waits` integer NOT NULL,
	`deadline_at` integer,
	`idle_at` integer,
	`time_updated` integer NOT NULL,
	FOREIGN KEY (`pass_over_id`) REFERENCES `pass_over_requests`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE TABLE `pass_over_attempts` (
	`pass_over_id` text NOT NULL,
	`attempt` integer NOT NULL,
	`kind` text NOT NULL,
	`child_session_id` text,
	`error_code` text,
	`error_message` text,
	`usage` text,
	`time_started` integer NOT NULL,
	`time_ended` integer,
	PRIMARY KEY(`pass_over_id`, `attempt`),
	FOREIGN KEY (`pass_over_id`) REFERENCES `pass_over_requests`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE TABLE `pass_over_audit_files` (
	`session_id` text PRIMARY KEY NOT NULL,
	`seq` integer NOT NULL,
	`time_updated` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `pass_over_audit` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`session_id` text NOT NULL,
	`seq` integer NOT NULL,
	`pass_over_id` text NOT NULL,
	`action` text NOT NULL,
	`actor` text NOT NULL,
	`error_code` text,
	`timestamp` integer NOT NULL,
	`directory` text NOT NULL,
	`originating_agent` text NOT NULL,
	`subagent` text NOT NULL,
	`user_id` text,
	`reason` text NOT NULL,
	`work_context_size_bytes` integer NOT NULL,
	`expected_output_type` text NOT NULL,
	`started_at` integer,
	`completed_at` integer,
	`duration_ms` integer,
	`status` text,
	`artifacts_count` integer NOT NULL,
	`files_modified_count` integer NOT NULL,
	`issues_found_count` integer NOT NULL,
	`returned` integer NOT NULL,
	`returned_at` integer,
	`applied` integer NOT NULL,
	`applied_by` text,
	`policy_applied` text NOT NULL,
	`policy_overrides` text NOT NULL,
	`summary` text NOT NULL,
	`decision` text,
	`detail` text,
	`prev` text NOT NULL,
	`hash` text NOT NULL,
	CONSTRAINT "pass_over_audit_actor_named" CHECK(length("pass_over_audit"."actor") > 0)
);
--> statement-breakpoint
CREATE UNIQUE INDEX `pass_over_audit_session_id_seq_idx` ON `pass_over_audit` (`session_id`,`seq`);--> statement-breakpoint
CREATE INDEX `pass_over_audit_pass_over_id_idx` ON `pass_over_audit` (`pass_over_id`);--> statement-breakpoint
CREATE INDEX `pass_over_audit_timestamp_idx` ON `pass_over_audit` (`timestamp`,`originating_agent`,`subagent`,`action`,`status`,`decision`,`error_code`);--> statement-breakpoint
CREATE INDEX `pass_over_audit_directory_idx` ON `pass_over_audit` (`directory`,`timestamp`);--> statement-breakpoint
CREATE INDEX `pass_over_audit_agents_idx` ON `pass_over_audit` (`originating_agent`,`subagent`,`timestamp`);--> statement-breakpoint
CREATE INDEX `pass_over_audit_subagent_idx` ON `pass_over_audit` (`subagent`,`timestamp`);--> statement-breakpoint
CREATE INDEX `pass_over_audit_action_idx` ON `pass_over_audit` (`action`,`timestamp`);--> statement-breakpoint
CREATE INDEX `pass_over_audit_status_idx` ON `pass_over_audit` (`status`,`timestamp`,`decision`,`originating_agent`,`subagent`,`action`,`error_code`) WHERE "pass_over_audit"."status" is not null;--> statement-breakpoint
CREATE INDEX `pass_over_audit_decision_idx` ON `pass_over_audit` (`decision`,`timestamp`,`originating_agent`,`subagent`,`action`,`status`) WHERE "pass_over_audit"."decision" is not null;--> statement-breakpoint
CREATE INDEX `pass_over_audit_error_code_idx` ON `pass_over_audit` (`error_code`,`timestamp`) WHERE "pass_over_audit"."error_code" is not null;--> statement-breakpoint
CREATE TABLE `pass_over_deliveries` (
	`pass_over_id` text PRIMARY KEY NOT NULL,
	`session_id` text NOT NULL,
	`mode` text NOT NULL,
	`status` text NOT NULL,
	`message_id` text,
	`owner_id` text,
	`time_created` integer NOT NULL,
	`time_delivered` integer,
	FOREIGN KEY (`pass_over_id`) REFERENCES `pass_over_requests`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE INDEX `pass_over_deliveries_session_id_idx` ON `pass_over_deliveries` (`session_id`) WHERE "pass_over_deliveries"."status" <> 'delivered';--> statement-breakpoint
CREATE TABLE `pass_over_events` (
	`seq` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`pass_over_id` text NOT NULL,
	`session_id` text NOT NULL,
	`directory` text NOT NULL,
	`type` text NOT NULL,
	`data` text NOT NULL,
	`at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `pass_over_events_pass_over_id_idx` ON `pass_over_events` (`pass_over_id`);--> statement-breakpoint
CREATE TABLE `pass_over_owners` (
	`owner_id` text PRIMARY KEY NOT NULL,
	`pid` integer NOT NULL,
	`process_start` text NOT NULL,
	`host` text NOT NULL,
	`place` text NOT NULL,
	`time_started` integer NOT NULL,
	`time_heartbeat` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `pass_over_requests` (
	`id` text PRIMARY KEY NOT NULL,
	`session_id` text NOT NULL,
	`root_session_id` text NOT NULL,
	`message_id` text,
	`call_id` text,
	`directory` text NOT NULL,
	`user_id` text,
	`originating_agent_id` text NOT NULL,
	`subagent_id` text NOT NULL,
	`reason` text NOT NULL,
	`objective` text NOT NULL,
	`objective_hash` text NOT NULL,
	`background` text,
	`priority` text NOT NULL,
	`expected_output_type` text NOT NULL,
	`constraints` text NOT NULL,
	`return_required` integer NOT NULL,
	`wait` integer NOT NULL,
	`auto_apply_on_success` integer NOT NULL,
	`model` text,
	`timeout_ms` integer NOT NULL,
	`context_bytes` integer NOT NULL,
	`parent_pass_id` text,
	`continues_pass_id` text,
	`trace_id` text NOT NULL,
	`policy` text NOT NULL,
	`overrides` text NOT NULL,
	`preference` text NOT NULL,
	`owner_id` text NOT NULL,
	`fence` integer NOT NULL,
	`child_session_id` text,
	`time_created` integer NOT NULL,
	`time_started` integer,
	`time_ended` integer,
	CONSTRAINT "pass_over_requests_not_itself" CHECK("pass_over_requests"."originating_agent_id" <> "pass_over_requests"."subagent_id")
);
--> statement-breakpoint
CREATE UNIQUE INDEX `pass_over_requests_session_id_call_id_idx` ON `pass_over_requests` (`session_id`,`call_id`,(case when "message_id" is null then '' else "message_id" end));--> statement-breakpoint
CREATE UNIQUE INDEX `pass_over_requests_child_session_id_idx` ON `pass_over_requests` (`child_session_id`,(case when "continues_pass_id" is null then '' else "continues_pass_id" end));--> statement-breakpoint
CREATE INDEX `pass_over_requests_continues_pass_id_idx` ON `pass_over_requests` (`continues_pass_id`) WHERE "pass_over_requests"."continues_pass_id" is not null;--> statement-breakpoint
CREATE INDEX `pass_over_requests_root_session_id_idx` ON `pass_over_requests` (`root_session_id`,`objective_hash`);--> statement-breakpoint
CREATE INDEX `pass_over_requests_parent_pass_id_idx` ON `pass_over_requests` (`parent_pass_id`);--> statement-breakpoint
CREATE INDEX `pass_over_requests_trace_id_idx` ON `pass_over_requests` (`trace_id`);--> statement-breakpoint
CREATE INDEX `pass_over_requests_owner_id_idx` ON `pass_over_requests` (`owner_id`);--> statement-breakpoint
CREATE INDEX `pass_over_requests_time_created_idx` ON `pass_over_requests` (`time_created`);--> statement-breakpoint
CREATE TABLE `return_contexts` (
	`return_id` text PRIMARY KEY NOT NULL,
	`pass_over_id` text NOT NULL,
	`session_id` text NOT NULL,
	`auto_return_enabled` integer NOT NULL,
	`auto_apply_enabled` integer NOT NULL,
	`chain_depth` integer NOT NULL,
	`max_chain_depth` integer NOT NULL,
	`ancestors` text NOT NULL,
	`status` text NOT NULL,
	`revision` integer NOT NULL,
	`staged` text,
	`created_at` integer NOT NULL,
	`returned_at` integer,
	FOREIGN KEY (`pass_over_id`) REFERENCES `pass_over_requests`(`id`) ON UPDATE no action ON DELETE no action,
	CONSTRAINT "return_contexts_status_known" CHECK("return_contexts"."status" in ('initial', 'waiting_for_return', 'returned', 'processed', 'timed_out', 'cancelled')),
	CONSTRAINT "return_contexts_depth_bounded" CHECK("return_contexts"."chain_depth" >= 1 and "return_contexts"."chain_depth" < "return_contexts"."max_chain_depth")
);
--> statement-breakpoint
CREATE UNIQUE INDEX `return_contexts_pass_over_id_idx` ON `return_contexts` (`pass_over_id`);--> statement-breakpoint
CREATE INDEX `return_contexts_session_id_idx` ON `return_contexts` (`session_id`);--> statement-breakpoint
CREATE INDEX `return_contexts_status_idx` ON `return_contexts` (`status`);--> statement-breakpoint
CREATE TABLE `work_artifacts` (
	`artifact_id` text PRIMARY KEY NOT NULL,
	`pass_over_id` text NOT NULL,
	`position` integer NOT NULL,
	`type` text NOT NULL,
	`path` text,
	`severity` text,
	`body` text NOT NULL,
	FOREIGN KEY (`pass_over_id`) REFERENCES `pass_over_requests`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE UNIQUE INDEX `work_artifacts_pass_over_id_position_idx` ON `work_artifacts` (`pass_over_id`,`position`);--> statement-breakpoint
CREATE INDEX `work_artifacts_path_idx` ON `work_artifacts` (`path`);--> statement-breakpoint
CREATE TABLE `work_contexts` (
	`pass_over_id` text PRIMARY KEY NOT NULL,
	`context` text NOT NULL,
	`manifest` text NOT NULL,
	FOREIGN KEY (`pass_over_id`) REFERENCES `pass_over_requests`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE TABLE `work_outputs` (
	`work_id` text PRIMARY KEY NOT NULL,
	`status` text NOT NULL,
	`completion_reason` text,
	`summary` text NOT NULL,
	`auto_apply_allowed` integer NOT NULL,
	`metadata` text NOT NULL,
	`usage` text NOT NULL,
	`error_code` text,
	`transcript` text NOT NULL,
	`time_created` integer NOT NULL,
	FOREIGN KEY (`work_id`) REFERENCES `pass_over_requests`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE INDEX `work_outputs_status_idx` ON `work_outputs` (`status`);--> statement-breakpoint
CREATE INDEX `work_outputs_transcript_idx` ON `work_outputs` (`transcript`) WHERE "work_outputs"."transcript" = 'unread';--> statement-breakpoint
CREATE TABLE `pass_over_defaults` (
	`directory` text NOT NULL,
	`key` text NOT NULL,
	`value` text NOT NULL,
	`type` text NOT NULL,
	`updated_at` integer NOT NULL,
	`updated_by` text NOT NULL,
	PRIMARY KEY(`directory`, `key`)
);
--> statement-breakpoint
CREATE TABLE `pass_over_preferences` (
	`directory` text NOT NULL,
	`level` text NOT NULL,
	`from_agent` text NOT NULL,
	`to_agent` text NOT NULL,
	`settings` text NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	`updated_by` text NOT NULL,
	PRIMARY KEY(`directory`, `level`, `from_agent`, `to_agent`)
);
--> statement-breakpoint
CREATE TABLE `pass_over_providers` (
	`provider` text PRIMARY KEY NOT NULL,
	`allowed` integer NOT NULL,
	`time_until` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `pass_over_slots` (
	`pass_over_id` text PRIMARY KEY NOT NULL,
	`trace_id` text NOT NULL,
	`parent_pass_id` text,
	`root_session_id` text NOT NULL,
	`wait` integer NOT NULL,
	`subagent` text NOT NULL,
	`model` text,
	`priority` text NOT NULL,
	`state` text NOT NULL,
	`reserved_tokens` integer NOT NULL,
	`reserved_cost` real NOT NULL,
	`tokens` integer NOT NULL,
	`cost` real NOT NULL,
	`time_created` integer NOT NULL,
	CONSTRAINT "pass_over_slots_state_known" CHECK("pass_over_slots"."state" in ('waiting', 'queued', 'running', 'ended'))
);
--> statement-breakpoint
CREATE INDEX `pass_over_slots_trace_id_idx` ON `pass_over_slots` (`trace_id`);--> statement-breakpoint
CREATE INDEX `pass_over_slots_open_idx` ON `pass_over_slots` (`state`) WHERE "pass_over_slots"."state" <> 'ended';--> statement-breakpoint
CREATE TABLE `pass_over_starts` (
	`start_id` text PRIMARY KEY NOT NULL,
	`directory` text NOT NULL,
	`session_id` text,
	`named` integer NOT NULL,
	`ask` text NOT NULL,
	`actor` text NOT NULL,
	`state` text NOT NULL,
	`owner_id` text,
	`pass_over_id` text,
	`refusal` text,
	`time_created` integer NOT NULL,
	`time_expires` integer NOT NULL,
	CONSTRAINT "pass_over_starts_state_known" CHECK("pass_over_starts"."state" in ('pending', 'claimed', 'started', 'refused'))
);
--> statement-breakpoint
CREATE INDEX `pass_over_starts_open_idx` ON `pass_over_starts` (`directory`) WHERE "pass_over_starts"."state" in ('pending', 'claimed');--> statement-breakpoint
CREATE INDEX `pass_over_starts_pass_over_id_idx` ON `pass_over_starts` (`pass_over_id`) WHERE "pass_over_starts"."pass_over_id" is not null;