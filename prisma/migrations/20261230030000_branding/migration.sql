-- How a workspace looks to its guests. Nothing by default, as before.
ALTER TABLE "workspaces" ADD COLUMN "brand_color" TEXT;
ALTER TABLE "workspaces" ADD COLUMN "logo_key" TEXT;
ALTER TABLE "workspaces" ADD COLUMN "imprint_url" TEXT;
ALTER TABLE "workspaces" ADD COLUMN "privacy_url" TEXT;
ALTER TABLE "workspaces" ADD CONSTRAINT "workspaces_brand_color_check" CHECK ("brand_color" ~ '^#[0-9a-f]{6}$') NOT VALID;
ALTER TABLE "workspaces" VALIDATE CONSTRAINT "workspaces_brand_color_check";

-- Beyond Prisma: the indexes in which the storage sweep finds logos by their key, and anyone by the last part of it ----

CREATE INDEX "workspaces_logo_key_idx" ON "workspaces"("logo_key" COLLATE "C") WHERE "logo_key" IS NOT NULL;
CREATE UNIQUE INDEX "workspaces_logo_name_key" ON "workspaces"(substring("logo_key" from '[^/]+$'))
  WHERE "logo_key" IS NOT NULL;

-- Beyond Prisma: a logo is removed when another replaces it, and with its workspace ------------------------------------

CREATE FUNCTION "discard_logo"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO "discarded_objects" ("key") VALUES (OLD."logo_key") ON CONFLICT DO NOTHING;
  RETURN NULL;
END $$;

CREATE TRIGGER "workspaces_logo_removed" AFTER DELETE ON "workspaces"
  FOR EACH ROW WHEN (OLD."logo_key" IS NOT NULL) EXECUTE FUNCTION "discard_logo"();
CREATE TRIGGER "workspaces_logo_changed" AFTER UPDATE OF "logo_key" ON "workspaces"
  FOR EACH ROW WHEN (OLD."logo_key" IS DISTINCT FROM NEW."logo_key" AND OLD."logo_key" IS NOT NULL)
  EXECUTE FUNCTION "discard_logo"();

-- A logo is newer than its row, as a poster is: a page without it shows the name of the service.
CREATE OR REPLACE VIEW "stored_objects" AS
  SELECT "file_key" AS "key", "created_at" FROM "library_items"
  UNION ALL SELECT "file_key", "created_at" FROM "recordings" WHERE "file_key" IS NOT NULL
  UNION ALL SELECT "poster_key", now()::timestamptz(3) FROM "library_items" WHERE "poster_key" IS NOT NULL
  UNION ALL SELECT "poster_key", now()::timestamptz(3) FROM "recordings" WHERE "poster_key" IS NOT NULL
  UNION ALL SELECT "logo_key", now()::timestamptz(3) FROM "workspaces" WHERE "logo_key" IS NOT NULL
  UNION ALL SELECT u."finished_key", now()::timestamptz(3) FROM "uploads" u
    WHERE u."finished_key" IS NOT NULL
      AND NOT EXISTS (SELECT FROM "recordings" r WHERE r."file_key" COLLATE "C" = u."finished_key");
