-- Participants are identified by the meeting of the provider, since a room may get another session during a visit.
-- Callbacks that match nothing are stored. The ends of meetings are stored for joins that arrive after them.

-- AlterTable
ALTER TABLE "participants" ADD COLUMN     "meeting" TEXT;

-- CreateTable
CREATE TABLE "unmatched_callbacks" (
    "workspace_id" INTEGER NOT NULL,
    "connection_id" INTEGER NOT NULL,
    "id" BIGSERIAL NOT NULL,
    "kind" TEXT NOT NULL,
    "meeting" TEXT NOT NULL,
    "reference" TEXT NOT NULL,
    "reason" TEXT NOT NULL,
    "occurred_at" TIMESTAMPTZ(3) NOT NULL,
    "received_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "unmatched_callbacks_pkey" PRIMARY KEY ("workspace_id","connection_id","id")
);

-- CreateTable
CREATE TABLE "meeting_ends" (
    "workspace_id" INTEGER NOT NULL,
    "connection_id" INTEGER NOT NULL,
    "meeting" TEXT NOT NULL,
    "ended_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "meeting_ends_pkey" PRIMARY KEY ("workspace_id","connection_id","meeting")
);

-- CreateIndex
CREATE INDEX "unmatched_callbacks_received_at_idx" ON "unmatched_callbacks"("received_at");

-- CreateIndex
CREATE UNIQUE INDEX "unmatched_callbacks_workspace_id_connection_id_kind_meeting_key" ON "unmatched_callbacks"("workspace_id", "connection_id", "kind", "meeting", "reference");

-- CreateIndex
CREATE INDEX "meeting_ends_ended_at_idx" ON "meeting_ends"("ended_at");

-- AddForeignKey
ALTER TABLE "unmatched_callbacks" ADD CONSTRAINT "unmatched_callbacks_workspace_id_connection_id_fkey" FOREIGN KEY ("workspace_id", "connection_id") REFERENCES "meeting_connections"("workspace_id", "id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "meeting_ends" ADD CONSTRAINT "meeting_ends_workspace_id_connection_id_fkey" FOREIGN KEY ("workspace_id", "connection_id") REFERENCES "meeting_connections"("workspace_id", "id") ON DELETE CASCADE ON UPDATE CASCADE;

-- Beyond Prisma: the meetings of known participants ---------------------------------------------------------------------

-- Vonage names a meeting by its session, of which the current one is known. Names and references were unique per room.
UPDATE "participants" p SET "meeting" = r."name" FROM "rooms" r
  WHERE p."connection_id" IS NOT NULL AND r."workspace_id" = p."workspace_id" AND r."id" = p."room_id";
UPDATE "participants" p SET "meeting" = r."session_id" FROM "rooms" r, "meeting_connections" c
  WHERE p."connection_id" = c."id" AND c."workspace_id" = p."workspace_id" AND c."provider" = 'vonage'
    AND r."workspace_id" = p."workspace_id" AND r."id" = p."room_id" AND r."session_id" IS NOT NULL;

-- A leave without a join was a participant without a time of joining. It waits for its join among the unmatched ones.
INSERT INTO "unmatched_callbacks"
    ("workspace_id", "connection_id", "kind", "meeting", "reference", "reason", "occurred_at", "received_at")
  SELECT p."workspace_id", p."connection_id", 'participant.left', p."meeting", p."participant_reference",
    'unknown_participant', p."left_at", p."left_at"
  FROM "participants" p
  JOIN "meeting_connections" c ON c."workspace_id" = p."workspace_id" AND c."id" = p."connection_id"
  WHERE p."status" = 'left' AND p."joined_at" IS NULL AND p."token_hash" IS NULL
  ON CONFLICT DO NOTHING;
DELETE FROM "participants"
  WHERE "status" = 'left' AND "joined_at" IS NULL AND "token_hash" IS NULL AND "connection_id" IS NOT NULL;

-- DropIndex
DROP INDEX "participants_workspace_id_room_id_connection_id_participant_key";

-- CreateIndex
CREATE UNIQUE INDEX "participants_workspace_id_connection_id_meeting_participant_key" ON "participants"("workspace_id", "connection_id", "meeting", "participant_reference");

-- Beyond Prisma: invariants ------------------------------------------------------------------------------------------

ALTER TABLE "participants" DROP CONSTRAINT "participants_reference_check";
ALTER TABLE "participants" ADD CONSTRAINT "participants_reference_check"
  CHECK (num_nulls("connection_id", "meeting", "participant_reference") IN (0, 3));
ALTER TABLE "unmatched_callbacks" ADD CONSTRAINT "unmatched_callbacks_kind_check" CHECK ("kind" IN ('participant.joined',
  'participant.left', 'recording.started', 'recording.ended', 'recording.uploaded', 'recording.available',
  'recording.failed', 'meeting.ended'));
ALTER TABLE "unmatched_callbacks" ADD CONSTRAINT "unmatched_callbacks_reason_check"
  CHECK ("reason" IN ('unknown_room', 'unknown_participant'));
