ALTER TABLE "account_tokens" VALIDATE CONSTRAINT "account_tokens_purpose_check";
ALTER TABLE "sessions" VALIDATE CONSTRAINT "sessions_method_check";
