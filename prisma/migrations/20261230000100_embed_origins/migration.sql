-- The origins whose pages may show rooms and booking pages of the workspace in a frame. None by default, as before.
ALTER TABLE "workspaces" ADD COLUMN "embed_origins" TEXT[] NOT NULL DEFAULT '{}';
ALTER TABLE "workspaces" ADD CONSTRAINT "workspaces_embed_origins_check" CHECK (cardinality("embed_origins") <= 20) NOT VALID;
ALTER TABLE "workspaces" VALIDATE CONSTRAINT "workspaces_embed_origins_check";
