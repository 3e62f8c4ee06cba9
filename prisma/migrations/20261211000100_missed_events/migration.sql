-- A webhook gets one message for each event, whoever adds it: the relay, or a call that sends what the webhook missed.
CREATE UNIQUE INDEX "webhook_messages_workspace_id_webhook_id_event_id_key"
  ON "webhook_messages"("workspace_id", "webhook_id", "event_id");

-- A message that is resent also goes out before later ones about its subject.
DROP INDEX "webhook_messages_unattempted";
CREATE INDEX "webhook_messages_unattempted" ON "webhook_messages" ("workspace_id", "webhook_id", "subject", "sequence")
  WHERE "status" = 'waiting' AND "round_attempts" = 0 AND "subject" IS NOT NULL;
