-- Tokens with which pages of other products show the library or the webhooks of a workspace. Running processes of the
-- release before do not know them: such a token gives 401 there.
CREATE TABLE "embed_tokens" (
    "workspace_id" INTEGER NOT NULL,
    "id" SERIAL NOT NULL,
    "kind" TEXT NOT NULL,
    "access" TEXT,
    "token_hash" BYTEA NOT NULL,
    "created_by" INTEGER NOT NULL,
    "key_id" INTEGER,
    "grant_id" INTEGER,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "embed_tokens_pkey" PRIMARY KEY ("workspace_id","id")
);

CREATE UNIQUE INDEX "embed_tokens_token_hash_key" ON "embed_tokens"("token_hash");
CREATE INDEX "embed_tokens_created_by_idx" ON "embed_tokens"("created_by");
CREATE INDEX "embed_tokens_expires_at_idx" ON "embed_tokens"("expires_at");

ALTER TABLE "embed_tokens" ADD CONSTRAINT "embed_tokens_workspace_id_fkey"
  FOREIGN KEY ("workspace_id") REFERENCES "workspaces"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "embed_tokens" ADD CONSTRAINT "embed_tokens_created_by_fkey"
  FOREIGN KEY ("created_by") REFERENCES "users"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "embed_tokens" ADD CONSTRAINT "embed_tokens_kind_check" CHECK ("kind" IN ('library', 'webhooks'));
ALTER TABLE "embed_tokens" ADD CONSTRAINT "embed_tokens_access_check"
  CHECK (CASE "kind" WHEN 'library' THEN "access" IS NOT NULL AND "access" IN ('read', 'upload') ELSE "access" IS NULL END);
ALTER TABLE "embed_tokens" ADD CONSTRAINT "embed_tokens_maker_check" CHECK (num_nonnulls("key_id", "grant_id") <= 1);
ALTER TABLE "embed_tokens" ADD CONSTRAINT "embed_tokens_expiry_check"
  CHECK ("expires_at" <= "created_at" + interval '1 day');
