-- lynxroom: no transaction
-- Finds who waits in the rooms of a workspace, which the first page of the console asks every few seconds.
CREATE INDEX CONCURRENTLY "participants_waiting" ON "participants" ("workspace_id", "created_at", "id")
  WHERE "status" = 'waiting';
