-- lynxroom: no transaction
-- Lists the meetings of a room, and the visits of a meeting.
CREATE INDEX CONCURRENTLY "participants_of_room_by_joined_at" ON "participants"
  ("workspace_id", "room_id", "joined_at", "id") WHERE "joined_at" IS NOT NULL;
