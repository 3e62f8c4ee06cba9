-- A token for the library may show the items with one label alone. It ends with the label. What is uploaded with it gets
-- the label, also if another request completes the upload, or the label is deleted before that: so no foreign key there.
ALTER TABLE "embed_tokens" ADD COLUMN "label_id" INTEGER;
ALTER TABLE "embed_tokens" ADD CONSTRAINT "embed_tokens_label_check" CHECK ("label_id" IS NULL OR "kind" = 'library');
CREATE INDEX "embed_tokens_workspace_id_label_id_idx" ON "embed_tokens"("workspace_id", "label_id");
ALTER TABLE "embed_tokens" ADD CONSTRAINT "embed_tokens_workspace_id_label_id_fkey"
  FOREIGN KEY ("workspace_id", "label_id") REFERENCES "labels"("workspace_id", "id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "uploads" ADD COLUMN "label_id" INTEGER;
