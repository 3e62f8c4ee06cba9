ALTER TABLE "workspaces" VALIDATE CONSTRAINT "workspaces_required_sign_in_check";
ALTER TABLE "workspaces" VALIDATE CONSTRAINT "workspaces_required_issuer_check";
