-- Existing recordings were made when only hosts could watch them, and it stays so. A migration of its own, so that the
-- rooms are not locked for everybody while the rows change.
UPDATE "rooms" r SET "recordings_visible_to" = 'hosts' WHERE EXISTS (
  SELECT FROM "recordings" c WHERE c."workspace_id" = r."workspace_id" AND c."room_id" = r."id");
