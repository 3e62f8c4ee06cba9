-- Mail is leased and counted by its kind, so that a flood of one kind delays and displaces no other.
CREATE INDEX "mail_messages_kind_queue_idx" ON "mail_messages" ("kind", "due_at", "id") WHERE state = 'queued';
DROP INDEX "mail_messages_queue_idx";
