-- The pages of a meeting also learn of a recording that fails after it has ended, and of one that did not fail after all.
DROP TRIGGER "recordings_meeting_ended" ON "recordings";
CREATE TRIGGER "recordings_meeting_ended" AFTER UPDATE ON "recordings"
  FOR EACH ROW
  WHEN ((OLD."status" = 'failed') <> (NEW."status" = 'failed')
    OR (OLD."status" = 'started' AND OLD."ended_at" IS NULL
      AND (NEW."status" <> 'started' OR NEW."ended_at" IS NOT NULL)))
  EXECUTE FUNCTION "notify_meeting_recording"();
