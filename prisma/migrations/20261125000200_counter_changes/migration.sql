-- The counters of rooms, contacts and contact events become a queue: triggers append changes and lock no row that other
-- writers share; a job adds the changes to the counters. Readers add what still waits.

ALTER TABLE "workspaces" ADD COLUMN "contact_count" INTEGER NOT NULL DEFAULT 0;

CREATE TABLE "counter_changes" (
    "workspace_id" INTEGER NOT NULL,
    "id" BIGSERIAL NOT NULL,
    "counter" TEXT NOT NULL,
    "day" DATE,
    "type" TEXT,
    "subject_id" INTEGER,
    "amount" INTEGER NOT NULL,

    CONSTRAINT "counter_changes_pkey" PRIMARY KEY ("workspace_id","id")
);

-- Beyond Prisma ------------------------------------------------------------------------------------------------------

ALTER TABLE "counter_changes" ADD CONSTRAINT "counter_changes_counter_check" CHECK (CASE "counter"
  WHEN 'rooms' THEN num_nonnulls("day", "type", "subject_id") = 0
  WHEN 'contacts' THEN "day" IS NOT NULL AND num_nonnulls("type", "subject_id") = 0
  WHEN 'contact_events' THEN num_nonnulls("day", "type") = 2
  ELSE false END);

-- All rows are soon deleted. Vacuuming follows their number, which has nothing to do with the size of the table.
ALTER TABLE "counter_changes" SET (
  autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000,
  autovacuum_vacuum_insert_scale_factor = 0, autovacuum_vacuum_insert_threshold = 5000,
  autovacuum_vacuum_cost_delay = 0);

-- PostgreSQL would check it for the negative change, before it finds the row that the change is added to.
ALTER TABLE "contact_days" DROP CONSTRAINT "contact_days_count_check";

UPDATE "workspaces" w SET "contact_count" = d."count"
  FROM (SELECT "workspace_id", sum("count") AS "count" FROM "contact_days" GROUP BY 1) d
  WHERE d."workspace_id" = w."id";

CREATE OR REPLACE FUNCTION "count_added_rooms"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO "counter_changes" ("workspace_id", "counter", "amount")
    SELECT "workspace_id", 'rooms', count(*) FROM "added" GROUP BY 1;
  RETURN NULL;
END $$;

CREATE OR REPLACE FUNCTION "count_removed_rooms"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO "counter_changes" ("workspace_id", "counter", "amount")
    SELECT "workspace_id", 'rooms', -count(*) FROM "removed" GROUP BY 1;
  RETURN NULL;
END $$;

CREATE OR REPLACE FUNCTION "sum_added_contacts"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO "counter_changes" ("workspace_id", "counter", "day", "amount")
    SELECT "workspace_id", 'contacts', ("created_at" AT TIME ZONE 'UTC')::date, count(*) FROM "added" GROUP BY 1, 3;
  RETURN NULL;
END $$;

CREATE OR REPLACE FUNCTION "sum_removed_contacts"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO "counter_changes" ("workspace_id", "counter", "day", "amount")
    SELECT "workspace_id", 'contacts', ("created_at" AT TIME ZONE 'UTC')::date, -count(*) FROM "removed" GROUP BY 1, 3;
  RETURN NULL;
END $$;

CREATE OR REPLACE FUNCTION "sum_added_contact_events"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO "counter_changes" ("workspace_id", "counter", "day", "type", "subject_id", "amount")
    SELECT "workspace_id", 'contact_events', ("created_at" AT TIME ZONE 'UTC')::date, "type",
      CASE "type" WHEN 'room_join' THEN "room_id" WHEN 'booking' THEN "booking_page_id" END, count(*)
    FROM "added" GROUP BY 1, 3, 4, 5;
  RETURN NULL;
END $$;

-- What goes with its workspace need not be counted.
DROP TRIGGER "rooms_removed" ON "rooms";
CREATE TRIGGER "rooms_removed" AFTER DELETE ON "rooms"
  REFERENCING OLD TABLE AS "removed" FOR EACH STATEMENT WHEN (pg_trigger_depth() = 0)
  EXECUTE FUNCTION "count_removed_rooms"();
DROP TRIGGER "contacts_removed" ON "contacts";
CREATE TRIGGER "contacts_removed" AFTER DELETE ON "contacts"
  REFERENCING OLD TABLE AS "removed" FOR EACH STATEMENT WHEN (pg_trigger_depth() = 0)
  EXECUTE FUNCTION "sum_removed_contacts"();

DROP TRIGGER "contacts_locked" ON "contacts";
DROP FUNCTION "lock_added_contact"();
DROP FUNCTION "lock_contact_sums"(integer);
