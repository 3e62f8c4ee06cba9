-- lynxroom: no transaction
-- Counts and lists the contact events of a range.
CREATE INDEX CONCURRENTLY "contact_events_workspace_id_created_at_id_idx" ON "contact_events"
  ("workspace_id", "created_at", "id");
