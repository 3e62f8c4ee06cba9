-- lynxroom: no transaction
-- Lists the meetings of a workspace in the order of their first visits.
CREATE INDEX CONCURRENTLY "participants_by_joined_at" ON "participants" ("workspace_id", "joined_at", "id")
  WHERE "joined_at" IS NOT NULL;
