-- The LiveKit that carries the media of a workspace: the origin of its server, without a path.
ALTER TABLE "meeting_connections" ADD COLUMN "media_origin" TEXT;
ALTER TABLE "meeting_connections" ADD CONSTRAINT "meeting_connections_media_origin_check"
  CHECK ("media_origin" IS NULL OR ("provider" = 'livekit' AND "media_origin" ~ '^https?://[^/?#@]+$'));
-- One media server a workspace, so that everybody in a room is on the same one.
CREATE UNIQUE INDEX "meeting_connections_media" ON "meeting_connections" ("workspace_id")
  WHERE "media_origin" IS NOT NULL;
