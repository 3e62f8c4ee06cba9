-- Rooms in the trash. The recordings of a room lie there with it ("with_room"): its entry stands for them.
ALTER TABLE "workspaces" ADD COLUMN     "trashed_room_count" INTEGER NOT NULL DEFAULT 0;
ALTER TABLE "trash_entries" ADD COLUMN     "with_room" BOOLEAN NOT NULL DEFAULT false;
ALTER TABLE "trash_entries" DROP CONSTRAINT "trash_entries_workspace_id_room_id_fkey";
ALTER TABLE "trash_entries" DROP CONSTRAINT "trash_entries_kind_check";
ALTER TABLE "trash_entries" ADD CONSTRAINT "trash_entries_kind_check"
  CHECK ("kind" IN ('library_item', 'recording', 'room')
    AND ("kind" = 'recording') = ("room_id" IS NOT NULL)
    AND ("kind" = 'recording' OR NOT "with_room"));
-- The name of a room in the trash stays taken.
CREATE UNIQUE INDEX "trash_entries_room_name_key" ON "trash_entries"(("record" ->> 'name')) WHERE "kind" = 'room';

CREATE OR REPLACE FUNCTION "count_added_trash"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE "workspaces" w
    SET "trashed_item_count" = w."trashed_item_count" + a.items,
      "trashed_room_count" = w."trashed_room_count" + a.rooms, "stored_bytes" = w."stored_bytes" + a.bytes
    FROM (SELECT "workspace_id", (count(*) FILTER (WHERE "kind" = 'library_item'))::int AS items,
            (count(*) FILTER (WHERE "kind" = 'room'))::int AS rooms, sum("size") AS bytes
          FROM "added" GROUP BY 1) a
    WHERE w."id" = a."workspace_id";
  RETURN NULL;
END $$;

-- The same, also for rooms: what lay in the trash with a room, or was moved there before it, is deleted with its entry,
-- unless the room was restored.
CREATE OR REPLACE FUNCTION "settle_removed_trash"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE "workspaces" w
    SET "trashed_item_count" = w."trashed_item_count" - r.items,
      "trashed_room_count" = w."trashed_room_count" - r.rooms, "stored_bytes" = w."stored_bytes" - r.bytes
    FROM (SELECT "workspace_id", (count(*) FILTER (WHERE "kind" = 'library_item'))::int AS items,
            (count(*) FILTER (WHERE "kind" = 'room'))::int AS rooms, sum("size") AS bytes
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
  IF EXISTS (SELECT FROM "removed" WHERE "kind" = 'room') THEN
    DELETE FROM "trash_entries" t USING "removed" r
      WHERE r."kind" = 'room' AND t."workspace_id" = r."workspace_id" AND t."room_id" = r."resource_id"
        AND NOT EXISTS (SELECT FROM "rooms" o WHERE o."workspace_id" = r."workspace_id" AND o."id" = r."resource_id");
  END IF;
  RETURN NULL;
END $$;

-- In place of the foreign key: recordings in the trash go with their room, unless it has moved to the trash itself.
CREATE FUNCTION "delete_trash_of_rooms"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM "trash_entries" t USING "removed" r
    WHERE t."workspace_id" = r."workspace_id" AND t."room_id" = r."id"
      AND NOT EXISTS (SELECT FROM "trash_entries" o WHERE o."workspace_id" = r."workspace_id" AND o."kind" = 'room'
        AND o."resource_id" = r."id");
  RETURN NULL;
END $$;

CREATE TRIGGER "rooms_removed_trash" AFTER DELETE ON "rooms" REFERENCING OLD TABLE AS "removed"
  FOR EACH STATEMENT EXECUTE FUNCTION "delete_trash_of_rooms"();

-- A name is taken by a room or by an entry of the trash. Statements look before they insert. This refuses a room that
-- was inserted while another one of its name moved to the trash: the insertion has waited for that, and now sees it.
-- The caller tries again, as after a deadlock, and then finds the name taken.
CREATE FUNCTION "refuse_name_in_trash"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (SELECT FROM "trash_entries" t WHERE t."kind" = 'room' AND t."record" ->> 'name' = NEW."name"
      AND NOT (t."workspace_id" = NEW."workspace_id" AND t."resource_id" = NEW."id")) THEN
    RAISE serialization_failure USING MESSAGE = 'The name has come to belong to a room in the trash';
  END IF;
  RETURN NULL;
END $$;

CREATE TRIGGER "rooms_added_name" AFTER INSERT ON "rooms" FOR EACH ROW EXECUTE FUNCTION "refuse_name_in_trash"();
