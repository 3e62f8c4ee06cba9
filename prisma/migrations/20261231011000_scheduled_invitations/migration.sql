-- When the mail of an invitation is due, if the limit of a day delays it. Processes of the release before send at once, or
-- refuse.
ALTER TABLE "invitations" ADD COLUMN     "scheduled_at" TIMESTAMPTZ(3);
