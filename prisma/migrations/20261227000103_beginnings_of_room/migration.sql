-- lynxroom: no transaction
-- Lists the meetings of a room, and finds the meeting of a visit and the meeting after it.
CREATE INDEX CONCURRENTLY "participants_beginnings_of_room" ON "participants"
  ("workspace_id", "room_id", "joined_at", "id") WHERE "begins_meeting";
