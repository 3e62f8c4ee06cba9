-- The token of a visit with a pass leads back only with the pass: not once that was revoked or has expired.
CREATE OR REPLACE FUNCTION "check_room_entry"(in_workspace integer, in_room integer, by_user integer, by_address text, by_name text, by_token bytea, by_pass integer, at_time timestamp with time zone, OUT is_locked boolean, OUT was_inside boolean, OUT barred_until timestamp with time zone, OUT was_admitted boolean)
 RETURNS record
 LANGUAGE plpgsql
AS $$
BEGIN
  SELECT r."locked_at" IS NOT NULL, r."locked_at" IS NOT NULL AND EXISTS (
    SELECT FROM "participants" p
    WHERE p."workspace_id" = in_workspace AND p."room_id" = in_room AND p."left_at" >= r."locked_at"
      AND p."joined_at" IS NOT NULL AND p."end_reason" IS NULL
      AND (p."token_hash" = by_token OR p."user_id" = by_user OR p."pass_id" = by_pass)
      AND (p."pass_id" IS NULL OR p."pass_id" = by_pass OR p."user_id" = by_user))
  INTO is_locked, was_inside FROM "rooms" r WHERE r."workspace_id" = in_workspace AND r."id" = in_room;
  SELECT max(p."barred_until") INTO barred_until FROM "participants" p
  WHERE p."workspace_id" = in_workspace AND p."room_id" = in_room AND p."barred_until" > at_time
    AND (p."token_hash" = by_token OR p."user_id" = by_user OR p."pass_id" = by_pass
      OR lower(trim(p."email")) = by_address
      OR (by_user IS NULL AND by_pass IS NULL AND lower(p."name") = lower(by_name)));
  was_admitted := (by_token IS NOT NULL OR by_pass IS NOT NULL) AND EXISTS (
    SELECT FROM "participants" p
    WHERE (p."token_hash" = by_token OR p."pass_id" = by_pass)
      AND p."workspace_id" = in_workspace AND p."room_id" = in_room
      AND p."joined_at" IS NOT NULL AND p."end_reason" IS NULL AND p."left_at" > at_time - interval '1 hour'
      AND (p."user_id" IS NULL OR p."user_id" = by_user)
      AND (p."pass_id" IS NULL OR p."pass_id" = by_pass)
      AND NOT EXISTS (
        SELECT FROM "participants" c
        WHERE c."workspace_id" = in_workspace AND c."room_id" = in_room AND c."end_reason" = 'closed'
          AND c."left_at" >= p."left_at"));
END $$;
