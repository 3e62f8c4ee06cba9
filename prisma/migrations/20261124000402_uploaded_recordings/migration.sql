-- A recording whose file is in the customer's own storage stays uploaded.

-- AlterTable
ALTER TABLE "recording_copies" ADD COLUMN     "is_own_storage" BOOLEAN NOT NULL DEFAULT false;

-- Beyond Prisma: the reason why the file of an uploaded recording could not be fetched ------------------------------------

ALTER TABLE "recordings" DROP CONSTRAINT "recordings_failure_check";
ALTER TABLE "recordings" ADD CONSTRAINT "recordings_failure_check"
  CHECK ("failure_reason" IS NULL OR "status" IN ('failed', 'uploaded'));

-- Beyond Prisma: recordings that fail when they are not updated, which uploaded ones no longer do ------------------------

DROP INDEX "recordings_unfinished";
CREATE INDEX "recordings_started" ON "recordings" ("updated_at") WHERE "status" = 'started';
