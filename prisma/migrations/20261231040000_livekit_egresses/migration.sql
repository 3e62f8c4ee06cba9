-- The recordings that the LiveKit server of the service makes. A row outlives its recording, so that the server is told
-- to stop.
CREATE TABLE "livekit_egresses" (
    "workspace_id" INTEGER NOT NULL,
    "recording_id" INTEGER NOT NULL,
    "room_name" TEXT NOT NULL,
    "archive_id" TEXT NOT NULL,
    "egress_id" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "attempts" INTEGER NOT NULL DEFAULT 0,
    "next_attempt_at" TIMESTAMPTZ(3) NOT NULL,
    "leased_until" TIMESTAMPTZ(3),

    CONSTRAINT "livekit_egresses_pkey" PRIMARY KEY ("workspace_id","recording_id")
);
CREATE INDEX "livekit_egresses_next_attempt_at_idx" ON "livekit_egresses"("next_attempt_at");
ALTER TABLE "livekit_egresses" ADD CONSTRAINT "livekit_egresses_workspace_id_fkey"
  FOREIGN KEY ("workspace_id") REFERENCES "workspaces"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- A recording is stopped by people, by the end of a meeting, and by its deletion: the server is told in each case.
CREATE FUNCTION "wake_livekit_egress"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE "livekit_egresses" SET "next_attempt_at" = "created_at"
    WHERE "workspace_id" = OLD."workspace_id" AND "recording_id" = OLD."id";
  IF FOUND THEN
    PERFORM pg_notify('lynxroom_livekit', '');
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER "recordings_ended_wake_egress" AFTER UPDATE OF "ended_at" ON "recordings"
  FOR EACH ROW WHEN (OLD."ended_at" IS NULL AND NEW."ended_at" IS NOT NULL)
  EXECUTE FUNCTION "wake_livekit_egress"();
CREATE TRIGGER "recordings_deleted_wake_egress" AFTER DELETE ON "recordings"
  FOR EACH ROW WHEN (OLD."status" IN ('started', 'uploaded')) EXECUTE FUNCTION "wake_livekit_egress"();
