-- A participant has several connections at a meeting provider, and leaves when the last one ends.

-- AlterTable
ALTER TABLE "participants" ADD COLUMN     "first_visit_id" INTEGER;

-- CreateTable
CREATE TABLE "participant_connections" (
    "workspace_id" INTEGER NOT NULL,
    "id" SERIAL NOT NULL,
    "participant_id" INTEGER NOT NULL,
    "connection_id" INTEGER NOT NULL,
    "meeting" TEXT NOT NULL,
    "reference" TEXT NOT NULL,
    "joined_at" TIMESTAMPTZ(3) NOT NULL,
    "left_at" TIMESTAMPTZ(3),

    CONSTRAINT "participant_connections_pkey" PRIMARY KEY ("workspace_id","id")
);

-- CreateIndex
CREATE INDEX "participant_connections_workspace_id_participant_id_idx" ON "participant_connections"("workspace_id", "participant_id");

-- CreateIndex
CREATE UNIQUE INDEX "participant_connections_workspace_id_connection_id_meeting__key" ON "participant_connections"("workspace_id", "connection_id", "meeting", "reference");

-- AddForeignKey
ALTER TABLE "participant_connections" ADD CONSTRAINT "participant_connections_workspace_id_participant_id_fkey" FOREIGN KEY ("workspace_id", "participant_id") REFERENCES "participants"("workspace_id", "id") ON DELETE CASCADE ON UPDATE CASCADE;


-- Beyond Prisma: the later visits of a person, who has few --------------------------------------------------------------

CREATE INDEX "participants_later_visits" ON "participants" ("workspace_id", "first_visit_id")
  WHERE "first_visit_id" IS NOT NULL;

-- Beyond Prisma: the connections that are known, and those that running processes of release 0.2 still add --------------

INSERT INTO "participant_connections"
  ("workspace_id", "participant_id", "connection_id", "meeting", "reference", "joined_at", "left_at")
SELECT "workspace_id", "id", "connection_id", "meeting", "participant_reference", coalesce("joined_at", "created_at"),
  "left_at"
FROM "participants" WHERE "connection_id" IS NOT NULL ORDER BY "workspace_id", "id";

CREATE FUNCTION "add_first_connection"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO "participant_connections"
    ("workspace_id", "participant_id", "connection_id", "meeting", "reference", "joined_at", "left_at")
  VALUES (NEW."workspace_id", NEW."id", NEW."connection_id", NEW."meeting", NEW."participant_reference",
    coalesce(NEW."joined_at", NEW."created_at"), NEW."left_at")
  ON CONFLICT DO NOTHING;
  RETURN NULL;
END $$;

CREATE TRIGGER "participants_first_connection" AFTER INSERT OR UPDATE OF "participant_reference" ON "participants"
  FOR EACH ROW WHEN (NEW."participant_reference" IS NOT NULL) EXECUTE FUNCTION "add_first_connection"();
