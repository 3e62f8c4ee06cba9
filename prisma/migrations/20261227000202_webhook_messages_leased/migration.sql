-- lynxroom: no transaction
-- The messages that are leased, which count toward the limit of their webhook.
CREATE INDEX CONCURRENTLY "webhook_messages_leased" ON "webhook_messages" ("workspace_id", "webhook_id")
  WHERE "status" = 'waiting' AND "leased_until" IS NOT NULL;
