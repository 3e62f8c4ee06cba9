-- People whose confirmed address is in this domain may join. Off by default, as before. Never for a Personal workspace.
ALTER TABLE "workspaces" ADD COLUMN     "join_domain" TEXT,
ADD CONSTRAINT "workspaces_join_domain_check"
  CHECK ("join_domain" IS NULL OR "join_domain" <> '' AND NOT "is_personal") NOT VALID;

-- Whom another member has removed: they cannot come back by the domain of their address.
CREATE TABLE "removed_members" (
    "workspace_id" INTEGER NOT NULL,
    "user_id" INTEGER NOT NULL,
    "removed_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "removed_members_pkey" PRIMARY KEY ("workspace_id","user_id")
);

CREATE INDEX "removed_members_user_id_idx" ON "removed_members"("user_id");

ALTER TABLE "removed_members" ADD CONSTRAINT "removed_members_workspace_id_fkey"
  FOREIGN KEY ("workspace_id") REFERENCES "workspaces"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "removed_members" ADD CONSTRAINT "removed_members_user_id_fkey"
  FOREIGN KEY ("user_id") REFERENCES "users"("id") ON DELETE CASCADE ON UPDATE CASCADE;
