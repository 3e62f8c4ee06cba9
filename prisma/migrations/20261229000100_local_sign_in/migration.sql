-- A link of the machine that runs the service signs in to the demo account: another purpose of a link, and another way
-- to sign in. The rows that exist have one of the other values, so the next migration checks them without a lock that
-- anybody waits for.
ALTER TABLE "account_tokens" DROP CONSTRAINT "account_tokens_purpose_check";
ALTER TABLE "account_tokens" ADD CONSTRAINT "account_tokens_purpose_check"
  CHECK ("purpose" IN ('verify_email', 'change_email', 'reset_password', 'local_sign_in')) NOT VALID;
ALTER TABLE "sessions" DROP CONSTRAINT "sessions_method_check";
ALTER TABLE "sessions" ADD CONSTRAINT "sessions_method_check"
  CHECK ("method" IN ('password', 'totp', 'recovery_code', 'passkey', 'oidc', 'registration', 'local_link')) NOT VALID;
