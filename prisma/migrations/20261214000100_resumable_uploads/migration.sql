-- Uploads that several requests continue (tus 1.0). Deleting a row leaves its stored bytes to the sweep, unless the
-- service has discarded them before.
CREATE TABLE "uploads" (
    "id" TEXT NOT NULL,
    "workspace_id" INTEGER NOT NULL,
    "recording_id" INTEGER,
    "created_by" INTEGER,
    "metadata" TEXT NOT NULL,
    "media_type" TEXT NOT NULL,
    "file_key" TEXT NOT NULL,
    "length" BIGINT,
    "received" BIGINT NOT NULL DEFAULT 0,
    "requests" INTEGER NOT NULL DEFAULT 0,
    "head" BYTEA NOT NULL DEFAULT '',
    "stored" JSONB,
    "lease" TEXT,
    "leased_until" TIMESTAMPTZ(3),
    "stop_requested" BOOLEAN NOT NULL DEFAULT false,
    "result" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "uploads_pkey" PRIMARY KEY ("id")
);

CREATE INDEX "uploads_workspace_id_recording_id_idx" ON "uploads"("workspace_id", "recording_id");
CREATE INDEX "uploads_created_by_idx" ON "uploads"("created_by");
CREATE INDEX "uploads_expires_at_idx" ON "uploads"("expires_at");

-- A recording has at most one unfinished upload.
CREATE UNIQUE INDEX "uploads_one_per_recording" ON "uploads"("workspace_id", "recording_id") WHERE "result" IS NULL;

ALTER TABLE "uploads" ADD CONSTRAINT "uploads_received_check" CHECK ("received" >= 0 AND "received" <= "length");

ALTER TABLE "uploads" ADD CONSTRAINT "uploads_workspace_id_fkey" FOREIGN KEY ("workspace_id") REFERENCES "workspaces"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "uploads" ADD CONSTRAINT "uploads_workspace_id_recording_id_fkey" FOREIGN KEY ("workspace_id", "recording_id") REFERENCES "recordings"("workspace_id", "id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "uploads" ADD CONSTRAINT "uploads_created_by_fkey" FOREIGN KEY ("created_by") REFERENCES "users"("id") ON DELETE CASCADE ON UPDATE CASCADE;
