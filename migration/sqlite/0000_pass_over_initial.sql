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
	`prev` text NOT NULL,
	`hash` text NOT NULL,
	CONSTRAINT "pass_over_audit_actor_named" CHECK(length("pass_over_audit"."actor") > 0)
);
--> statement-breakpoint
CREATE UNIQUE INDEX `pass_over_audit_session_id_seq_idx` ON `pass_over_audit` (`session_id`,`seq`);--> statement-breakpoint
CREATE INDEX `pass_over_audit_pass_over_id_idx` ON `pass_over_audit` (`pass_over_id`);--> statement-breakpoint
CREATE INDEX `pass_over_audit_timestamp_idx` ON `pass_over_audit` (`timestamp`);--> statement-breakpoint
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
CREATE INDEX `pass_over_commands_pending_idx` ON `pass_over_commands` (`pass_over_id`) WHERE "pass_over_commands"."status" = 'pending';--> statement-breakpoint
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
CREATE UNIQUE INDEX `pass_over_requests_session_id_call_id_idx` ON `pass_over_requests` (`session_id`,`call_id`);--> statement-breakpoint
CREATE UNIQUE INDEX `pass_over_requests_child_session_id_idx` ON `pass_over_requests` (`child_session_id`);--> statement-breakpoint
CREATE INDEX `pass_over_requests_root_session_id_idx` ON `pass_over_requests` (`root_session_id`,`objective_hash`);--> statement-breakpoint
CREATE INDEX `pass_over_requests_parent_pass_id_idx` ON `pass_over_requests` (`parent_pass_id`);--> statement-breakpoint
CREATE INDEX `pass_over_requests_owner_id_idx` ON `pass_over_requests` (`owner_id`);--> statement-breakpoint
CREATE INDEX `pass_over_requests_time_created_idx` ON `pass_over_requests` (`time_created`);--> statement-breakpoint
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
CREATE TABLE `return_contexts` (
	`return_id` text PRIMARY KEY NOT NULL,
	`pass_over_id` text NOT NULL,
	`session_id` text NOT NULL,
	`auto_return_enabled` integer NOT NULL,
	`auto_apply_enabled` integer NOT NULL,
	`return_deadline` integer,
	`chain_depth` integer NOT NULL,
	`max_chain_depth` integer NOT NULL,
	`ancestors` text NOT NULL,
	`status` text NOT NULL,
	`revision` integer NOT NULL,
	`staged` text,
	`processing_errors` text,
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
CREATE INDEX `work_outputs_transcript_idx` ON `work_outputs` (`transcript`) WHERE "work_outputs"."transcript" = 'unread';