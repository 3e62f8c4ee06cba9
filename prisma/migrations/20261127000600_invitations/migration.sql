-- Invitations by mail (docs/decisions/0037-invitations.md).

-- CreateTable
CREATE TABLE "invitations" (
    "workspace_id" INTEGER NOT NULL,
    "id" SERIAL NOT NULL,
    "email" TEXT NOT NULL,
    "role" TEXT NOT NULL,
    "state" TEXT NOT NULL DEFAULT 'pending',
    "token_hash" BYTEA,
    "invited_by" INTEGER,
    "accepted_by" INTEGER,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "sent_at" TIMESTAMPTZ(3) NOT NULL,
    "sends" INTEGER NOT NULL DEFAULT 1,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "ended_at" TIMESTAMPTZ(3),

    CONSTRAINT "invitations_pkey" PRIMARY KEY ("workspace_id","id")
);

-- CreateIndex
CREATE UNIQUE INDEX "invitations_token_hash_key" ON "invitations"("token_hash");

-- CreateIndex
CREATE INDEX "invitations_workspace_id_created_at_id_idx" ON "invitations"("workspace_id", "created_at", "id");

-- CreateIndex
CREATE INDEX "invitations_workspace_id_sent_at_idx" ON "invitations"("workspace_id", "sent_at");

-- CreateIndex
CREATE INDEX "invitations_invited_by_sent_at_idx" ON "invitations"("invited_by", "sent_at");

-- CreateIndex
CREATE INDEX "invitations_accepted_by_idx" ON "invitations"("accepted_by");

-- CreateIndex
CREATE INDEX "invitations_expires_at_idx" ON "invitations"("expires_at");

-- AddForeignKey
ALTER TABLE "invitations" ADD CONSTRAINT "invitations_workspace_id_fkey" FOREIGN KEY ("workspace_id") REFERENCES "workspaces"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "invitations" ADD CONSTRAINT "invitations_invited_by_fkey" FOREIGN KEY ("invited_by") REFERENCES "users"("id") ON DELETE SET NULL ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "invitations" ADD CONSTRAINT "invitations_accepted_by_fkey" FOREIGN KEY ("accepted_by") REFERENCES "users"("id") ON DELETE SET NULL ON UPDATE CASCADE;

-- Beyond Prisma --------------------------------------------------------------------------------------------------------

ALTER TABLE "invitations" ADD CONSTRAINT "invitations_role_check" CHECK (role IN ('admin', 'member'));

ALTER TABLE "invitations" ADD CONSTRAINT "invitations_state_check"
  CHECK (state IN ('pending', 'accepted', 'revoked') AND (ended_at IS NULL) = (state = 'pending'));

-- A link works while the invitation is pending, and never afterwards.
ALTER TABLE "invitations" ADD CONSTRAINT "invitations_token_check" CHECK ((token_hash IS NULL) = (state <> 'pending'));

CREATE UNIQUE INDEX "invitations_pending" ON "invitations" ("workspace_id", "email") WHERE state = 'pending';
