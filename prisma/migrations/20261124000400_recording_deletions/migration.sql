-- CreateTable
CREATE TABLE "recording_deletions" (
    "workspace_id" INTEGER NOT NULL,
    "archive_id" TEXT NOT NULL,
    "room_name" TEXT NOT NULL,
    "deleted_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "recording_deletions_pkey" PRIMARY KEY ("workspace_id","archive_id","room_name")
);

-- CreateIndex
CREATE INDEX "recording_deletions_deleted_at_idx" ON "recording_deletions"("deleted_at");

-- CreateIndex
CREATE INDEX "recordings_workspace_id_archive_id_idx" ON "recordings"("workspace_id", "archive_id");

-- AddForeignKey
ALTER TABLE "recording_deletions" ADD CONSTRAINT "recording_deletions_workspace_id_fkey" FOREIGN KEY ("workspace_id") REFERENCES "workspaces"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- Beyond Prisma: every deletion is remembered, whichever statement deletes the recording -------------------------------

CREATE FUNCTION remember_deleted_recordings() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  -- The rows of a room that is being deleted find no room here: the trigger on rooms has remembered them.
  INSERT INTO recording_deletions (workspace_id, archive_id, room_name, deleted_at)
  SELECT d.workspace_id, d.archive_id, r.name, now()
  FROM deleted d JOIN rooms r ON r.workspace_id = d.workspace_id AND r.id = d.room_id
  ON CONFLICT (workspace_id, archive_id, room_name) DO UPDATE SET deleted_at = excluded.deleted_at;
  RETURN NULL;
END $$;

CREATE TRIGGER recordings_remember_deleted AFTER DELETE ON "recordings" REFERENCING OLD TABLE AS deleted
  FOR EACH STATEMENT EXECUTE FUNCTION remember_deleted_recordings();

CREATE FUNCTION remember_recordings_of_deleted_room() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  -- A workspace that is being deleted leaves nothing behind.
  INSERT INTO recording_deletions (workspace_id, archive_id, room_name, deleted_at)
  SELECT c.workspace_id, c.archive_id, OLD.name, now()
  FROM recordings c JOIN workspaces w ON w.id = c.workspace_id
  WHERE c.workspace_id = OLD.workspace_id AND c.room_id = OLD.id
  ON CONFLICT (workspace_id, archive_id, room_name) DO UPDATE SET deleted_at = excluded.deleted_at;
  RETURN OLD;
END $$;

CREATE TRIGGER rooms_remember_deleted_recordings BEFORE DELETE ON "rooms"
  FOR EACH ROW EXECUTE FUNCTION remember_recordings_of_deleted_room();
