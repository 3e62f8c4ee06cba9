-- A guest who was admitted, left and joins again with the token of that visit does not wait again.

-- The function gets another result, which only DROP allows.
DROP FUNCTION "check_room_entry";

-- Joining calls this in its statement, after it has locked the room. A volatile function reads with a snapshot of its
-- own, so it sees what was committed while the statement waited for that lock; the statement itself does not.
--
-- `was_inside`: the room is locked, and this user or token was in it when it was locked, or later.
-- `was_admitted`: the holder of this token was in the room within the last hour, and no host has ended the visit or
-- closed the meeting since.
-- `barred_until`: until when a person who was removed waits to be admitted; null if they were not removed.
CREATE FUNCTION "check_room_entry"(
  in_workspace integer, in_room integer, by_user integer, by_address text, by_name text, by_token bytea,
  at_time timestamptz, OUT is_locked boolean, OUT was_inside boolean, OUT barred_until timestamptz,
  OUT was_admitted boolean
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
  was_admitted := by_token IS NOT NULL AND EXISTS (
    SELECT FROM "participants" p
    WHERE p."token_hash" = by_token AND p."workspace_id" = in_workspace AND p."room_id" = in_room
      AND p."joined_at" IS NOT NULL AND p."end_reason" IS NULL AND p."left_at" > at_time - interval '1 hour'
      AND (p."user_id" IS NULL OR p."user_id" = by_user)
      AND NOT EXISTS (
        SELECT FROM "participants" c
        WHERE c."workspace_id" = in_workspace AND c."room_id" = in_room AND c."end_reason" = 'closed'
          AND c."left_at" >= p."left_at"));
END $$;
