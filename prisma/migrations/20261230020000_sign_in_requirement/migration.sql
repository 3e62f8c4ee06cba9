-- What a workspace requires of the sessions of its members. Nothing by default, as before. Only its owner is in a
-- Personal workspace, which can require nothing.
ALTER TABLE "workspaces" ADD COLUMN     "required_sign_in" TEXT,
ADD COLUMN     "required_issuer" TEXT,
ADD CONSTRAINT "workspaces_required_sign_in_check"
  CHECK ("required_sign_in" IS NULL OR "required_sign_in" IN ('second_factor', 'provider') AND NOT "is_personal")
  NOT VALID,
ADD CONSTRAINT "workspaces_required_issuer_check"
  CHECK (("required_issuer" IS NOT NULL) = ("required_sign_in" IS NOT DISTINCT FROM 'provider')) NOT VALID;

-- What a session has proven, and a connected app whose access was given in one. Sessions that processes of the previous
-- version start have proven nothing, until the person confirms who they are.
ALTER TABLE "sessions" ADD COLUMN     "second_factor_at" TIMESTAMPTZ(3),
ADD COLUMN     "openid_issuer" TEXT;
ALTER TABLE "oauth_grants" ADD COLUMN     "second_factor_at" TIMESTAMPTZ(3),
ADD COLUMN     "openid_issuer" TEXT;

UPDATE "sessions" SET "second_factor_at" = "authenticated_at" WHERE "method" IN ('totp', 'recovery_code', 'passkey');

CREATE TRIGGER "workspaces_access_changed" AFTER UPDATE OF "required_sign_in", "required_issuer" ON "workspaces"
FOR EACH ROW WHEN (
  (OLD."required_sign_in", OLD."required_issuer") IS DISTINCT FROM (NEW."required_sign_in", NEW."required_issuer"))
EXECUTE FUNCTION "notify_access"('workspace', 'id');
