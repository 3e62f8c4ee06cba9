-- Recordings may be WebM, and files that a worker still has to look at: to read a duration, or to turn a recording into
-- one seekable MP4.
ALTER TABLE "recordings" ADD COLUMN "media_type" TEXT NOT NULL DEFAULT 'video/mp4';
ALTER TABLE "recordings" ADD CONSTRAINT "recordings_media_type_check"
  CHECK ("media_type" IN ('video/mp4', 'video/webm')) NOT VALID;
ALTER TABLE "recordings" VALIDATE CONSTRAINT "recordings_media_type_check";

CREATE TABLE "media_jobs" (
    "workspace_id" INTEGER NOT NULL,
    "id" SERIAL NOT NULL,
    "item_id" INTEGER,
    "recording_id" INTEGER,
    "attempts" INTEGER NOT NULL DEFAULT 0,
    "next_attempt_at" TIMESTAMPTZ(3) NOT NULL,
    "leased_until" TIMESTAMPTZ(3),
    "output_key" TEXT,

    CONSTRAINT "media_jobs_pkey" PRIMARY KEY ("workspace_id","id")
);

CREATE UNIQUE INDEX "media_jobs_workspace_id_item_id_key" ON "media_jobs"("workspace_id", "item_id");
CREATE UNIQUE INDEX "media_jobs_workspace_id_recording_id_key" ON "media_jobs"("workspace_id", "recording_id");
CREATE INDEX "media_jobs_next_attempt_at_idx" ON "media_jobs"("next_attempt_at");

ALTER TABLE "media_jobs" ADD CONSTRAINT "media_jobs_workspace_id_item_id_fkey" FOREIGN KEY ("workspace_id", "item_id") REFERENCES "library_items"("workspace_id", "id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "media_jobs" ADD CONSTRAINT "media_jobs_workspace_id_recording_id_fkey" FOREIGN KEY ("workspace_id", "recording_id") REFERENCES "recordings"("workspace_id", "id") ON DELETE CASCADE ON UPDATE CASCADE;

-- Each job is about one file.
ALTER TABLE "media_jobs" ADD CONSTRAINT "media_jobs_file_check" CHECK (num_nonnulls("item_id", "recording_id") = 1);

-- Beyond Prisma: what a job has written is removed with the job, unless it has become the file of the recording ---------

CREATE FUNCTION "settle_removed_media_jobs"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO "discarded_objects" ("key")
    SELECT "output_key" FROM "removed" j WHERE "output_key" IS NOT NULL
      AND NOT EXISTS (SELECT FROM "recordings" r WHERE r."file_key" = j."output_key") ON CONFLICT DO NOTHING;
  RETURN NULL;
END $$;

CREATE TRIGGER "media_jobs_removed" AFTER DELETE ON "media_jobs"
  REFERENCING OLD TABLE AS "removed" FOR EACH STATEMENT EXECUTE FUNCTION "settle_removed_media_jobs"();
