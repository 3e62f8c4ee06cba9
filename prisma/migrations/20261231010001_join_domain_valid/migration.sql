ALTER TABLE "workspaces" VALIDATE CONSTRAINT "workspaces_join_domain_check";
