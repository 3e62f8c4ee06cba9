-- A recording is uploaded while it is made. When its recorder falls silent, the service finishes the recording with the
-- bytes that it has, and keeps them for a day, because more may follow.
ALTER TABLE "uploads"
  ADD COLUMN "defers_length" BOOLEAN NOT NULL DEFAULT false,
  ADD COLUMN "active_at" TIMESTAMPTZ(3),
  ADD COLUMN "is_finishing" BOOLEAN NOT NULL DEFAULT false,
  ADD COLUMN "finished_key" TEXT,
  ADD COLUMN "finished_bytes" BIGINT NOT NULL DEFAULT 0,
  ADD COLUMN "finished_at" TIMESTAMPTZ(3);

-- Beyond Prisma: the indexes for the uploads that fall silent, and for the objects that are kept ------------------------

CREATE INDEX "uploads_live" ON "uploads" ("expires_at")
  WHERE "result" IS NULL AND "defers_length" AND "recording_id" IS NOT NULL;
CREATE INDEX "uploads_finished_key_idx" ON "uploads" ("finished_key" COLLATE "C") WHERE "finished_key" IS NOT NULL;

-- Beyond Prisma: what an upload may still continue is discarded neither with the recording's reference to it, nor with
-- that of the upload while the recording has one. Each of the two waits for the other, and then reads what is committed.

CREATE OR REPLACE FUNCTION "settle_changed_recordings"() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  replaced text;
BEGIN
  UPDATE "workspaces" w SET "recording_seconds" = w."recording_seconds" + c.seconds, "stored_bytes" = w."stored_bytes" + c.bytes
    FROM (SELECT "workspace_id", sum("duration") AS seconds, sum("bytes") AS bytes FROM
            (SELECT "workspace_id", "duration", CASE WHEN "file_key" IS NULL THEN 0 ELSE "size" END AS "bytes" FROM "after"
             UNION ALL
             SELECT "workspace_id", -"duration", CASE WHEN "file_key" IS NULL THEN 0 ELSE -"size" END FROM "before") d
          GROUP BY 1 HAVING sum("duration") <> 0 OR sum("bytes") <> 0) c
    WHERE w."id" = c."workspace_id";
  FOR replaced IN
    SELECT b."file_key" FROM "before" b JOIN "after" a USING ("workspace_id", "id")
    WHERE b."file_key" IS NOT NULL AND b."file_key" IS DISTINCT FROM a."file_key"
  LOOP
    PERFORM FROM "uploads" u WHERE u."finished_key" COLLATE "C" = replaced FOR SHARE;
    IF NOT FOUND THEN
      INSERT INTO "discarded_objects" ("key") VALUES (replaced) ON CONFLICT DO NOTHING;
    END IF;
  END LOOP;
  RETURN NULL;
END $$;

CREATE FUNCTION "discard_finished_object"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NOT EXISTS (SELECT FROM "recordings" r WHERE r."file_key" COLLATE "C" = OLD."finished_key") THEN
    INSERT INTO "discarded_objects" ("key") VALUES (OLD."finished_key") ON CONFLICT DO NOTHING;
  END IF;
  RETURN NULL;
END $$;

CREATE TRIGGER "uploads_finished_removed" AFTER DELETE ON "uploads"
  FOR EACH ROW WHEN (OLD."finished_key" IS NOT NULL) EXECUTE FUNCTION "discard_finished_object"();
CREATE TRIGGER "uploads_finished_changed" AFTER UPDATE OF "finished_key" ON "uploads"
  FOR EACH ROW WHEN (OLD."finished_key" IS DISTINCT FROM NEW."finished_key" AND OLD."finished_key" IS NOT NULL)
  EXECUTE FUNCTION "discard_finished_object"();

-- Each object is listed once.
CREATE OR REPLACE VIEW "stored_objects" AS
  SELECT "file_key" AS "key", "created_at" FROM "library_items"
  UNION ALL SELECT "file_key", "created_at" FROM "recordings" WHERE "file_key" IS NOT NULL
  UNION ALL SELECT "poster_key", now()::timestamptz(3) FROM "library_items" WHERE "poster_key" IS NOT NULL
  UNION ALL SELECT "poster_key", now()::timestamptz(3) FROM "recordings" WHERE "poster_key" IS NOT NULL
  UNION ALL SELECT u."finished_key", now()::timestamptz(3) FROM "uploads" u
    WHERE u."finished_key" IS NOT NULL
      AND NOT EXISTS (SELECT FROM "recordings" r WHERE r."file_key" COLLATE "C" = u."finished_key");
