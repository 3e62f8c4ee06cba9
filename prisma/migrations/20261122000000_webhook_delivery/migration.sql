-- Webhooks that are sent: the relay's mark on events, messages, their attempts, and the rotation of secrets.
-- The first part is drafted from prisma/schema.prisma; what Prisma cannot say follows below it.

-- No version has sent anything yet.
DELETE FROM "webhook_deliveries";

-- AlterTable
ALTER TABLE "events" ADD COLUMN     "relayed_at" TIMESTAMPTZ(3);

-- AlterTable
ALTER TABLE "webhooks" ADD COLUMN     "failing_since" TIMESTAMPTZ(3),
ADD COLUMN     "is_cancelling" BOOLEAN NOT NULL DEFAULT false,
ADD COLUMN     "is_slow" BOOLEAN NOT NULL DEFAULT false,
ADD COLUMN     "previous_sealed_secret" BYTEA,
ADD COLUMN     "previous_secret_until" TIMESTAMPTZ(3);

-- AlterTable
ALTER TABLE "webhook_deliveries" DROP COLUMN "delivery_id",
DROP COLUMN "event",
DROP COLUMN "payload",
ADD COLUMN     "duration_ms" INTEGER NOT NULL,
ADD COLUMN     "message_id" TEXT NOT NULL;

-- CreateTable
CREATE TABLE "webhook_messages" (
    "workspace_id" INTEGER NOT NULL,
    "id" TEXT NOT NULL,
    "webhook_id" INTEGER NOT NULL,
    "event_id" BIGINT,
    "event" TEXT NOT NULL,
    "payload" TEXT NOT NULL,
    "status" TEXT NOT NULL DEFAULT 'waiting',
    "attempts" INTEGER NOT NULL DEFAULT 0,
    "round_attempts" INTEGER NOT NULL DEFAULT 0,
    "job_id" UUID,
    "next_attempt_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "webhook_messages_pkey" PRIMARY KEY ("workspace_id","id")
);

-- CreateIndex
CREATE INDEX "webhook_messages_workspace_id_webhook_id_id_idx" ON "webhook_messages"("workspace_id", "webhook_id", "id");

-- CreateIndex
CREATE UNIQUE INDEX "webhook_deliveries_workspace_id_message_id_attempt_key" ON "webhook_deliveries"("workspace_id", "message_id", "attempt");

-- AddForeignKey
ALTER TABLE "webhook_messages" ADD CONSTRAINT "webhook_messages_workspace_id_webhook_id_fkey" FOREIGN KEY ("workspace_id", "webhook_id") REFERENCES "webhooks"("workspace_id", "id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "webhook_deliveries" ADD CONSTRAINT "webhook_deliveries_workspace_id_message_id_fkey" FOREIGN KEY ("workspace_id", "message_id") REFERENCES "webhook_messages"("workspace_id", "id") ON DELETE CASCADE ON UPDATE CASCADE;

-- Beyond Prisma: invariants ------------------------------------------------------------------------------------------

ALTER TABLE "webhook_messages" ADD CONSTRAINT "webhook_messages_status_check"
  CHECK ("status" IN ('waiting', 'delivered', 'failed', 'cancelled'));
-- Who waits knows until when; who does not wait has no job.
ALTER TABLE "webhook_messages" ADD CONSTRAINT "webhook_messages_waiting_check"
  CHECK (("status" = 'waiting') = ("next_attempt_at" IS NOT NULL) AND ("status" = 'waiting' OR "job_id" IS NULL));
ALTER TABLE "webhooks" ADD CONSTRAINT "webhooks_previous_secret_check"
  CHECK (("previous_sealed_secret" IS NULL) = ("previous_secret_until" IS NULL));

-- Beyond Prisma: what the relay looks for, and what wakes it -----------------------------------------------------------

-- What happened before anything was sent is nobody's news.
UPDATE "events" SET "relayed_at" = "created_at";

CREATE INDEX "events_unrelayed" ON "events" ("id") WHERE "relayed_at" IS NULL;
CREATE INDEX "webhook_messages_unqueued" ON "webhook_messages" ("next_attempt_at")
  WHERE "status" = 'waiting' AND "job_id" IS NULL;
-- What a webhook still waits for, and what it never got: few beside what was delivered.
CREATE INDEX "webhook_messages_waiting" ON "webhook_messages" ("workspace_id", "webhook_id", "id") WHERE "status" = 'waiting';
CREATE INDEX "webhook_messages_undelivered" ON "webhook_messages" ("workspace_id", "webhook_id", "status", "created_at")
  WHERE "status" IN ('failed', 'cancelled');
CREATE INDEX "webhooks_cancelling" ON "webhooks" ("workspace_id", "id") WHERE "is_cancelling";
-- Messages come in the order of time: a block range index finds the old ones and costs an insert next to nothing.
CREATE INDEX "webhook_messages_created_at" ON "webhook_messages" USING brin ("created_at");

CREATE FUNCTION "wake_relay"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_notify('lynxroom_relay', '');
  RETURN NULL;
END $$;

-- PostgreSQL sends it when the transaction commits, and once however many rows there were.
CREATE TRIGGER "events_added" AFTER INSERT ON "events" FOR EACH STATEMENT EXECUTE FUNCTION "wake_relay"();
