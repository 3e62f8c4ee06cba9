-- A room's life: participants, recordings that are made and uploaded, meeting providers, booking pages and bookings.
-- The first part is drafted from prisma/schema.prisma; what Prisma cannot say follows below it.

-- AlterTable
ALTER TABLE "rooms" ADD COLUMN     "session_id" TEXT;

-- AlterTable
ALTER TABLE "recordings" ADD COLUMN     "ended_at" TIMESTAMPTZ(3),
ADD COLUMN     "failure_reason" TEXT,
ADD COLUMN     "sha256" BYTEA,
ADD COLUMN     "started_by" INTEGER,
ADD COLUMN     "upload_token_hash" BYTEA;

-- AlterTable
ALTER TABLE "booking_pages" ADD COLUMN     "duration" INTEGER NOT NULL DEFAULT 30,
ADD COLUMN     "hours" JSONB NOT NULL DEFAULT '[]',
ADD COLUMN     "time_zone" TEXT NOT NULL DEFAULT 'UTC',
ADD COLUMN     "updated_at" TIMESTAMPTZ(3),
ADD COLUMN     "user_id" INTEGER;

-- No operation has made one yet; a row that is there all the same belongs to its workspace's owner, and is never open.
UPDATE "booking_pages" p SET "updated_at" = p."created_at", "user_id" = w."owner_id" FROM "workspaces" w WHERE w."id" = p."workspace_id";
ALTER TABLE "booking_pages" ALTER COLUMN "updated_at" SET NOT NULL, ALTER COLUMN "user_id" SET NOT NULL,
ALTER COLUMN "duration" DROP DEFAULT, ALTER COLUMN "hours" DROP DEFAULT, ALTER COLUMN "time_zone" DROP DEFAULT;

-- CreateTable
CREATE TABLE "recording_copies" (
    "workspace_id" INTEGER NOT NULL,
    "recording_id" INTEGER NOT NULL,
    "sealed_url" BYTEA NOT NULL,
    "deadline" TIMESTAMPTZ(3) NOT NULL,
    "attempts" INTEGER NOT NULL DEFAULT 0,
    "next_attempt_at" TIMESTAMPTZ(3) NOT NULL,
    "leased_until" TIMESTAMPTZ(3),
    "last_error" TEXT,

    CONSTRAINT "recording_copies_pkey" PRIMARY KEY ("workspace_id","recording_id")
);

-- CreateTable
CREATE TABLE "participants" (
    "workspace_id" INTEGER NOT NULL,
    "id" SERIAL NOT NULL,
    "room_id" INTEGER NOT NULL,
    "name" TEXT NOT NULL,
    "email" TEXT,
    "user_id" INTEGER,
    "contact_id" INTEGER,
    "status" TEXT NOT NULL,
    "token_hash" BYTEA,
    "connection_id" INTEGER,
    "participant_reference" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "joined_at" TIMESTAMPTZ(3),
    "left_at" TIMESTAMPTZ(3),
    "last_seen_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "participants_pkey" PRIMARY KEY ("workspace_id","id")
);

-- CreateTable
CREATE TABLE "meeting_connections" (
    "workspace_id" INTEGER NOT NULL,
    "id" SERIAL NOT NULL,
    "ingest_id" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "provider" TEXT NOT NULL,
    "sealed_credentials" BYTEA NOT NULL,
    "created_by" INTEGER,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,
    "last_event_at" TIMESTAMPTZ(3),

    CONSTRAINT "meeting_connections_pkey" PRIMARY KEY ("workspace_id","id")
);

-- CreateTable
CREATE TABLE "ingest_events" (
    "workspace_id" INTEGER NOT NULL,
    "connection_id" INTEGER NOT NULL,
    "dedupe_key" TEXT NOT NULL,
    "facts" JSONB NOT NULL,
    "received_at" TIMESTAMPTZ(3) NOT NULL,
    "applied_at" TIMESTAMPTZ(3),
    "tried_at" TIMESTAMPTZ(3),

    CONSTRAINT "ingest_events_pkey" PRIMARY KEY ("workspace_id","connection_id","dedupe_key")
);

