-- Hosts lock rooms, remove participants and close meetings.

-- AlterTable
ALTER TABLE "rooms" ADD COLUMN     "locked_at" TIMESTAMPTZ(3);

-- AlterTable
ALTER TABLE "participants" ADD COLUMN     "barred_until" TIMESTAMPTZ(3),
ADD COLUMN     "end_reason" TEXT;

-- Beyond Prisma: reasons, and who was removed ---------------------------------------------------------------------------

-- Existing rows have no reason, so they need no check.
ALTER TABLE "participants" ADD CONSTRAINT "participants_end_reason_check" CHECK ("end_reason" IN ('removed', 'closed'))
  NOT VALID;
ALTER TABLE "participants" ADD CONSTRAINT "participants_ended_check"
  CHECK ("end_reason" IS NULL OR "status" IN ('left', 'refused')) NOT VALID;

-- Few participants are removed.
CREATE INDEX "participants_barred" ON "participants" ("workspace_id", "room_id") WHERE "barred_until" IS NOT NULL;

-- Beyond Prisma: whether somebody may enter -----------------------------------------------------------------------------

-- Joining calls this in its statement, after it has locked the room. A volatile function reads with a snapshot of its
-- own, so it sees what was committed while the statement waited for that lock; the statement itself does not.
--
-- `was_inside`: the room is locked, and this user or token was in it when it was locked, or later.
-- `barred_until`: until when a person who was removed waits to be admitted; null if they were not removed.
CREATE FUNCTION "check_room_entry"(
  in_workspace integer, in_room integer, by_user integer, by_address text, by_name text, by_token bytea,
  at_time timestamptz, OUT is_locked boolean, OUT was_inside boolean, OUT barred_until timestamptz
) LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  SELECT r."locked_at" IS NOT NULL, r."locked_at" IS NOT NULL AND EXISTS (
    SELECT FROM "participants" p
    WHERE p."workspace_id" = in_workspace AND p."room_id" = in_room AND p."left_at" >= r."locked_at"
      AND p."joined_at" IS NOT NULL AND p."end_reason" IS NULL AND (p."token_hash" = by_token OR p."user_id" = by_user))
  INTO is_locked, was_inside FROM "rooms" r WHERE r."workspace_id" = in_workspace AND r."id" = in_room;
  SELECT max(p."barred_until") INTO barred_until FROM "participants" p
  WHERE p."workspace_id" = in_workspace AND p."room_id" = in_room AND p."barred_until" > at_time
    AND (p."token_hash" = by_token OR p."user_id" = by_user OR lower(trim(p."email")) = by_address
      OR (by_user IS NULL AND lower(p."name") = lower(by_name)));
END $$;
