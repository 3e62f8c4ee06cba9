-- lynxroom: no transaction
-- Lists the meetings of a workspace.
CREATE INDEX CONCURRENTLY "participants_beginnings" ON "participants" ("workspace_id", "joined_at", "id")
  WHERE "begins_meeting";
