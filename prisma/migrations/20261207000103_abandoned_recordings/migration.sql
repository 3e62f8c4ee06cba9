-- When the last participant has left a room, the recordings that participants started in it end.

-- However a visit ends. The recording is locked before the participants are read: of two participants who leave at the
-- same time, the second one then sees that the first one has left. Closing a meeting ends its recordings itself.
CREATE FUNCTION "end_recordings_of_empty_room"() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  running integer;
BEGIN
  SELECT "id" INTO running FROM "recordings"
  WHERE "workspace_id" = NEW."workspace_id" AND "room_id" = NEW."room_id" AND "started_by" IS NOT NULL
    AND "status" = 'started' AND "ended_at" IS NULL AND "upload_token_hash" IS NOT NULL
  FOR NO KEY UPDATE;
  IF running IS NULL OR EXISTS (
    SELECT FROM "participants"
    WHERE "workspace_id" = NEW."workspace_id" AND "room_id" = NEW."room_id" AND "status" = 'joined'
  ) THEN
    RETURN NULL;
  END IF;
  UPDATE "recordings" SET "ended_at" = greatest("created_at", NEW."left_at"),
    "updated_at" = greatest("updated_at", NEW."left_at")
  WHERE "workspace_id" = NEW."workspace_id" AND "id" = running;
  RETURN NULL;
END $$;

CREATE TRIGGER "participants_left_room" AFTER UPDATE ON "participants"
  FOR EACH ROW WHEN (
    OLD."status" = 'joined' AND NEW."status" <> 'joined' AND NEW."end_reason" IS DISTINCT FROM 'closed')
  EXECUTE FUNCTION "end_recordings_of_empty_room"();
