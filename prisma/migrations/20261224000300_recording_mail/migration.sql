-- Each person decides whether they get mail about finished recordings.
ALTER TABLE "users" ADD COLUMN "recording_mail" BOOLEAN NOT NULL DEFAULT true;
