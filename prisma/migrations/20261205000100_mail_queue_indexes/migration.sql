-- The same rows, by another condition. The planner used the index on `id` to find the messages that are due, and sorted
-- the whole queue, because an empty queue is what it usually sees when it collects its statistics.
DROP INDEX "mail_messages_queued_idx";
CREATE INDEX "mail_messages_unended_idx" ON "mail_messages" ("id") WHERE ended_at IS NULL;
