-- What the LiveKit server of a workspace still has to be told about a room.
CREATE TABLE "livekit_requests" (
    "workspace_id" INTEGER NOT NULL,
    "room_name" TEXT NOT NULL,
    "kind" TEXT NOT NULL,
    "muted_by" INTEGER,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "until" TIMESTAMPTZ(3) NOT NULL,
    "attempts" INTEGER NOT NULL DEFAULT 0,
    "next_attempt_at" TIMESTAMPTZ(3) NOT NULL,
    "leased_until" TIMESTAMPTZ(3),

    CONSTRAINT "livekit_requests_pkey" PRIMARY KEY ("workspace_id","room_name","kind")
);
CREATE INDEX "livekit_requests_next_attempt_at_idx" ON "livekit_requests"("next_attempt_at");
ALTER TABLE "livekit_requests" ADD CONSTRAINT "livekit_requests_workspace_id_fkey"
  FOREIGN KEY ("workspace_id") REFERENCES "workspaces"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "livekit_requests" ADD CONSTRAINT "livekit_requests_kind_check"
  CHECK ("kind" IN ('reconcile', 'close', 'mute'));
