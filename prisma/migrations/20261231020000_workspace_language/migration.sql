-- The language of pages and mail to guests who have not said theirs. Null for English, as before.
ALTER TABLE "workspaces" ADD COLUMN "language" TEXT;
ALTER TABLE "workspaces" ADD CONSTRAINT "workspaces_language_check" CHECK ("language" ~ '^[a-z]{2}$') NOT VALID;
ALTER TABLE "workspaces" VALIDATE CONSTRAINT "workspaces_language_check";
