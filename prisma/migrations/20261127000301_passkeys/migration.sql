-- Signing in with passkeys (docs/decisions/0033-openid-and-passkeys.md).

ALTER TABLE "users" ADD COLUMN "passkey_handle" BYTEA;

CREATE TABLE "passkeys" (
    "id" SERIAL NOT NULL,
    "user_id" INTEGER NOT NULL,
    "name" TEXT NOT NULL,
    "credential_id" TEXT NOT NULL,
    "public_key" BYTEA NOT NULL,
    "counter" BIGINT NOT NULL,
    "transports" TEXT[],
    "is_backed_up" BOOLEAN NOT NULL,
    "aaguid" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "last_used_at" TIMESTAMPTZ(3),

    CONSTRAINT "passkeys_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "passkey_challenges" (
    "challenge_hash" BYTEA NOT NULL,
    "purpose" TEXT NOT NULL,
    "session_id" INTEGER,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "passkey_challenges_pkey" PRIMARY KEY ("challenge_hash")
);

CREATE UNIQUE INDEX "passkeys_credential_id_key" ON "passkeys"("credential_id");
CREATE INDEX "passkeys_user_id_idx" ON "passkeys"("user_id");
CREATE INDEX "passkey_challenges_session_id_idx" ON "passkey_challenges"("session_id");
CREATE INDEX "passkey_challenges_expires_at_idx" ON "passkey_challenges"("expires_at");
ALTER TABLE "passkeys" ADD CONSTRAINT "passkeys_user_id_fkey"
  FOREIGN KEY ("user_id") REFERENCES "users"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "passkey_challenges" ADD CONSTRAINT "passkey_challenges_session_id_fkey"
  FOREIGN KEY ("session_id") REFERENCES "sessions"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- Beyond Prisma ------------------------------------------------------------------------------------------------------

ALTER TABLE "passkeys" ADD CONSTRAINT "passkeys_counter_check" CHECK ("counter" >= 0);
ALTER TABLE "passkey_challenges" ADD CONSTRAINT "passkey_challenges_purpose_check"
  CHECK ("purpose" IN ('register', 'sign_in', 'reauthenticate'));
ALTER TABLE "passkey_challenges" ADD CONSTRAINT "passkey_challenges_session_check"
  CHECK (("purpose" = 'sign_in') = ("session_id" IS NULL));
