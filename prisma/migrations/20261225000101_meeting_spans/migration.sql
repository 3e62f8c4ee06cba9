-- lynxroom: no transaction
-- Finds the visits that overlap a period of a room. A heartbeat does not change it: it has only visits that have ended.
CREATE INDEX CONCURRENTLY "participants_spans" ON "participants"
  USING gist (visit_span("room_id", "joined_at", "left_at")) WHERE "joined_at" IS NOT NULL AND "left_at" IS NOT NULL;
