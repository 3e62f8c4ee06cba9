-- When an operator locked the account; null for an account that can sign in.
ALTER TABLE "users" ADD COLUMN "locked_at" TIMESTAMPTZ(3);
