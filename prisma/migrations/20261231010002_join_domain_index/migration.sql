-- lynxroom: no transaction
-- Finds the workspaces that people with an address of a domain may join.
CREATE INDEX CONCURRENTLY "workspaces_join_domain_idx" ON "workspaces" ("join_domain")
  WHERE "join_domain" IS NOT NULL;
