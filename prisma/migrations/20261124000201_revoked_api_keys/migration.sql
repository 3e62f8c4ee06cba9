-- A key that is revoked never works again. It is revoked when its creator leaves the workspace, and when they change
-- their password and ask for it.

-- AlterTable
ALTER TABLE "api_keys" ADD COLUMN     "revoked_at" TIMESTAMPTZ(3);

-- Keys whose creator has left before.
UPDATE "api_keys" k SET "is_active" = false, "revoked_at" = now() WHERE NOT EXISTS (
    SELECT FROM "members" m WHERE m."workspace_id" = k."workspace_id" AND m."user_id" = k."created_by"
);

ALTER TABLE "api_keys" ADD CONSTRAINT "api_keys_revoked_inactive" CHECK ("revoked_at" IS NULL OR NOT "is_active");
