-- lynxroom: no transaction
-- Lists the meetings of a user. Replaces participants_user_id_idx.
CREATE INDEX CONCURRENTLY "participants_user_id_workspace_id_joined_at_id_idx" ON "participants"
  ("user_id", "workspace_id", "joined_at", "id");
