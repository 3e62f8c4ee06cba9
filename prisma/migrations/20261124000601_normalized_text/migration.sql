-- Names and descriptions are stored in NFC, and names without bidirectional controls (src/core/text.ts). Rows from
-- before become the same, so that they are found and compared. Nothing else about them changes: a name that has no
-- visible character stays.

CREATE FUNCTION pg_temp.normalized_name(name TEXT) RETURNS TEXT LANGUAGE sql IMMUTABLE AS $$
  SELECT normalize(regexp_replace(name, '[\u202a-\u202e\u2066-\u2069]', '', 'g'), NFC)
$$;

-- Whether the name changes, and something of it remains.
CREATE FUNCTION pg_temp.is_denormalized(name TEXT) RETURNS BOOLEAN LANGUAGE sql IMMUTABLE AS $$
  SELECT pg_temp.normalized_name(name) <> name AND btrim(pg_temp.normalized_name(name)) <> ''
$$;

UPDATE "users" SET "name" = pg_temp.normalized_name("name") WHERE pg_temp.is_denormalized("name");
UPDATE "workspaces" SET "name" = pg_temp.normalized_name("name") WHERE pg_temp.is_denormalized("name");
UPDATE "library_items" SET "name" = pg_temp.normalized_name("name") WHERE pg_temp.is_denormalized("name");
UPDATE "library_items" SET "description" = normalize("description", NFC) WHERE "description" IS NOT NFC NORMALIZED;
UPDATE "rooms" SET "display_name" = pg_temp.normalized_name("display_name") WHERE pg_temp.is_denormalized("display_name");
UPDATE "rooms" SET "waiting_room_message" = normalize("waiting_room_message", NFC)
  WHERE "waiting_room_message" IS NOT NFC NORMALIZED;
UPDATE "recordings" SET "title" = pg_temp.normalized_name("title") WHERE pg_temp.is_denormalized("title");
UPDATE "participants" SET "name" = pg_temp.normalized_name("name") WHERE pg_temp.is_denormalized("name");
UPDATE "contacts" SET "name" = pg_temp.normalized_name("name") WHERE pg_temp.is_denormalized("name");
UPDATE "booking_pages" SET "title" = pg_temp.normalized_name("title") WHERE pg_temp.is_denormalized("title");
UPDATE "bookings" SET "name" = pg_temp.normalized_name("name") WHERE pg_temp.is_denormalized("name");
UPDATE "api_keys" SET "name" = pg_temp.normalized_name("name") WHERE pg_temp.is_denormalized("name");
UPDATE "webhooks" SET "name" = pg_temp.normalized_name("name") WHERE pg_temp.is_denormalized("name");
UPDATE "meeting_connections" SET "name" = pg_temp.normalized_name("name") WHERE pg_temp.is_denormalized("name");

-- Labels that become equal are told apart by a number, " (2)" and so on. Merging them would lose a color, and which
-- items had which of them.
DO $$
DECLARE
  label RECORD;
  candidate TEXT;
  suffix TEXT;
  number INTEGER;
BEGIN
  FOR label IN
    SELECT "workspace_id", "id", pg_temp.normalized_name("name") AS name FROM "labels"
    WHERE pg_temp.is_denormalized("name") ORDER BY "workspace_id", "created_at", "id"
  LOOP
    candidate := label.name;
    number := 1;
    WHILE EXISTS (
      SELECT FROM "labels" WHERE "workspace_id" = label.workspace_id AND "name" = candidate AND "id" <> label.id
    ) LOOP
      number := number + 1;
      suffix := ' (' || number || ')';
      candidate := left(label.name, 64 - length(suffix)) || suffix;
    END LOOP;
    UPDATE "labels" SET "name" = candidate WHERE "workspace_id" = label.workspace_id AND "id" = label.id;
  END LOOP;
END $$;

DROP FUNCTION pg_temp.is_denormalized(TEXT);
DROP FUNCTION pg_temp.normalized_name(TEXT);
