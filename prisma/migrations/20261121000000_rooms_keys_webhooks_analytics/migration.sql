-- Rooms and recordings, API keys, webhooks, and the contacts and events behind analytics.
-- The first part is drafted from prisma/schema.prisma; what Prisma cannot say follows below it.

-- AlterTable
ALTER TABLE "workspaces" ADD COLUMN     "recording_count" INTEGER NOT NULL DEFAULT 0,
ADD COLUMN     "recording_seconds" BIGINT NOT NULL DEFAULT 0,
ADD COLUMN     "room_count" INTEGER NOT NULL DEFAULT 0;

-- CreateTable
CREATE TABLE "rooms" (
    "workspace_id" INTEGER NOT NULL,
    "id" SERIAL NOT NULL,
    "name" TEXT NOT NULL,
    "user_id" INTEGER NOT NULL,
    "display_name" TEXT,
    "scheduled_at" DOUBLE PRECISION,
    "accent_color" TEXT NOT NULL,
    "waiting_room_enabled" BOOLEAN NOT NULL DEFAULT false,
    "waiting_room_message" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "last_used_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "rooms_pkey" PRIMARY KEY ("workspace_id","id")
);

-- CreateTable
CREATE TABLE "recordings" (
    "workspace_id" INTEGER NOT NULL,
    "id" SERIAL NOT NULL,
    "room_id" INTEGER NOT NULL,
    "archive_id" TEXT NOT NULL,
    "title" TEXT,
    "file_key" TEXT,
    "duration" BIGINT NOT NULL DEFAULT 0,
    "size" BIGINT NOT NULL DEFAULT 0,
    "status" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "recordings_pkey" PRIMARY KEY ("workspace_id","id")
);

-- CreateTable
CREATE TABLE "api_keys" (
    "workspace_id" INTEGER NOT NULL,
    "id" SERIAL NOT NULL,
    "name" TEXT NOT NULL,
    "key_prefix" TEXT NOT NULL,
    "key_hash" BYTEA NOT NULL,
    "created_by" INTEGER NOT NULL,
    "is_active" BOOLEAN NOT NULL DEFAULT true,
    "last_used_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "api_keys_pkey" PRIMARY KEY ("workspace_id","id")
);

-- CreateTable
CREATE TABLE "webhooks" (
    "workspace_id" INTEGER NOT NULL,
    "id" SERIAL NOT NULL,
    "name" TEXT NOT NULL,
    "url" TEXT NOT NULL,
    "sealed_secret" BYTEA NOT NULL,
    "events" TEXT[],
    "is_active" BOOLEAN NOT NULL DEFAULT true,
    "created_by" INTEGER,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,
    "last_delivery_at" TIMESTAMPTZ(3),
    "failure_count" INTEGER NOT NULL DEFAULT 0,
    "disabled_reason" TEXT,

    CONSTRAINT "webhooks_pkey" PRIMARY KEY ("workspace_id","id")
);

-- CreateTable
CREATE TABLE "webhook_deliveries" (
    "workspace_id" INTEGER NOT NULL,
    "id" BIGSERIAL NOT NULL,
    "webhook_id" INTEGER NOT NULL,
    "delivery_id" TEXT NOT NULL,
    "attempt" INTEGER NOT NULL,
    "event" TEXT NOT NULL,
    "payload" TEXT NOT NULL,
    "response_status" INTEGER NOT NULL,
    "response_body" TEXT NOT NULL,
    "success" BOOLEAN NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "webhook_deliveries_pkey" PRIMARY KEY ("workspace_id","id")
);

-- CreateTable
CREATE TABLE "contacts" (
    "workspace_id" INTEGER NOT NULL,
    "id" SERIAL NOT NULL,
    "name" TEXT NOT NULL,
    "email" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "contacts_pkey" PRIMARY KEY ("workspace_id","id")
);

-- CreateTable
CREATE TABLE "booking_pages" (
    "workspace_id" INTEGER NOT NULL,
    "id" SERIAL NOT NULL,
    "title" TEXT NOT NULL,
    "slug" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "booking_pages_pkey" PRIMARY KEY ("workspace_id","id")
);

