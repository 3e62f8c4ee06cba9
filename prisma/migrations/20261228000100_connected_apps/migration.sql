-- Apps that people connect with OAuth: the programs that have registered, what a person has allowed, and the tokens.
CREATE TABLE "oauth_clients" (
    "id" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "redirect_uris" TEXT[],
    "network" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "last_used_at" TIMESTAMPTZ(3),

    CONSTRAINT "oauth_clients_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "oauth_grants" (
    "id" SERIAL NOT NULL,
    "workspace_id" INTEGER NOT NULL,
    "user_id" INTEGER NOT NULL,
    "client_id" TEXT NOT NULL,
    "scopes" TEXT[],
    "resource" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "last_used_at" TIMESTAMPTZ(3),
    "last_used_address" TEXT,
    "code_hash" BYTEA NOT NULL,
    "code_challenge" TEXT NOT NULL,
    "redirect_uri" TEXT NOT NULL,
    "code_expires_at" TIMESTAMPTZ(3) NOT NULL,
    "code_used_at" TIMESTAMPTZ(3),

    CONSTRAINT "oauth_grants_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "oauth_tokens" (
    "refresh_hash" BYTEA NOT NULL,
    "access_hash" BYTEA NOT NULL,
    "grant_id" INTEGER NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "refreshed_at" TIMESTAMPTZ(3),

    CONSTRAINT "oauth_tokens_pkey" PRIMARY KEY ("refresh_hash")
);

CREATE INDEX "oauth_clients_network_idx" ON "oauth_clients"("network");

CREATE INDEX "oauth_clients_created_at_idx" ON "oauth_clients"("created_at");

CREATE UNIQUE INDEX "oauth_grants_code_hash_key" ON "oauth_grants"("code_hash");

CREATE INDEX "oauth_grants_workspace_id_user_id_idx" ON "oauth_grants"("workspace_id", "user_id");

CREATE INDEX "oauth_grants_user_id_idx" ON "oauth_grants"("user_id");

CREATE INDEX "oauth_grants_client_id_idx" ON "oauth_grants"("client_id");

CREATE INDEX "oauth_grants_expires_at_idx" ON "oauth_grants"("expires_at");

CREATE UNIQUE INDEX "oauth_tokens_access_hash_key" ON "oauth_tokens"("access_hash");

CREATE INDEX "oauth_tokens_grant_id_idx" ON "oauth_tokens"("grant_id");

ALTER TABLE "oauth_grants" ADD CONSTRAINT "oauth_grants_workspace_id_user_id_fkey" FOREIGN KEY ("workspace_id", "user_id") REFERENCES "members"("workspace_id", "user_id") ON DELETE CASCADE ON UPDATE CASCADE;

ALTER TABLE "oauth_grants" ADD CONSTRAINT "oauth_grants_client_id_fkey" FOREIGN KEY ("client_id") REFERENCES "oauth_clients"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

ALTER TABLE "oauth_tokens" ADD CONSTRAINT "oauth_tokens_grant_id_fkey" FOREIGN KEY ("grant_id") REFERENCES "oauth_grants"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- An app without scopes could do everything that its person can.
ALTER TABLE "oauth_grants" ADD CONSTRAINT "oauth_grants_scopes_check"
  CHECK ("scopes" IS NOT NULL AND cardinality("scopes") > 0);
ALTER TABLE "oauth_clients" ADD CONSTRAINT "oauth_clients_redirect_uris_check"
  CHECK ("redirect_uris" IS NOT NULL AND cardinality("redirect_uris") > 0);
