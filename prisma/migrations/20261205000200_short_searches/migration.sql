-- With the name, so that a search of one or two letters, which has no trigrams, reads this index instead of the table.
CREATE INDEX "library_items_workspace_id_created_at_id_name_idx" ON "library_items"("workspace_id", "created_at", "id", "name");
DROP INDEX "library_items_workspace_id_created_at_id_idx";