-- CreateTable
CREATE TABLE "contact_events" (
    "workspace_id" INTEGER NOT NULL,
    "id" BIGSERIAL NOT NULL,
    "type" TEXT NOT NULL,
    "contact_id" INTEGER,
    "room_id" INTEGER,
    "booking_page_id" INTEGER,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "contact_events_pkey" PRIMARY KEY ("workspace_id","id")
);

-- CreateTable
CREATE TABLE "contact_event_days" (
    "workspace_id" INTEGER NOT NULL,
    "day" DATE NOT NULL,
    "type" TEXT NOT NULL,
    "count" BIGINT NOT NULL,

    CONSTRAINT "contact_event_days_pkey" PRIMARY KEY ("workspace_id","day","type")
);

-- CreateTable
CREATE TABLE "contact_event_subjects" (
    "workspace_id" INTEGER NOT NULL,
    "type" TEXT NOT NULL,
    "subject_id" INTEGER NOT NULL,
    "count" BIGINT NOT NULL,

    CONSTRAINT "contact_event_subjects_pkey" PRIMARY KEY ("workspace_id","type","subject_id")
);

-- CreateTable
CREATE TABLE "contact_days" (
    "workspace_id" INTEGER NOT NULL,
    "day" DATE NOT NULL,
    "count" INTEGER NOT NULL,

    CONSTRAINT "contact_days_pkey" PRIMARY KEY ("workspace_id","day")
);

-- CreateIndex
CREATE UNIQUE INDEX "rooms_name_key" ON "rooms"("name");

-- CreateIndex
CREATE INDEX "rooms_workspace_id_created_at_id_idx" ON "rooms"("workspace_id", "created_at", "id");

-- CreateIndex
CREATE INDEX "rooms_user_id_created_at_id_idx" ON "rooms"("user_id", "created_at", "id");

-- CreateIndex
CREATE INDEX "recordings_workspace_id_room_id_created_at_id_idx" ON "recordings"("workspace_id", "room_id", "created_at", "id");

-- CreateIndex
-- In byte order, as the stores list: the sweep walks both sides of it.
CREATE INDEX "recordings_file_key_idx" ON "recordings"("file_key" COLLATE "C");

-- CreateIndex
CREATE UNIQUE INDEX "recordings_workspace_id_room_id_archive_id_key" ON "recordings"("workspace_id", "room_id", "archive_id");

-- CreateIndex
CREATE UNIQUE INDEX "api_keys_key_hash_key" ON "api_keys"("key_hash");

-- CreateIndex
CREATE INDEX "api_keys_created_by_idx" ON "api_keys"("created_by");

-- CreateIndex
CREATE INDEX "webhooks_created_by_idx" ON "webhooks"("created_by");

-- CreateIndex
CREATE INDEX "webhook_deliveries_workspace_id_webhook_id_created_at_id_idx" ON "webhook_deliveries"("workspace_id", "webhook_id", "created_at", "id");

-- CreateIndex
CREATE UNIQUE INDEX "contacts_workspace_id_email_key" ON "contacts"("workspace_id", "email");

-- CreateIndex
CREATE UNIQUE INDEX "booking_pages_slug_key" ON "booking_pages"("slug");

-- CreateIndex
CREATE INDEX "contact_events_workspace_id_contact_id_created_at_idx" ON "contact_events"("workspace_id", "contact_id", "created_at");

-- CreateIndex
CREATE INDEX "contact_event_subjects_workspace_id_type_count_subject_id_idx" ON "contact_event_subjects"("workspace_id", "type", "count" DESC, "subject_id");

