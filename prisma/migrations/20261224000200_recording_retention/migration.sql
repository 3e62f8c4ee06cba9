-- Old recordings are deleted like old library items, by a policy of their own.
ALTER TABLE "workspaces" ADD COLUMN "recording_retention_days" INTEGER;
ALTER TABLE "workspaces" ADD CONSTRAINT "workspaces_recording_retention_days_check"
  CHECK ("recording_retention_days" IN (7, 30, 60, 90, 180, 365)) NOT VALID;
ALTER TABLE "workspaces" VALIDATE CONSTRAINT "workspaces_recording_retention_days_check";