-- CreateTable
CREATE TABLE "bookings" (
    "workspace_id" INTEGER NOT NULL,
    "id" SERIAL NOT NULL,
    "booking_page_id" INTEGER NOT NULL,
    "contact_id" INTEGER,
    "room_id" INTEGER,
    "name" TEXT NOT NULL,
    "email" TEXT NOT NULL,
    "token_hash" BYTEA NOT NULL,
    "starts_at" TIMESTAMPTZ(3) NOT NULL,
    "ends_at" TIMESTAMPTZ(3) NOT NULL,
    "cancelled_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "bookings_pkey" PRIMARY KEY ("workspace_id","id")
);

-- CreateIndex
CREATE INDEX "recording_copies_next_attempt_at_idx" ON "recording_copies"("next_attempt_at");

-- CreateIndex
CREATE UNIQUE INDEX "participants_token_hash_key" ON "participants"("token_hash");

-- CreateIndex
CREATE INDEX "participants_workspace_id_room_id_created_at_id_idx" ON "participants"("workspace_id", "room_id", "created_at", "id");

-- CreateIndex
CREATE INDEX "participants_user_id_idx" ON "participants"("user_id");

-- CreateIndex
CREATE UNIQUE INDEX "participants_workspace_id_room_id_connection_id_participant_key" ON "participants"("workspace_id", "room_id", "connection_id", "participant_reference");

-- CreateIndex
CREATE UNIQUE INDEX "meeting_connections_ingest_id_key" ON "meeting_connections"("ingest_id");

-- CreateIndex
CREATE INDEX "meeting_connections_created_by_idx" ON "meeting_connections"("created_by");

-- CreateIndex
CREATE INDEX "contacts_workspace_id_created_at_id_idx" ON "contacts"("workspace_id", "created_at", "id");

-- CreateIndex
CREATE UNIQUE INDEX "bookings_token_hash_key" ON "bookings"("token_hash");

-- CreateIndex
CREATE INDEX "bookings_workspace_id_starts_at_id_idx" ON "bookings"("workspace_id", "starts_at", "id");

-- CreateIndex
CREATE INDEX "bookings_workspace_id_booking_page_id_starts_at_idx" ON "bookings"("workspace_id", "booking_page_id", "starts_at");

-- CreateIndex
CREATE INDEX "bookings_workspace_id_room_id_idx" ON "bookings"("workspace_id", "room_id");

-- CreateIndex
CREATE UNIQUE INDEX "rooms_workspace_id_session_id_key" ON "rooms"("workspace_id", "session_id");

-- CreateIndex
CREATE UNIQUE INDEX "recordings_upload_token_hash_key" ON "recordings"("upload_token_hash");

-- CreateIndex
CREATE INDEX "booking_pages_user_id_idx" ON "booking_pages"("user_id");