-- AddForeignKey
ALTER TABLE "rooms" ADD CONSTRAINT "rooms_workspace_id_fkey" FOREIGN KEY ("workspace_id") REFERENCES "workspaces"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "rooms" ADD CONSTRAINT "rooms_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "recordings" ADD CONSTRAINT "recordings_workspace_id_room_id_fkey" FOREIGN KEY ("workspace_id", "room_id") REFERENCES "rooms"("workspace_id", "id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "api_keys" ADD CONSTRAINT "api_keys_workspace_id_fkey" FOREIGN KEY ("workspace_id") REFERENCES "workspaces"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "api_keys" ADD CONSTRAINT "api_keys_created_by_fkey" FOREIGN KEY ("created_by") REFERENCES "users"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "webhooks" ADD CONSTRAINT "webhooks_workspace_id_fkey" FOREIGN KEY ("workspace_id") REFERENCES "workspaces"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "webhooks" ADD CONSTRAINT "webhooks_created_by_fkey" FOREIGN KEY ("created_by") REFERENCES "users"("id") ON DELETE SET NULL ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "webhook_deliveries" ADD CONSTRAINT "webhook_deliveries_workspace_id_webhook_id_fkey" FOREIGN KEY ("workspace_id", "webhook_id") REFERENCES "webhooks"("workspace_id", "id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "contacts" ADD CONSTRAINT "contacts_workspace_id_fkey" FOREIGN KEY ("workspace_id") REFERENCES "workspaces"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "booking_pages" ADD CONSTRAINT "booking_pages_workspace_id_fkey" FOREIGN KEY ("workspace_id") REFERENCES "workspaces"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "contact_events" ADD CONSTRAINT "contact_events_workspace_id_fkey" FOREIGN KEY ("workspace_id") REFERENCES "workspaces"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "contact_event_days" ADD CONSTRAINT "contact_event_days_workspace_id_fkey" FOREIGN KEY ("workspace_id") REFERENCES "workspaces"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "contact_event_subjects" ADD CONSTRAINT "contact_event_subjects_workspace_id_fkey" FOREIGN KEY ("workspace_id") REFERENCES "workspaces"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "contact_days" ADD CONSTRAINT "contact_days_workspace_id_fkey" FOREIGN KEY ("workspace_id") REFERENCES "workspaces"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- Beyond Prisma: invariants ------------------------------------------------------------------------------------------

ALTER TABLE "recordings" ADD CONSTRAINT "recordings_status_check"
  CHECK ("status" IN ('started', 'uploaded', 'available', 'failed'));
ALTER TABLE "recordings" ADD CONSTRAINT "recordings_duration_check" CHECK ("duration" >= 0);
ALTER TABLE "recordings" ADD CONSTRAINT "recordings_size_check" CHECK ("size" >= 0);
-- A contact is known by the address, however it is typed.
ALTER TABLE "contacts" ADD CONSTRAINT "contacts_email_check" CHECK ("email" = lower("email") AND "email" <> '');
-- What can be downloaded has a file.
ALTER TABLE "recordings" ADD CONSTRAINT "recordings_available_has_file_check"
  CHECK ("status" <> 'available' OR "file_key" IS NOT NULL);
ALTER TABLE "rooms" ADD CONSTRAINT "rooms_name_check" CHECK ("name" ~ '^[a-z0-9]+(-[a-z0-9]+)*$' AND length("name") BETWEEN 2 AND 64);

-- Beyond Prisma: the totals of a workspace, and the objects of recordings, whoever writes ------------------------------

CREATE FUNCTION "count_added_rooms"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE "workspaces" w SET "room_count" = w."room_count" + a.n
    FROM (SELECT "workspace_id", count(*)::int AS n FROM "added" GROUP BY 1) a WHERE w."id" = a."workspace_id";
  RETURN NULL;
END $$;

CREATE TRIGGER "rooms_added" AFTER INSERT ON "rooms"
  REFERENCING NEW TABLE AS "added" FOR EACH STATEMENT EXECUTE FUNCTION "count_added_rooms"();

CREATE FUNCTION "count_removed_rooms"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE "workspaces" w SET "room_count" = w."room_count" - r.n
    FROM (SELECT "workspace_id", count(*)::int AS n FROM "removed" GROUP BY 1) r WHERE w."id" = r."workspace_id";
  RETURN NULL;
END $$;

CREATE TRIGGER "rooms_removed" AFTER DELETE ON "rooms"
  REFERENCING OLD TABLE AS "removed" FOR EACH STATEMENT EXECUTE FUNCTION "count_removed_rooms"();

CREATE FUNCTION "count_added_recordings"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE "workspaces" w SET "recording_count" = w."recording_count" + a.n, "recording_seconds" = w."recording_seconds" + a.seconds
    FROM (SELECT "workspace_id", count(*)::int AS n, sum("duration") AS seconds FROM "added" GROUP BY 1) a
    WHERE w."id" = a."workspace_id";
  RETURN NULL;
END $$;

CREATE TRIGGER "recordings_added" AFTER INSERT ON "recordings"
  REFERENCING NEW TABLE AS "added" FOR EACH STATEMENT EXECUTE FUNCTION "count_added_recordings"();

CREATE FUNCTION "settle_changed_recordings"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE "workspaces" w SET "recording_seconds" = w."recording_seconds" + c.seconds
    FROM (SELECT "workspace_id", sum("duration") AS seconds FROM
            (SELECT "workspace_id", "duration" FROM "after" UNION ALL SELECT "workspace_id", -"duration" FROM "before") d
          GROUP BY 1 HAVING sum("duration") <> 0) c
    WHERE w."id" = c."workspace_id";
  INSERT INTO "discarded_objects" ("key")
    SELECT b."file_key" FROM "before" b JOIN "after" a USING ("workspace_id", "id")
    WHERE b."file_key" IS NOT NULL AND b."file_key" IS DISTINCT FROM a."file_key" ON CONFLICT DO NOTHING;
  RETURN NULL;
END $$;

CREATE TRIGGER "recordings_changed" AFTER UPDATE ON "recordings"
  REFERENCING OLD TABLE AS "before" NEW TABLE AS "after" FOR EACH STATEMENT EXECUTE FUNCTION "settle_changed_recordings"();

CREATE FUNCTION "settle_removed_recordings"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE "workspaces" w SET "recording_count" = w."recording_count" - r.n, "recording_seconds" = w."recording_seconds" - r.seconds
    FROM (SELECT "workspace_id", count(*)::int AS n, sum("duration") AS seconds FROM "removed" GROUP BY 1) r
    WHERE w."id" = r."workspace_id";
  INSERT INTO "discarded_objects" ("key")
    SELECT "file_key" FROM "removed" WHERE "file_key" IS NOT NULL ON CONFLICT DO NOTHING;
  RETURN NULL;
END $$;

CREATE TRIGGER "recordings_removed" AFTER DELETE ON "recordings"
  REFERENCING OLD TABLE AS "removed" FOR EACH STATEMENT EXECUTE FUNCTION "settle_removed_recordings"();

CREATE OR REPLACE VIEW "stored_objects" AS
  SELECT "file_key" AS "key", "created_at" FROM "library_items"
  UNION ALL SELECT "file_key", "created_at" FROM "recordings" WHERE "file_key" IS NOT NULL;

-- Beyond Prisma: the sums that analytics reads, kept in the transaction that changes what they count --------------------

ALTER TABLE "contact_events" ADD CONSTRAINT "contact_events_type_check" CHECK ("type" ~ '^[a-z][a-z0-9_]{0,63}$');
ALTER TABLE "contact_event_days" ADD CONSTRAINT "contact_event_days_count_check" CHECK ("count" >= 0);
ALTER TABLE "contact_event_subjects" ADD CONSTRAINT "contact_event_subjects_count_check" CHECK ("count" >= 0);
ALTER TABLE "contact_days" ADD CONSTRAINT "contact_days_count_check" CHECK ("count" >= 0);

-- One writer of a workspace's sums at a time, until its commit: transactions of several events in different orders would
-- wait for each other's rows in a circle. Taken before any row of a sum, and before a contact's place in its unique index.
CREATE FUNCTION "lock_contact_sums"("of_workspace" integer) RETURNS void LANGUAGE sql AS $$
  SELECT pg_advisory_xact_lock('contact_events'::regclass::oid::integer, "of_workspace")
$$;

CREATE FUNCTION "sum_added_contact_events"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM "lock_contact_sums"(w."workspace_id") FROM (SELECT DISTINCT "workspace_id" FROM "added" ORDER BY 1) w;
  INSERT INTO "contact_event_days" AS d ("workspace_id", "day", "type", "count")
    SELECT "workspace_id", ("created_at" AT TIME ZONE 'UTC')::date AS "day", "type", count(*) FROM "added" GROUP BY 1, 2, 3
    ON CONFLICT ("workspace_id", "day", "type") DO UPDATE SET "count" = d."count" + EXCLUDED."count";
  INSERT INTO "contact_event_subjects" AS s ("workspace_id", "type", "subject_id", "count")
    SELECT "workspace_id", "type", CASE "type" WHEN 'room_join' THEN "room_id" WHEN 'booking' THEN "booking_page_id" END AS subject, count(*)
    FROM "added"
    WHERE CASE "type" WHEN 'room_join' THEN "room_id" WHEN 'booking' THEN "booking_page_id" END IS NOT NULL
    GROUP BY 1, 2, 3
    ON CONFLICT ("workspace_id", "type", "subject_id") DO UPDATE SET "count" = s."count" + EXCLUDED."count";
  RETURN NULL;
END $$;

CREATE TRIGGER "contact_events_added" AFTER INSERT ON "contact_events"
  REFERENCING NEW TABLE AS "added" FOR EACH STATEMENT EXECUTE FUNCTION "sum_added_contact_events"();

-- Events are only ever added. They go with their workspace, by its foreign key, and its sums with them.
CREATE FUNCTION "refuse_changed_counts"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'What is counted in % stays as it is: its sums would no longer fit', TG_TABLE_NAME;
END $$;

CREATE TRIGGER "contact_events_unchanged" BEFORE UPDATE ON "contact_events"
  FOR EACH STATEMENT EXECUTE FUNCTION "refuse_changed_counts"();

CREATE TRIGGER "contact_events_kept" BEFORE DELETE ON "contact_events"
  FOR EACH STATEMENT WHEN (pg_trigger_depth() = 0) EXECUTE FUNCTION "refuse_changed_counts"();

CREATE TRIGGER "contacts_unmoved" BEFORE UPDATE OF "workspace_id", "created_at" ON "contacts"
  FOR EACH STATEMENT EXECUTE FUNCTION "refuse_changed_counts"();

-- A deleted room or page is named nowhere any more, and no id comes back: its sum would only be walked past.
CREATE FUNCTION "forget_removed_subjects"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM "contact_event_subjects" s USING "removed" r
    WHERE s."workspace_id" = r."workspace_id" AND s."type" = TG_ARGV[0] AND s."subject_id" = r."id";
  RETURN NULL;
END $$;

CREATE TRIGGER "rooms_removed_subjects" AFTER DELETE ON "rooms"
  REFERENCING OLD TABLE AS "removed" FOR EACH STATEMENT EXECUTE FUNCTION "forget_removed_subjects"('room_join');

CREATE TRIGGER "booking_pages_removed_subjects" AFTER DELETE ON "booking_pages"
  REFERENCING OLD TABLE AS "removed" FOR EACH STATEMENT EXECUTE FUNCTION "forget_removed_subjects"('booking');

CREATE FUNCTION "lock_added_contact"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM "lock_contact_sums"(NEW."workspace_id");
  RETURN NEW;
END $$;

CREATE TRIGGER "contacts_locked" BEFORE INSERT ON "contacts"
  FOR EACH ROW EXECUTE FUNCTION "lock_added_contact"();

CREATE FUNCTION "sum_added_contacts"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO "contact_days" AS d ("workspace_id", "day", "count")
    SELECT "workspace_id", ("created_at" AT TIME ZONE 'UTC')::date AS "day", count(*) FROM "added" GROUP BY 1, 2
    ON CONFLICT ("workspace_id", "day") DO UPDATE SET "count" = d."count" + EXCLUDED."count";
  RETURN NULL;
END $$;

CREATE TRIGGER "contacts_added" AFTER INSERT ON "contacts"
  REFERENCING NEW TABLE AS "added" FOR EACH STATEMENT EXECUTE FUNCTION "sum_added_contacts"();

CREATE FUNCTION "sum_removed_contacts"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE "contact_days" d SET "count" = d."count" - r.n
    FROM (SELECT "workspace_id", ("created_at" AT TIME ZONE 'UTC')::date AS "day", count(*) AS n FROM "removed" GROUP BY 1, 2) r
    WHERE d."workspace_id" = r."workspace_id" AND d."day" = r."day";
  RETURN NULL;
END $$;

CREATE TRIGGER "contacts_removed" AFTER DELETE ON "contacts"
  REFERENCING OLD TABLE AS "removed" FOR EACH STATEMENT EXECUTE FUNCTION "sum_removed_contacts"();
