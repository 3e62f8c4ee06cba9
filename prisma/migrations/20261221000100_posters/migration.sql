-- The pictures that lists show of items and recordings.
ALTER TABLE "library_items" ADD COLUMN "poster_key" TEXT;
ALTER TABLE "recordings" ADD COLUMN "poster_key" TEXT;

-- Beyond Prisma: the index in which the storage sweep finds posters, without the rows that have none ------------------

CREATE INDEX "library_items_poster_key_idx" ON "library_items"("poster_key" COLLATE "C") WHERE "poster_key" IS NOT NULL;
CREATE INDEX "recordings_poster_key_idx" ON "recordings"("poster_key" COLLATE "C") WHERE "poster_key" IS NOT NULL;

-- Beyond Prisma: a poster is removed when another replaces it, and with its item or recording --------------------------

CREATE FUNCTION "discard_poster"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO "discarded_objects" ("key") VALUES (OLD."poster_key") ON CONFLICT DO NOTHING;
  RETURN NULL;
END $$;

CREATE TRIGGER "library_items_poster_removed" AFTER DELETE ON "library_items"
  FOR EACH ROW WHEN (OLD."poster_key" IS NOT NULL) EXECUTE FUNCTION "discard_poster"();
CREATE TRIGGER "library_items_poster_changed" AFTER UPDATE OF "poster_key" ON "library_items"
  FOR EACH ROW WHEN (OLD."poster_key" IS DISTINCT FROM NEW."poster_key" AND OLD."poster_key" IS NOT NULL)
  EXECUTE FUNCTION "discard_poster"();
CREATE TRIGGER "recordings_poster_removed" AFTER DELETE ON "recordings"
  FOR EACH ROW WHEN (OLD."poster_key" IS NOT NULL) EXECUTE FUNCTION "discard_poster"();
CREATE TRIGGER "recordings_poster_changed" AFTER UPDATE OF "poster_key" ON "recordings"
  FOR EACH ROW WHEN (OLD."poster_key" IS DISTINCT FROM NEW."poster_key" AND OLD."poster_key" IS NOT NULL)
  EXECUTE FUNCTION "discard_poster"();

-- The sweep reports the rows without an object that were created a day ago. A poster is newer than its row, so it is
-- never reported: a page without it shows an icon.
CREATE OR REPLACE VIEW "stored_objects" AS
  SELECT "file_key" AS "key", "created_at" FROM "library_items"
  UNION ALL SELECT "file_key", "created_at" FROM "recordings" WHERE "file_key" IS NOT NULL
  UNION ALL SELECT "poster_key", now()::timestamptz(3) FROM "library_items" WHERE "poster_key" IS NOT NULL
  UNION ALL SELECT "poster_key", now()::timestamptz(3) FROM "recordings" WHERE "poster_key" IS NOT NULL;
