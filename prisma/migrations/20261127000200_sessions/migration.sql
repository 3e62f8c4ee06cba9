-- How and from where a session was started, when it was last used, and when its user last proved who they are. Servers
-- of the previous version, which may still run during an update, leave the new columns to their defaults.
ALTER TABLE "sessions" ADD COLUMN     "address" TEXT,
ADD COLUMN     "authenticated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
ADD COLUMN     "last_used_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
ADD COLUMN     "method" TEXT NOT NULL DEFAULT 'password',
ADD COLUMN     "user_agent" TEXT;

ALTER TABLE "sessions" ADD CONSTRAINT "sessions_method_check"
  CHECK ("method" IN ('password', 'totp', 'recovery_code', 'passkey', 'oidc', 'registration'));

-- The update itself is no sign-in. When existing sessions were last used is not known, so for them it is now.
UPDATE "sessions" SET "authenticated_at" = "created_at";
