-- lynxroom: no transaction
-- Finds the end of a meeting.
CREATE INDEX CONCURRENTLY "participants_of_room_by_left_at" ON "participants" ("workspace_id", "room_id", "left_at")
  WHERE "joined_at" IS NOT NULL AND "left_at" IS NOT NULL;
