-- The trash. What is moved there leaves its own table, so that no statement about that table can find it, and gets its
-- ID back when it is restored. Only the quotas still count it: its bytes stay in "stored_bytes".
ALTER TABLE "workspaces" ADD COLUMN     "trashed_item_count" INTEGER NOT NULL DEFAULT 0;

CREATE TABLE "trash_entries" (
    "workspace_id" INTEGER NOT NULL,
    "id" SERIAL NOT NULL,
    "kind" TEXT NOT NULL,
    "resource_id" INTEGER NOT NULL,
    "name" TEXT NOT NULL,
    "size" BIGINT NOT NULL,
    "file_key" TEXT,
    "poster_key" TEXT,
    "created_by" INTEGER,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "trashed_by" INTEGER,
    "trashed_at" TIMESTAMPTZ(3) NOT NULL,
    "record" JSONB NOT NULL,

    CONSTRAINT "trash_entries_pkey" PRIMARY KEY ("workspace_id","id"),
    CONSTRAINT "trash_entries_kind_check" CHECK ("kind" IN ('library_item')),
    CONSTRAINT "trash_entries_size_check" CHECK ("size" >= 0),
    CONSTRAINT "trash_entries_workspace_id_fkey" FOREIGN KEY ("workspace_id") REFERENCES "workspaces"("id")
      ON DELETE CASCADE ON UPDATE CASCADE,
    CONSTRAINT "trash_entries_created_by_fkey" FOREIGN KEY ("created_by") REFERENCES "users"("id")
      ON DELETE SET NULL ON UPDATE CASCADE,
    CONSTRAINT "trash_entries_trashed_by_fkey" FOREIGN KEY ("trashed_by") REFERENCES "users"("id")
      ON DELETE SET NULL ON UPDATE CASCADE
);

CREATE UNIQUE INDEX "trash_entries_workspace_id_kind_resource_id_key"
  ON "trash_entries"("workspace_id", "kind", "resource_id");
CREATE INDEX "trash_entries_workspace_id_trashed_at_id_idx" ON "trash_entries"("workspace_id", "trashed_at", "id");
CREATE INDEX "trash_entries_workspace_id_kind_created_at_id_idx"
  ON "trash_entries"("workspace_id", "kind", "created_at", "id");
CREATE INDEX "trash_entries_trashed_at_idx" ON "trash_entries"("trashed_at");
CREATE INDEX "trash_entries_created_by_idx" ON "trash_entries"("created_by");
CREATE INDEX "trash_entries_trashed_by_idx" ON "trash_entries"("trashed_by");
-- The sweep of the store reads the keys in their byte order.
CREATE INDEX "trash_entries_file_key_idx" ON "trash_entries"("file_key" COLLATE "C") WHERE "file_key" IS NOT NULL;
CREATE INDEX "trash_entries_poster_key_idx" ON "trash_entries"("poster_key" COLLATE "C")
  WHERE "poster_key" IS NOT NULL;

CREATE FUNCTION "count_added_trash"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE "workspaces" w
    SET "trashed_item_count" = w."trashed_item_count" + a.items, "stored_bytes" = w."stored_bytes" + a.bytes
    FROM (SELECT "workspace_id", (count(*) FILTER (WHERE "kind" = 'library_item'))::int AS items, sum("size") AS bytes
          FROM "added" GROUP BY 1) a
    WHERE w."id" = a."workspace_id";
  RETURN NULL;
END $$;

-- What was restored has its row again, which refers to the file: only what was deleted for good is discarded.
CREATE FUNCTION "settle_removed_trash"() RETURNS trigger LANGUAGE plpgsql AS $$
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
    ON CONFLICT DO NOTHING;
  RETURN NULL;
END $$;

CREATE TRIGGER "trash_entries_added" AFTER INSERT ON "trash_entries" REFERENCING NEW TABLE AS "added"
  FOR EACH STATEMENT EXECUTE FUNCTION "count_added_trash"();
CREATE TRIGGER "trash_entries_removed" AFTER DELETE ON "trash_entries" REFERENCING OLD TABLE AS "removed"
  FOR EACH STATEMENT EXECUTE FUNCTION "settle_removed_trash"();

-- The same, with the files of what is in the trash.
CREATE OR REPLACE VIEW "stored_objects" AS
  SELECT "file_key" AS "key", "created_at" FROM "library_items"
  UNION ALL SELECT "file_key", "created_at" FROM "recordings" WHERE "file_key" IS NOT NULL
  UNION ALL SELECT "poster_key", now()::timestamptz(3) FROM "library_items" WHERE "poster_key" IS NOT NULL
  UNION ALL SELECT "poster_key", now()::timestamptz(3) FROM "recordings" WHERE "poster_key" IS NOT NULL
  UNION ALL SELECT "logo_key", now()::timestamptz(3) FROM "workspaces" WHERE "logo_key" IS NOT NULL
  UNION ALL SELECT u."finished_key", now()::timestamptz(3) FROM "uploads" u
    WHERE u."finished_key" IS NOT NULL
      AND NOT EXISTS (SELECT FROM "recordings" r WHERE r."file_key" COLLATE "C" = u."finished_key")
  UNION ALL SELECT "file_key", "trashed_at" FROM "trash_entries" WHERE "file_key" IS NOT NULL
  UNION ALL SELECT "poster_key", now()::timestamptz(3) FROM "trash_entries" WHERE "poster_key" IS NOT NULL;
