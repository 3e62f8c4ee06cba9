-- The bytes of an upload in progress are removed when its row is deleted with a recording, a room or a workspace, as
-- the objects of rows are. `stored` is what the store has of an object that is not complete.
ALTER TABLE "discarded_objects" ADD COLUMN     "stored" JSONB;

-- Beyond Prisma: what is finished so far belongs to the recording, whose own triggers discard it ----------------------

CREATE FUNCTION "discard_partial_object"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO "discarded_objects" ("key", "stored") VALUES (OLD."file_key", OLD."stored") ON CONFLICT DO NOTHING;
  RETURN NULL;
END $$;

CREATE TRIGGER "uploads_partial_removed" AFTER DELETE ON "uploads"
  FOR EACH ROW WHEN (OLD."result" IS NULL AND OLD."stored" IS NOT NULL
    AND OLD."finished_key" IS DISTINCT FROM OLD."file_key")
  EXECUTE FUNCTION "discard_partial_object"();
