-- lynxroom: no transaction
-- The streams of a meeting and the lobby read who is in the room. Most visits of a room have ended.
CREATE INDEX CONCURRENTLY "participants_joined" ON "participants" ("workspace_id", "room_id")
  WHERE "status" = 'joined';
