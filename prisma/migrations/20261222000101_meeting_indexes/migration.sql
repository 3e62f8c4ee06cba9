-- The streams of a meeting and the lobby read who is in the room and which recording runs in it. Most visits and
-- recordings of a room have ended.
CREATE INDEX "participants_joined" ON "participants" ("workspace_id", "room_id") WHERE "status" = 'joined';

CREATE INDEX "recordings_running" ON "recordings" ("workspace_id", "room_id")
  WHERE "status" = 'started' AND "ended_at" IS NULL;
