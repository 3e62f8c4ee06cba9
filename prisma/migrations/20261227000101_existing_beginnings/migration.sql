-- lynxroom: no transaction
-- Marks the visits that began a meeting, room by room, so that nobody waits for more than the visits of one room.
DO $$
DECLARE
  room record;
BEGIN
  FOR room IN SELECT r."workspace_id", r."id" FROM "rooms" r LOOP
    PERFORM pg_advisory_xact_lock(hashtext('beginnings of meetings'), room."id");
    UPDATE "participants" p SET "begins_meeting" = true FROM (
      SELECT v."id", v."joined_at", max(coalesce(v."left_at", 'infinity')) OVER (
        ORDER BY v."joined_at", v."id" ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS reached
      FROM "participants" v
      WHERE v."workspace_id" = room."workspace_id" AND v."room_id" = room."id" AND v."joined_at" IS NOT NULL) v
    WHERE p."workspace_id" = room."workspace_id" AND p."id" = v."id" AND NOT p."begins_meeting"
      AND (v.reached IS NULL OR v.reached <= v."joined_at" - interval '10 minutes');
    COMMIT;
  END LOOP;
END $$;
