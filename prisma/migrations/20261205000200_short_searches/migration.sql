-- The names in lower case, because lowercasing all names takes most of the time of a search of one or two letters, which
-- has no trigrams. This rewrites the table.
ALTER TABLE "library_items" ADD COLUMN "search_name" TEXT GENERATED ALWAYS AS (lower("name")) STORED;
-- With these names, so that a page of such a search is read from this index.
CREATE INDEX "library_items_workspace_id_created_at_id_search_name_idx" ON "library_items"("workspace_id", "created_at", "id", "search_name");
DROP INDEX "library_items_workspace_id_created_at_id_idx";
