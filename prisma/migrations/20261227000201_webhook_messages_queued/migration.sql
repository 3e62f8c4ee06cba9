-- lynxroom: no transaction
-- The order in which messages are leased.
CREATE INDEX CONCURRENTLY "webhook_messages_queued" ON "webhook_messages" ("queue_rank", "due_at")
  WHERE "status" = 'waiting' AND "queued_job_id" IS NOT NULL;
