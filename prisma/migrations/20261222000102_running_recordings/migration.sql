-- lynxroom: no transaction
-- The streams of a meeting and the lobby read which recording runs in the room. Most recordings of a room have ended.
CREATE INDEX CONCURRENTLY "recordings_running" ON "recordings" ("workspace_id", "room_id")
  WHERE "status" = 'started' AND "ended_at" IS NULL;
