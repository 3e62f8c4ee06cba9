-- The event log is numbered, messages about one subject wait for each other, and the attempts at one host are limited.
-- The first part is drafted from prisma/schema.prisma; what Prisma cannot say follows below it.

-- AlterTable
ALTER TABLE "events" ADD COLUMN     "sequence" BIGINT;

-- AlterTable
ALTER TABLE "webhooks" ADD COLUMN     "host" TEXT NOT NULL DEFAULT '',
ADD COLUMN     "skipped_event_ids" BIGINT[];

-- AlterTable
ALTER TABLE "webhook_messages" ADD COLUMN     "after_id" TEXT,
ADD COLUMN     "sequence" BIGINT,
ADD COLUMN     "subject" TEXT;

-- The events that are relayed already keep their order. The relay numbers all others, above these.
CREATE SEQUENCE "event_sequence" AS BIGINT;
SELECT setval('event_sequence', coalesce((SELECT max("id") FROM "events"), 0) + 1, false);
UPDATE "events" SET "sequence" = "id" WHERE "relayed_at" IS NOT NULL;
UPDATE "webhook_messages" SET "sequence" = "event_id" WHERE "event_id" IS NOT NULL;
UPDATE "webhooks" SET "host" = coalesce(lower(substring("url" from '^[A-Za-z]+://([^/?#:]+|\[[^]]*\])')), '');

-- CreateIndex
CREATE UNIQUE INDEX "events_workspace_id_sequence_key" ON "events"("workspace_id", "sequence");

-- CreateIndex
CREATE INDEX "webhooks_host_idx" ON "webhooks"("host");

-- Beyond Prisma: invariants ------------------------------------------------------------------------------------------

ALTER TABLE "events" ADD CONSTRAINT "events_sequence_check" CHECK (("relayed_at" IS NULL) = ("sequence" IS NULL));
-- A message that is held back is pending, and has no job.
ALTER TABLE "webhook_messages" ADD CONSTRAINT "webhook_messages_after_check"
  CHECK ("after_id" IS NULL OR ("status" = 'waiting' AND "job_id" IS NULL));

-- A webhook gets the events that are committed after it. What is committed before is known here, whatever any clock
-- says, and the part of it that is still to be relayed is noted.
UPDATE "webhooks" SET "skipped_event_ids" = '{}';
CREATE FUNCTION "skip_earlier_events"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW."skipped_event_ids" := ARRAY(
    SELECT "id" FROM "events" WHERE "workspace_id" = NEW."workspace_id" AND "relayed_at" IS NULL);
  RETURN NEW;
END $$;
CREATE TRIGGER "webhooks_skip_earlier_events" BEFORE INSERT ON "webhooks"
  FOR EACH ROW EXECUTE FUNCTION "skip_earlier_events"();

-- Beyond Prisma: what the relay and the recorder look for --------------------------------------------------------------

DROP INDEX "webhook_messages_unqueued";
CREATE INDEX "webhook_messages_unqueued" ON "webhook_messages" ("next_attempt_at")
  WHERE "status" = 'waiting' AND "job_id" IS NULL AND "after_id" IS NULL;
CREATE INDEX "webhook_messages_held" ON "webhook_messages" ("workspace_id", "after_id") WHERE "after_id" IS NOT NULL;
-- The last of these of a webhook and subject is the one that the next message waits for.
CREATE INDEX "webhook_messages_unattempted" ON "webhook_messages" ("workspace_id", "webhook_id", "subject", "sequence")
  WHERE "status" = 'waiting' AND "attempts" = 0 AND "subject" IS NOT NULL;
