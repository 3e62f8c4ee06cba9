-- The requests that carried the header Idempotency-Key, each with its answer (docs/decisions/0023-idempotency-keys.md).

CREATE TABLE "idempotency_keys" (
    "caller" TEXT NOT NULL,
    "key" TEXT NOT NULL,
    "user_id" INTEGER,
    "workspace_id" INTEGER,
    "fingerprint" BYTEA NOT NULL,
    "body_hash" BYTEA,
    "lease" TEXT NOT NULL,
    "leased_until" TIMESTAMPTZ(3) NOT NULL,
    "is_executed" BOOLEAN NOT NULL DEFAULT false,
    "answer" BYTEA,
    "roles" TEXT[],
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "idempotency_keys_pkey" PRIMARY KEY ("caller","key")
);

CREATE INDEX "idempotency_keys_user_id_idx" ON "idempotency_keys"("user_id");
CREATE INDEX "idempotency_keys_workspace_id_idx" ON "idempotency_keys"("workspace_id");
CREATE INDEX "idempotency_keys_created_at_idx" ON "idempotency_keys"("created_at");

ALTER TABLE "idempotency_keys" ADD CONSTRAINT "idempotency_keys_user_id_fkey"
  FOREIGN KEY ("user_id") REFERENCES "users"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "idempotency_keys" ADD CONSTRAINT "idempotency_keys_workspace_id_fkey"
  FOREIGN KEY ("workspace_id") REFERENCES "workspaces"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- Beyond Prisma ------------------------------------------------------------------------------------------------------

ALTER TABLE "idempotency_keys" ADD CONSTRAINT "idempotency_keys_key_check" CHECK ("key" ~ '^[!-~]{1,255}$');
ALTER TABLE "idempotency_keys" ADD CONSTRAINT "idempotency_keys_answer_check" CHECK ("is_executed" OR "answer" IS NULL);
