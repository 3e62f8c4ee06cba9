-- lynxroom: no transaction
-- Finds the links that an account has created, when it is deleted.
CREATE INDEX CONCURRENTLY "workspaces_invite_created_by_idx" ON "workspaces" ("invite_created_by")
  WHERE "invite_created_by" IS NOT NULL;
