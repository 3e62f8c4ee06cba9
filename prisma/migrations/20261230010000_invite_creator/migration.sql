-- Who created the invite link, so that the page of the link can name the person. Unknown for links that exist.
ALTER TABLE "workspaces" ADD COLUMN "invite_created_by" INTEGER;
ALTER TABLE "workspaces" ADD CONSTRAINT "workspaces_invite_created_by_fkey" FOREIGN KEY ("invite_created_by") REFERENCES "users"("id") ON DELETE SET NULL ON UPDATE CASCADE NOT VALID;
ALTER TABLE "workspaces" VALIDATE CONSTRAINT "workspaces_invite_created_by_fkey";
