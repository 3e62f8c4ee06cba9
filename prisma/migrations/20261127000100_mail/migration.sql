-- AlterTable
ALTER TABLE "users" ADD COLUMN     "email_verified_at" TIMESTAMPTZ(3);

-- CreateTable
CREATE TABLE "account_tokens" (
    "token_hash" BYTEA NOT NULL,
    "purpose" TEXT NOT NULL,
    "user_id" INTEGER,
    "address" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "account_tokens_pkey" PRIMARY KEY ("token_hash")
);

-- CreateTable
CREATE TABLE "mail_messages" (
    "id" SERIAL NOT NULL,
    "message_id" TEXT NOT NULL,
    "kind" TEXT NOT NULL,
    "to_address" TEXT NOT NULL,
    "data" BYTEA,
    "needs_account" BOOLEAN NOT NULL,
    "dedupe_key" TEXT,
    "state" TEXT NOT NULL DEFAULT 'queued',
    "attempts" INTEGER NOT NULL DEFAULT 0,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "due_at" TIMESTAMPTZ(3) NOT NULL,
    "expires_at" TIMESTAMPTZ(3),
    "ended_at" TIMESTAMPTZ(3),
    "last_error" TEXT,

    CONSTRAINT "mail_messages_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "account_tokens_user_id_idx" ON "account_tokens"("user_id");

-- CreateIndex
CREATE INDEX "account_tokens_address_idx" ON "account_tokens"("address");

-- CreateIndex
CREATE INDEX "account_tokens_expires_at_idx" ON "account_tokens"("expires_at");

-- CreateIndex
CREATE UNIQUE INDEX "mail_messages_message_id_key" ON "mail_messages"("message_id");

-- CreateIndex
CREATE UNIQUE INDEX "mail_messages_dedupe_key_key" ON "mail_messages"("dedupe_key");

-- CreateIndex
CREATE INDEX "mail_messages_to_address_kind_created_at_idx" ON "mail_messages"("to_address", "kind", "created_at");

-- CreateIndex
CREATE INDEX "mail_messages_ended_at_idx" ON "mail_messages"("ended_at");

-- AddForeignKey
ALTER TABLE "account_tokens" ADD CONSTRAINT "account_tokens_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- Beyond Prisma --------------------------------------------------------------------------------------------------------

ALTER TABLE "account_tokens" ADD CONSTRAINT "account_tokens_purpose_check"
  CHECK (purpose IN ('verify_email', 'change_email', 'reset_password'));

-- A link to reset a password belongs to an address, whether or not an account has it. The others belong to a user.
ALTER TABLE "account_tokens" ADD CONSTRAINT "account_tokens_user_check"
  CHECK ((user_id IS NULL) = (purpose = 'reset_password'));

ALTER TABLE "mail_messages" ADD CONSTRAINT "mail_messages_state_check"
  CHECK (state IN ('queued', 'sent', 'kept', 'failed', 'dropped') AND (ended_at IS NULL) = (state = 'queued'));

-- The links of a message can be read as long as it waits, and afterwards only if it was kept for reading.
ALTER TABLE "mail_messages" ADD CONSTRAINT "mail_messages_data_check"
  CHECK ((data IS NOT NULL) = (state IN ('queued', 'kept')));

CREATE INDEX "mail_messages_queue_idx" ON "mail_messages" ("due_at", "id") WHERE state = 'queued';
