-- Searches look only at the rows of their workspace: with the texts alone, a search of a small workspace would read what
-- matches in all the others. The cast keeps the planner from the other indexes on the workspace: it plans for a workspace
-- of average size, in which it would rather read all rows, and uses the plan for the largest too.
CREATE EXTENSION IF NOT EXISTS btree_gin;

CREATE INDEX "contacts_search" ON "contacts"
  USING gin (("workspace_id"::bigint), ("name" || E'\n' || "email") gin_trgm_ops);

CREATE INDEX "library_items_search" ON "library_items" USING gin (("workspace_id"::bigint), "name" gin_trgm_ops);
DROP INDEX "library_items_name_trgm";
