-- Recordings in the trash. Those of a room that is deleted go with it.
ALTER TABLE "trash_entries" ADD COLUMN     "room_id" INTEGER;
ALTER TABLE "trash_entries" ADD CONSTRAINT "trash_entries_workspace_id_room_id_fkey"
  FOREIGN KEY ("workspace_id", "room_id") REFERENCES "rooms"("workspace_id", "id") ON DELETE CASCADE ON UPDATE CASCADE;
CREATE INDEX "trash_entries_workspace_id_room_id_idx" ON "trash_entries"("workspace_id", "room_id");
ALTER TABLE "trash_entries" DROP CONSTRAINT "trash_entries_kind_check";
ALTER TABLE "trash_entries" ADD CONSTRAINT "trash_entries_kind_check"
  CHECK ("kind" IN ('library_item', 'recording')
    AND ("kind" = 'recording') = ("room_id" IS NOT NULL));

-- The same, also for recordings.
CREATE OR REPLACE FUNCTION "settle_removed_trash"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE "workspaces" w
    SET "trashed_item_count" = w."trashed_item_count" - r.items, "stored_bytes" = w."stored_bytes" - r.bytes
    FROM (SELECT "workspace_id", (count(*) FILTER (WHERE "kind" = 'library_item'))::int AS items, sum("size") AS bytes
          FROM "removed" GROUP BY 1) r
    WHERE w."id" = r."workspace_id";
  INSERT INTO "discarded_objects" ("key")
    SELECT o."key" FROM "removed" r CROSS JOIN LATERAL (VALUES (r."file_key"), (r."poster_key")) o ("key")
    WHERE o."key" IS NOT NULL
      AND NOT EXISTS (SELECT FROM "library_items" i WHERE i."workspace_id" = r."workspace_id"
        AND i."id" = r."resource_id" AND r."kind" = 'library_item')
      AND NOT EXISTS (SELECT FROM "recordings" c WHERE c."workspace_id" = r."workspace_id"
        AND c."id" = r."resource_id" AND r."kind" = 'recording')
    ON CONFLICT DO NOTHING;
  RETURN NULL;
END $$;
