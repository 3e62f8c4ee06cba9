-- The bytes of all files of a workspace: library items and recordings, whoever made them. The triggers change it with the
-- counters that they already change, so writers lock no further row.

ALTER TABLE "workspaces" ADD COLUMN "stored_bytes" BIGINT NOT NULL DEFAULT 0;

CREATE OR REPLACE FUNCTION "count_added_library_items"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE "workspaces" w SET "library_item_count" = w."library_item_count" + a.n, "stored_bytes" = w."stored_bytes" + a.bytes
    FROM (SELECT "workspace_id", count(*)::int AS n, sum("size") AS bytes FROM "added" GROUP BY 1) a
    WHERE w."id" = a."workspace_id";
  RETURN NULL;
END $$;

CREATE OR REPLACE FUNCTION "settle_removed_library_items"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE "workspaces" w SET "library_item_count" = w."library_item_count" - r.n, "stored_bytes" = w."stored_bytes" - r.bytes
    FROM (SELECT "workspace_id", count(*)::int AS n, sum("size") AS bytes FROM "removed" GROUP BY 1) r
    WHERE w."id" = r."workspace_id";
  INSERT INTO "discarded_objects" ("key") SELECT "file_key" FROM "removed" ON CONFLICT DO NOTHING;
  RETURN NULL;
END $$;

-- A recording takes space once it has a file. Before, its size is what a provider announced.
CREATE OR REPLACE FUNCTION "count_added_recordings"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE "workspaces" w SET "recording_count" = w."recording_count" + a.n,
      "recording_seconds" = w."recording_seconds" + a.seconds, "stored_bytes" = w."stored_bytes" + a.bytes
    FROM (SELECT "workspace_id", count(*)::int AS n, sum("duration") AS seconds,
            coalesce(sum("size") FILTER (WHERE "file_key" IS NOT NULL), 0) AS bytes FROM "added" GROUP BY 1) a
    WHERE w."id" = a."workspace_id";
  RETURN NULL;
END $$;

CREATE OR REPLACE FUNCTION "settle_changed_recordings"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE "workspaces" w SET "recording_seconds" = w."recording_seconds" + c.seconds, "stored_bytes" = w."stored_bytes" + c.bytes
    FROM (SELECT "workspace_id", sum("duration") AS seconds, sum("bytes") AS bytes FROM
            (SELECT "workspace_id", "duration", CASE WHEN "file_key" IS NULL THEN 0 ELSE "size" END AS "bytes" FROM "after"
             UNION ALL
             SELECT "workspace_id", -"duration", CASE WHEN "file_key" IS NULL THEN 0 ELSE -"size" END FROM "before") d
          GROUP BY 1 HAVING sum("duration") <> 0 OR sum("bytes") <> 0) c
    WHERE w."id" = c."workspace_id";
  INSERT INTO "discarded_objects" ("key")
    SELECT b."file_key" FROM "before" b JOIN "after" a USING ("workspace_id", "id")
    WHERE b."file_key" IS NOT NULL AND b."file_key" IS DISTINCT FROM a."file_key" ON CONFLICT DO NOTHING;
  RETURN NULL;
END $$;

CREATE OR REPLACE FUNCTION "settle_removed_recordings"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE "workspaces" w SET "recording_count" = w."recording_count" - r.n,
      "recording_seconds" = w."recording_seconds" - r.seconds, "stored_bytes" = w."stored_bytes" - r.bytes
    FROM (SELECT "workspace_id", count(*)::int AS n, sum("duration") AS seconds,
            coalesce(sum("size") FILTER (WHERE "file_key" IS NOT NULL), 0) AS bytes FROM "removed" GROUP BY 1) r
    WHERE w."id" = r."workspace_id";
  INSERT INTO "discarded_objects" ("key")
    SELECT "file_key" FROM "removed" WHERE "file_key" IS NOT NULL ON CONFLICT DO NOTHING;
  RETURN NULL;
END $$;

UPDATE "workspaces" w SET "stored_bytes" =
  coalesce((SELECT sum("size") FROM "library_items" i WHERE i."workspace_id" = w."id"), 0) +
  coalesce((SELECT sum("size") FROM "recordings" r WHERE r."workspace_id" = w."id" AND r."file_key" IS NOT NULL), 0);
