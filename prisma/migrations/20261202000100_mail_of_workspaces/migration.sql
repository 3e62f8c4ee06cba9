-- The workspace that caused a message, so that the export and the erasure of a person find it. Messages that were queued
-- before have none; they are deleted within days.
ALTER TABLE "mail_messages" ADD COLUMN     "workspace_id" INTEGER;
