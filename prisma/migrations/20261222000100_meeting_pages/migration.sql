-- Meetings between browsers: settings, the pages whose streams are open, and the signals between them.

-- AlterTable
ALTER TABLE "rooms" ADD COLUMN     "chat_enabled" BOOLEAN NOT NULL DEFAULT true,
ADD COLUMN     "media" TEXT,
ADD COLUMN     "relay_only" BOOLEAN NOT NULL DEFAULT false;

-- AlterTable
ALTER TABLE "workspaces" ADD COLUMN     "media" TEXT;

-- CreateTable
-- Unlogged: after a crash of the database all streams are gone, and the pages open theirs again.
CREATE UNLOGGED TABLE "meeting_pages" (
    "workspace_id" INTEGER NOT NULL,
    "participant_id" INTEGER NOT NULL,
    "connection_id" TEXT NOT NULL,
    "room_id" INTEGER NOT NULL,
    "opened_at" TIMESTAMPTZ(3) NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "seated_at" TIMESTAMPTZ(3),
    "replaced_at" TIMESTAMPTZ(3),
    "microphone" BOOLEAN NOT NULL DEFAULT false,
    "camera" BOOLEAN NOT NULL DEFAULT false,
    "screen" BOOLEAN NOT NULL DEFAULT false,

    CONSTRAINT "meeting_pages_pkey" PRIMARY KEY ("workspace_id","participant_id","connection_id")
);

-- CreateTable
-- Unlogged: a signal is stored for a minute.
CREATE UNLOGGED TABLE "meeting_signals" (
    "workspace_id" INTEGER NOT NULL,
    "id" BIGSERIAL NOT NULL,
    "participant_id" INTEGER NOT NULL,
    "connection_id" TEXT NOT NULL,
    "kind" TEXT NOT NULL,
    "from_participant_id" INTEGER,
    "from_connection_id" TEXT,
    "data" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "meeting_signals_pkey" PRIMARY KEY ("workspace_id","id")
);

-- CreateIndex
CREATE INDEX "meeting_pages_workspace_id_room_id_idx" ON "meeting_pages"("workspace_id", "room_id");

-- CreateIndex
CREATE INDEX "meeting_signals_workspace_id_participant_id_connection_id_i_idx" ON "meeting_signals"("workspace_id", "participant_id", "connection_id", "id");

-- CreateIndex
CREATE INDEX "meeting_signals_created_at_idx" ON "meeting_signals"("created_at");