-- AddForeignKey
ALTER TABLE "recording_copies" ADD CONSTRAINT "recording_copies_workspace_id_recording_id_fkey" FOREIGN KEY ("workspace_id", "recording_id") REFERENCES "recordings"("workspace_id", "id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "participants" ADD CONSTRAINT "participants_workspace_id_room_id_fkey" FOREIGN KEY ("workspace_id", "room_id") REFERENCES "rooms"("workspace_id", "id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "participants" ADD CONSTRAINT "participants_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users"("id") ON DELETE SET NULL ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "meeting_connections" ADD CONSTRAINT "meeting_connections_workspace_id_fkey" FOREIGN KEY ("workspace_id") REFERENCES "workspaces"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "meeting_connections" ADD CONSTRAINT "meeting_connections_created_by_fkey" FOREIGN KEY ("created_by") REFERENCES "users"("id") ON DELETE SET NULL ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "ingest_events" ADD CONSTRAINT "ingest_events_workspace_id_connection_id_fkey" FOREIGN KEY ("workspace_id", "connection_id") REFERENCES "meeting_connections"("workspace_id", "id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "booking_pages" ADD CONSTRAINT "booking_pages_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "bookings" ADD CONSTRAINT "bookings_workspace_id_booking_page_id_fkey" FOREIGN KEY ("workspace_id", "booking_page_id") REFERENCES "booking_pages"("workspace_id", "id") ON DELETE CASCADE ON UPDATE CASCADE;

-- Beyond Prisma: invariants ------------------------------------------------------------------------------------------

ALTER TABLE "participants" ADD CONSTRAINT "participants_status_check"
  CHECK ("status" IN ('waiting', 'joined', 'refused', 'left'));
ALTER TABLE "participants" ADD CONSTRAINT "participants_joined_check" CHECK ("status" <> 'joined' OR "joined_at" IS NOT NULL);
ALTER TABLE "participants" ADD CONSTRAINT "participants_left_check" CHECK (("status" = 'left') = ("left_at" IS NOT NULL));
ALTER TABLE "participants" ADD CONSTRAINT "participants_reference_check"
  CHECK (("connection_id" IS NULL) = ("participant_reference" IS NULL));
ALTER TABLE "recordings" ADD CONSTRAINT "recordings_failure_check" CHECK ("failure_reason" IS NULL OR "status" = 'failed');
ALTER TABLE "meeting_connections" ADD CONSTRAINT "meeting_connections_provider_check"
  CHECK ("provider" IN ('vonage', 'livekit', 'generic'));
ALTER TABLE "booking_pages" ADD CONSTRAINT "booking_pages_duration_check" CHECK ("duration" BETWEEN 5 AND 480);
ALTER TABLE "bookings" ADD CONSTRAINT "bookings_times_check" CHECK ("ends_at" > "starts_at");
-- Clients write and read years of four digits.
ALTER TABLE "bookings" ADD CONSTRAINT "bookings_end_check" CHECK ("ends_at" < '9999-01-01T00:00:00Z');

-- A recorder makes one recording of a room at a time.
CREATE UNIQUE INDEX "recordings_one_running" ON "recordings" ("workspace_id", "room_id")
  WHERE "status" = 'started' AND "ended_at" IS NULL AND "upload_token_hash" IS NOT NULL;

-- What is counted before a participant starts another one.
CREATE INDEX "recordings_waiting_of_participants" ON "recordings" ("workspace_id", "room_id")
  WHERE "started_by" IS NOT NULL AND "status" IN ('started', 'uploaded');

-- A booking outlives its room.
ALTER TABLE "bookings" ADD CONSTRAINT "bookings_workspace_id_room_id_fkey" FOREIGN KEY ("workspace_id", "room_id")
  REFERENCES "rooms" ("workspace_id", "id") ON DELETE SET NULL ("room_id");

-- Nobody is booked twice at a time on one page. Ids of pages are unique in the whole service; as a range of one they fit
-- into the index without an extension.
ALTER TABLE "bookings" ADD CONSTRAINT "bookings_no_overlap" EXCLUDE USING gist
  (int8range("booking_page_id", "booking_page_id", '[]') WITH &&, tstzrange("starts_at", "ends_at") WITH &&)
  WHERE ("cancelled_at" IS NULL);

-- Beyond Prisma: what is looked for by the clock ------------------------------------------------------------------------

CREATE INDEX "participants_present" ON "participants" ("last_seen_at") WHERE "status" IN ('waiting', 'joined');
CREATE INDEX "recordings_unfinished" ON "recordings" ("updated_at") WHERE "status" IN ('started', 'uploaded');
CREATE INDEX "ingest_events_unapplied" ON "ingest_events" ("tried_at" NULLS FIRST, "received_at") WHERE "applied_at" IS NULL;
CREATE INDEX "ingest_events_received_at" ON "ingest_events" USING brin ("received_at");
