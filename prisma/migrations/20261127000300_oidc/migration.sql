-- Signing in with OpenID Connect (docs/decisions/0033-openid-and-passkeys.md).

-- An account may have no password.
ALTER TABLE "users" ALTER COLUMN "password_hash" DROP NOT NULL;

CREATE TABLE "openid_identities" (
    "id" SERIAL NOT NULL,
    "user_id" INTEGER NOT NULL,
    "issuer" TEXT NOT NULL,
    "subject" TEXT NOT NULL,
    "email" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "last_used_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "openid_identities_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "openid_requests" (
    "state_hash" BYTEA NOT NULL,
    "browser_hash" BYTEA NOT NULL,
    "purpose" TEXT NOT NULL,
    "session_id" INTEGER,
    "provider" TEXT NOT NULL,
    "issuer" TEXT NOT NULL,
    "nonce" TEXT NOT NULL,
    "code_verifier" TEXT NOT NULL,
    "redirect_uri" TEXT NOT NULL,
    "return_to" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "openid_requests_pkey" PRIMARY KEY ("state_hash")
);

CREATE INDEX "openid_identities_user_id_idx" ON "openid_identities"("user_id");
CREATE UNIQUE INDEX "openid_identities_issuer_subject_key" ON "openid_identities"("issuer", "subject");
CREATE INDEX "openid_requests_session_id_idx" ON "openid_requests"("session_id");
CREATE INDEX "openid_requests_expires_at_idx" ON "openid_requests"("expires_at");
ALTER TABLE "openid_identities" ADD CONSTRAINT "openid_identities_user_id_fkey"
  FOREIGN KEY ("user_id") REFERENCES "users"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "openid_requests" ADD CONSTRAINT "openid_requests_session_id_fkey"
  FOREIGN KEY ("session_id") REFERENCES "sessions"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- Beyond Prisma ------------------------------------------------------------------------------------------------------

ALTER TABLE "openid_requests" ADD CONSTRAINT "openid_requests_purpose_check"
  CHECK ("purpose" IN ('sign_in', 'link', 'reauthenticate'));
ALTER TABLE "openid_requests" ADD CONSTRAINT "openid_requests_session_check"
  CHECK (("purpose" = 'sign_in') = ("session_id" IS NULL));
