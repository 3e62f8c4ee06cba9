-- The server is told to stop also if the workspace is deleted, or the account that owns it: that deletes the recording,
-- which makes the row due.
ALTER TABLE "livekit_egresses" DROP CONSTRAINT "livekit_egresses_workspace_id_fkey";
