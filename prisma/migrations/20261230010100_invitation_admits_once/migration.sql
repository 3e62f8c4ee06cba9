-- When an account was created with the invitation, so that one invitation does not admit several.
ALTER TABLE "invitations" ADD COLUMN "admitted_at" TIMESTAMPTZ(3);