-- AddForeignKey
ALTER TABLE "meeting_pages" ADD CONSTRAINT "meeting_pages_workspace_id_participant_id_fkey" FOREIGN KEY ("workspace_id", "participant_id") REFERENCES "participants"("workspace_id", "id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "meeting_signals" ADD CONSTRAINT "meeting_signals_workspace_id_participant_id_connection_id_fkey" FOREIGN KEY ("workspace_id", "participant_id", "connection_id") REFERENCES "meeting_pages"("workspace_id", "participant_id", "connection_id") ON DELETE CASCADE ON UPDATE CASCADE;

-- Beyond Prisma: ids, values, and one page of each participant ---------------------------------------------------------------

-- Readers skip the ids that they have seen, so a crash must not reset the sequence, as it empties the table.
ALTER SEQUENCE "meeting_signals_id_seq" SET LOGGED;

-- Existing rows have null, so they need no check.
ALTER TABLE "rooms" ADD CONSTRAINT "rooms_media_check" CHECK ("media" = 'mesh') NOT VALID;
ALTER TABLE "workspaces" ADD CONSTRAINT "workspaces_media_check" CHECK ("media" = 'mesh') NOT VALID;
ALTER TABLE "meeting_signals" ADD CONSTRAINT "meeting_signals_kind_check" CHECK ("kind" IN ('signal', 'mute'));

-- A later page of the participant replaces the earlier one.
CREATE UNIQUE INDEX "meeting_pages_one_current" ON "meeting_pages" ("workspace_id", "participant_id")
  WHERE "replaced_at" IS NULL;

-- The pages whose time may be up.
CREATE INDEX "meeting_pages_seated" ON "meeting_pages" ("expires_at") WHERE "seated_at" IS NOT NULL;

-- Only a page that carries media has a seat.
ALTER TABLE "meeting_pages" ADD CONSTRAINT "meeting_pages_seat_check"
  CHECK ("seated_at" IS NULL OR "replaced_at" IS NULL);

-- Beyond Prisma: pages ---------------------------------------------------------------------------------------------------

-- Opens a page of a participant, or opens it again. Returns false if the participant has not joined, or if another page
-- has replaced this one. A new page replaces the current page of the participant and inherits its seat. Without a seat
-- to inherit, the page gets one if fewer than `in_seats` are taken in the room. The page with the seat expires at
-- `in_expires` unless it is refreshed.
--
-- A volatile function reads with a new snapshot in each statement: after it has locked the participant, it sees whether
-- they have left, and after it has the lock of the room, it counts the seats that others have just taken.
CREATE FUNCTION "open_meeting_page"(
  in_workspace integer, in_participant integer, in_connection text, in_now timestamptz, in_expires timestamptz,
  in_seats integer
) RETURNS boolean LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  room integer;
  own "meeting_pages";
  is_seated boolean := false;
BEGIN
  SELECT p."room_id" INTO room FROM "participants" p
  WHERE p."workspace_id" = in_workspace AND p."id" = in_participant AND p."status" = 'joined' FOR SHARE;
  IF room IS NULL THEN
    RETURN false;
  END IF;
  PERFORM pg_advisory_xact_lock(hashtext('meeting seats'), room);
  SELECT * INTO own FROM "meeting_pages" g
  WHERE g."workspace_id" = in_workspace AND g."participant_id" = in_participant AND g."connection_id" = in_connection
  FOR UPDATE;
  IF own."replaced_at" IS NOT NULL THEN
    RETURN false;
  END IF;
  SELECT count(*) > 0 INTO is_seated FROM "meeting_pages" g
  WHERE g."workspace_id" = in_workspace AND g."participant_id" = in_participant AND g."replaced_at" IS NULL
    AND g."seated_at" IS NOT NULL AND g."expires_at" > in_now AND in_seats > 0;
  IF NOT is_seated THEN
    SELECT count(*) < in_seats INTO is_seated FROM "meeting_pages" g
    WHERE g."workspace_id" = in_workspace AND g."room_id" = room AND g."participant_id" <> in_participant
      AND g."seated_at" IS NOT NULL AND g."expires_at" > in_now;
  END IF;
  UPDATE "meeting_pages" SET "replaced_at" = in_now, "seated_at" = NULL
  WHERE "workspace_id" = in_workspace AND "participant_id" = in_participant AND "replaced_at" IS NULL
    AND "connection_id" <> in_connection;
  INSERT INTO "meeting_pages" AS g ("workspace_id", "participant_id", "connection_id", "room_id", "opened_at",
    "expires_at", "seated_at")
  VALUES (in_workspace, in_participant, in_connection, room, in_now, in_expires, CASE WHEN is_seated THEN in_now END)
  ON CONFLICT ("workspace_id", "participant_id", "connection_id") DO UPDATE
  SET "expires_at" = in_expires, "seated_at" = CASE WHEN is_seated THEN coalesce(g."seated_at", in_now) END;
  -- Somebody who opens page after page keeps the newest ones: a page that has been forgotten could come back.
  DELETE FROM "meeting_pages" WHERE ("workspace_id", "participant_id", "connection_id") IN (
    SELECT g."workspace_id", g."participant_id", g."connection_id" FROM "meeting_pages" g
    WHERE g."workspace_id" = in_workspace AND g."participant_id" = in_participant AND g."replaced_at" IS NOT NULL
    ORDER BY g."opened_at" DESC, g."connection_id" OFFSET 50);
  RETURN true;
END $$;

-- Beyond Prisma: signals -------------------------------------------------------------------------------------------------

-- Stores a signal from one page to another, and returns `sent`, or why it did not: `not_joined`, `unknown_sender`,
-- `replaced`, `not_seated`, `unknown_participant`, `unknown_recipient` or `too_much`.
--
-- Locks the page of the recipient, so that its signals become visible in the order of their ids, and each sender sees
-- how much is stored for the recipient. Each signal counts as at least 1,024 bytes. Signals of senders who have left do
-- not count, because nobody reads them: somebody who joins again and again cannot fill what all share.
CREATE FUNCTION "send_meeting_signal"(
  in_workspace integer, in_room integer, in_from integer, in_from_connection text, in_to integer, in_to_connection text,
  in_data text, in_now timestamptz, in_oldest timestamptz, in_max_pair integer, in_max_total integer
) RETURNS text LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  sender "meeting_pages";
  recipient "meeting_pages";
  of_pair bigint;
  total bigint;
BEGIN
  PERFORM FROM "participants" p
  WHERE p."workspace_id" = in_workspace AND p."id" = in_from AND p."room_id" = in_room AND p."status" = 'joined';
  IF NOT FOUND THEN
    RETURN 'not_joined';
  END IF;
  SELECT * INTO sender FROM "meeting_pages" g
  WHERE g."workspace_id" = in_workspace AND g."participant_id" = in_from AND g."connection_id" = in_from_connection;
  IF NOT FOUND THEN
    RETURN 'unknown_sender';
  ELSIF sender."replaced_at" IS NOT NULL THEN
    RETURN 'replaced';
  ELSIF sender."seated_at" IS NULL OR sender."expires_at" <= in_now THEN
    RETURN 'not_seated';
  END IF;
  PERFORM FROM "participants" p
  WHERE p."workspace_id" = in_workspace AND p."id" = in_to AND p."room_id" = in_room AND p."status" = 'joined'
    AND p."id" <> in_from;
  IF NOT FOUND THEN
    RETURN 'unknown_participant';
  END IF;
  SELECT * INTO recipient FROM "meeting_pages" g
  WHERE g."workspace_id" = in_workspace AND g."participant_id" = in_to AND g."connection_id" = in_to_connection
  FOR NO KEY UPDATE;
  IF NOT FOUND OR recipient."seated_at" IS NULL OR recipient."expires_at" <= in_now THEN
    RETURN 'unknown_recipient';
  END IF;
  SELECT coalesce(sum(greatest(octet_length(s."data"), 1024)), 0),
    coalesce(sum(greatest(octet_length(s."data"), 1024)) FILTER (WHERE s."from_participant_id" = in_from), 0)
  INTO total, of_pair FROM "meeting_signals" s
  WHERE s."workspace_id" = in_workspace AND s."participant_id" = in_to AND s."connection_id" = in_to_connection
    AND s."created_at" > in_oldest AND EXISTS (
      SELECT FROM "participants" p
      WHERE p."workspace_id" = in_workspace AND p."id" = s."from_participant_id" AND p."status" = 'joined');
  IF of_pair + greatest(octet_length(in_data), 1024) > in_max_pair
    OR total + greatest(octet_length(in_data), 1024) > in_max_total THEN
    RETURN 'too_much';
  END IF;
  INSERT INTO "meeting_signals" ("workspace_id", "participant_id", "connection_id", "kind", "from_participant_id",
    "from_connection_id", "data", "created_at")
  VALUES (in_workspace, in_to, in_to_connection, 'signal', in_from, in_from_connection, in_data, in_now);
  RETURN 'sent';
END $$;

-- Beyond Prisma: notifications -------------------------------------------------------------------------------------------

-- Wakes the stream of the page that the signal is for.
CREATE FUNCTION "notify_meeting_signal"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_notify('lynxroom_signals', 'page:' || NEW."participant_id" || ':' || NEW."connection_id");
  RETURN NULL;
END $$;

CREATE TRIGGER "meeting_signals_sent" AFTER INSERT ON "meeting_signals"
  FOR EACH ROW EXECUTE FUNCTION "notify_meeting_signal"();

-- Tells the streams in the room what the others see of a page. Its expiry moves often, and nobody sees it.
CREATE FUNCTION "notify_meeting_page"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_notify('lynxroom_access', 'meeting:' || coalesce(NEW."room_id", OLD."room_id"));
  RETURN NULL;
END $$;

CREATE TRIGGER "meeting_pages_opened" AFTER INSERT OR DELETE ON "meeting_pages"
  FOR EACH ROW EXECUTE FUNCTION "notify_meeting_page"();

CREATE TRIGGER "meeting_pages_changed" AFTER UPDATE ON "meeting_pages"
  FOR EACH ROW WHEN (
    (OLD."seated_at", OLD."replaced_at", OLD."microphone", OLD."camera", OLD."screen")
    IS DISTINCT FROM
    (NEW."seated_at", NEW."replaced_at", NEW."microphone", NEW."camera", NEW."screen"))
  EXECUTE FUNCTION "notify_meeting_page"();

-- Tells the streams in the room who is there. Somebody who has left has no page. A room without a page costs one look at
-- an index: a notification in a transaction makes the commits of all that notify wait for each other.
CREATE FUNCTION "notify_meeting_participant"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW."status" <> 'joined' THEN
    DELETE FROM "meeting_pages" WHERE "workspace_id" = NEW."workspace_id" AND "participant_id" = NEW."id";
  END IF;
  IF EXISTS (SELECT FROM "meeting_pages" WHERE "workspace_id" = NEW."workspace_id" AND "room_id" = NEW."room_id") THEN
    PERFORM pg_notify('lynxroom_access', 'meeting:' || NEW."room_id");
  END IF;
  RETURN NULL;
END $$;

CREATE TRIGGER "participants_meeting_joined" AFTER INSERT ON "participants"
  FOR EACH ROW WHEN (NEW."status" = 'joined') EXECUTE FUNCTION "notify_meeting_participant"();

CREATE TRIGGER "participants_meeting_changed" AFTER UPDATE ON "participants"
  FOR EACH ROW WHEN (
    (OLD."status", OLD."name") IS DISTINCT FROM (NEW."status", NEW."name")
    AND (OLD."status" = 'joined' OR NEW."status" = 'joined'))
  EXECUTE FUNCTION "notify_meeting_participant"();

-- A recording begins or ends.
CREATE FUNCTION "notify_meeting_recording"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (SELECT FROM "meeting_pages" WHERE "workspace_id" = NEW."workspace_id" AND "room_id" = NEW."room_id") THEN
    PERFORM pg_notify('lynxroom_access', 'meeting:' || NEW."room_id");
  END IF;
  RETURN NULL;
END $$;

CREATE TRIGGER "recordings_meeting_started" AFTER INSERT ON "recordings"
  FOR EACH ROW WHEN (NEW."status" = 'started' AND NEW."ended_at" IS NULL)
  EXECUTE FUNCTION "notify_meeting_recording"();

CREATE TRIGGER "recordings_meeting_ended" AFTER UPDATE ON "recordings"
  FOR EACH ROW WHEN (OLD."status" = 'started' AND OLD."ended_at" IS NULL
    AND (NEW."status" <> 'started' OR NEW."ended_at" IS NOT NULL))
  EXECUTE FUNCTION "notify_meeting_recording"();

CREATE TRIGGER "rooms_meeting_changed" AFTER UPDATE ON "rooms"
  FOR EACH ROW WHEN (
    (OLD."media", OLD."relay_only", OLD."chat_enabled")
    IS DISTINCT FROM
    (NEW."media", NEW."relay_only", NEW."chat_enabled"))
  EXECUTE FUNCTION "notify_access"('room', 'id');
