-- The oldest message that waits: how many can wait at most is known from it without counting them.
CREATE INDEX "mail_messages_queued_idx" ON "mail_messages" ("id") WHERE state = 'queued';
