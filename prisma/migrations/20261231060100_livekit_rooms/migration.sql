-- The rooms for which LiveKit servers accept tokens, and what each server still has to be told about them. It replaces
-- the table of requests: a request went to the server that the workspace had by then, and went with the workspace.
CREATE TABLE "livekit_rooms" (
    "workspace_id" INTEGER NOT NULL,
    "room_id" INTEGER NOT NULL,
    "is_own" BOOLEAN NOT NULL,
    "origin" TEXT NOT NULL,
    "room_name" TEXT NOT NULL,
    "sealed_credentials" BYTEA,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "token_until" TIMESTAMPTZ(3) NOT NULL,
    "watched_until" TIMESTAMPTZ(3),
    "is_closing" BOOLEAN NOT NULL DEFAULT false,
    "muting_until" TIMESTAMPTZ(3),
    "muted_by" INTEGER,
    "failing_since" TIMESTAMPTZ(3),
    "attempts" INTEGER NOT NULL DEFAULT 0,
    "next_attempt_at" TIMESTAMPTZ(3) NOT NULL,
    "leased_until" TIMESTAMPTZ(3),

    CONSTRAINT "livekit_rooms_pkey" PRIMARY KEY ("workspace_id","room_id","is_own","origin"),
    CONSTRAINT "livekit_rooms_own_check" CHECK ("is_own" = ("sealed_credentials" IS NOT NULL))
);
CREATE INDEX "livekit_rooms_next_attempt_at_idx" ON "livekit_rooms"("next_attempt_at");
DROP TABLE "livekit_requests";

-- A worker that is looking at the server has perhaps looked already: it loses its lease.
CREATE FUNCTION "watch_livekit_room"(in_workspace integer, in_room integer, in_close boolean) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  UPDATE "livekit_rooms" SET "watched_until" = NULL, "is_closing" = "is_closing" OR in_close,
    "next_attempt_at" = "created_at", "leased_until" = NULL, "attempts" = "attempts" + 1
  WHERE "workspace_id" = in_workspace AND "room_id" = in_room;
  IF FOUND THEN
    PERFORM pg_notify('lynxroom_livekit', '');
  END IF;
END $$;

-- Whether a visit ended because its last connection ended, as the meeting provider reported.
CREATE FUNCTION "has_disconnected"(in_workspace integer, in_participant integer, in_joined timestamptz,
  in_left timestamptz) RETURNS boolean
LANGUAGE sql STABLE AS $$
  SELECT coalesce(bool_and(c."left_at" IS NOT NULL) AND greatest(in_joined, max(c."left_at")) = in_left, false)
  FROM "participant_connections" c WHERE c."workspace_id" = in_workspace AND c."participant_id" = in_participant
$$;

-- However a visit ends, the server is told; not if the server itself has reported it.
CREATE FUNCTION "watch_room_of_participant"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'UPDATE' AND NEW."end_reason" IS NULL
    AND has_disconnected(NEW."workspace_id", NEW."id", NEW."joined_at", NEW."left_at") THEN
    RETURN NULL;
  END IF;
  PERFORM watch_livekit_room(OLD."workspace_id", OLD."room_id", false);
  RETURN NULL;
END $$;
CREATE TRIGGER "participants_ended_watch_livekit" AFTER UPDATE ON "participants" FOR EACH ROW
  WHEN (OLD."status" = 'joined' AND NEW."status" <> 'joined'
    OR OLD."end_reason" IS DISTINCT FROM NEW."end_reason" AND NEW."end_reason" IS NOT NULL)
  EXECUTE FUNCTION "watch_room_of_participant"();
CREATE TRIGGER "participants_deleted_watch_livekit" AFTER DELETE ON "participants" FOR EACH ROW
  WHEN (OLD."status" = 'joined') EXECUTE FUNCTION "watch_room_of_participant"();

CREATE FUNCTION "watch_room_of_page"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM watch_livekit_room(OLD."workspace_id", OLD."room_id", false);
  RETURN NULL;
END $$;
CREATE TRIGGER "meeting_pages_replaced_watch_livekit" AFTER UPDATE ON "meeting_pages" FOR EACH ROW
  WHEN (OLD."replaced_at" IS NULL AND NEW."replaced_at" IS NOT NULL) EXECUTE FUNCTION "watch_room_of_page"();

CREATE FUNCTION "close_livekit_room"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM watch_livekit_room(OLD."workspace_id", OLD."id", true);
  RETURN NULL;
END $$;
CREATE TRIGGER "rooms_deleted_close_livekit" AFTER DELETE ON "rooms"
  FOR EACH ROW EXECUTE FUNCTION "close_livekit_room"();
