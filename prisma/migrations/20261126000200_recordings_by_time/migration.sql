-- The recordings of a workspace are listed by time. Without this index, each page sorts all of them.
CREATE INDEX "recordings_workspace_id_created_at_id_idx" ON "recordings"("workspace_id", "created_at", "id");
