-- People whom a program lets into a room, with an id of its own, and their visits. Running processes of the release
-- before know nothing of the new columns: for them, such a visit is one of a guest.
CREATE TABLE "room_passes" (
    "workspace_id" INTEGER NOT NULL,
    "id" SERIAL NOT NULL,
    "room_id" INTEGER NOT NULL,
    "name" TEXT NOT NULL,
    "email" TEXT,
    "external_id" TEXT,
    "is_host" BOOLEAN NOT NULL DEFAULT false,
    "is_admitted" BOOLEAN NOT NULL DEFAULT false,
    "may_record" BOOLEAN,
    "metadata" JSONB,
    "link_hash" BYTEA,
    "created_by" INTEGER,
    "key_id" INTEGER,
    "grant_id" INTEGER,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "room_passes_pkey" PRIMARY KEY ("workspace_id","id")
);

CREATE UNIQUE INDEX "room_passes_link_hash_key" ON "room_passes"("link_hash");
CREATE UNIQUE INDEX "room_passes_workspace_id_room_id_external_id_key"
  ON "room_passes"("workspace_id", "room_id", "external_id");
CREATE INDEX "room_passes_created_by_idx" ON "room_passes"("created_by");
CREATE INDEX "room_passes_expires_at_idx" ON "room_passes"("expires_at");

ALTER TABLE "room_passes" ADD CONSTRAINT "room_passes_workspace_id_room_id_fkey"
  FOREIGN KEY ("workspace_id", "room_id") REFERENCES "rooms"("workspace_id", "id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "room_passes" ADD CONSTRAINT "room_passes_created_by_fkey"
  FOREIGN KEY ("created_by") REFERENCES "users"("id") ON DELETE SET NULL ON UPDATE CASCADE;
ALTER TABLE "room_passes" ADD CONSTRAINT "room_passes_metadata_check"
  CHECK (jsonb_typeof("metadata") = 'object');
ALTER TABLE "room_passes" ADD CONSTRAINT "room_passes_maker_check" CHECK (num_nonnulls("key_id", "grant_id") <= 1);

ALTER TABLE "participants" ADD COLUMN "pass_id" INTEGER, ADD COLUMN "external_id" TEXT, ADD COLUMN "metadata" JSONB;

-- Whether a pass makes its holder a host at this time: its maker is owner or admin now, and the key or the app with
-- which it was made still works. A key of the workspace needs no person. Without a time, no expiry counts.
CREATE FUNCTION "is_pass_host"(in_workspace integer, in_pass integer, at_time timestamptz) RETURNS boolean
LANGUAGE sql STABLE AS $$
  SELECT EXISTS (
    SELECT FROM "room_passes" h
    LEFT JOIN "users" u ON u."id" = h."created_by" AND u."locked_at" IS NULL
    LEFT JOIN "members" m ON m."workspace_id" = h."workspace_id" AND m."user_id" = u."id"
      AND m."role" IN ('owner', 'admin')
    LEFT JOIN "api_keys" k ON k."workspace_id" = h."workspace_id" AND k."id" = h."key_id" AND k."is_active"
      AND (at_time IS NULL OR k."expires_at" IS NULL OR k."expires_at" > at_time)
    WHERE h."workspace_id" = in_workspace AND h."id" = in_pass AND h."is_host"
      AND (at_time IS NULL OR h."expires_at" > at_time)
      AND (m."role" IS NOT NULL OR coalesce(k."is_of_workspace", false))
      AND (h."key_id" IS NULL OR k."id" IS NOT NULL)
      AND (h."grant_id" IS NULL OR EXISTS (SELECT FROM "oauth_grants" g WHERE g."id" = h."grant_id")))
$$;

-- As the function of the same name without `by_pass`, which running processes of the release before call. The holder of
-- a pass is recognized by it, with another token too, and never by a name.
CREATE FUNCTION "check_room_entry"(
  in_workspace integer, in_room integer, by_user integer, by_address text, by_name text, by_token bytea,
  by_pass integer, at_time timestamptz, OUT is_locked boolean, OUT was_inside boolean, OUT barred_until timestamptz,
  OUT was_admitted boolean
) LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  SELECT r."locked_at" IS NOT NULL, r."locked_at" IS NOT NULL AND EXISTS (
    SELECT FROM "participants" p
    WHERE p."workspace_id" = in_workspace AND p."room_id" = in_room AND p."left_at" >= r."locked_at"
      AND p."joined_at" IS NOT NULL AND p."end_reason" IS NULL
      AND (p."token_hash" = by_token OR p."user_id" = by_user OR p."pass_id" = by_pass))
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
      AND NOT EXISTS (
        SELECT FROM "participants" c
        WHERE c."workspace_id" = in_workspace AND c."room_id" = in_room AND c."end_reason" = 'closed'
          AND c."left_at" >= p."left_at"));
END $$;
