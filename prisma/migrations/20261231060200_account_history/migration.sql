-- Whether an account has ever existed. A trigger adds the one row in the transaction that creates the first account, so
-- that one that failed leaves nothing behind; the row stays when the last account is deleted.
CREATE TABLE "account_history" (
    "is_only" BOOLEAN NOT NULL DEFAULT true,

    CONSTRAINT "account_history_pkey" PRIMARY KEY ("is_only"),
    CONSTRAINT "account_history_is_only_check" CHECK ("is_only")
);

CREATE FUNCTION "remember_accounts"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO "account_history" DEFAULT VALUES ON CONFLICT DO NOTHING;
  RETURN NULL;
END $$;
CREATE TRIGGER "users_remembered" AFTER INSERT ON "users"
FOR EACH STATEMENT EXECUTE FUNCTION "remember_accounts"();

-- Of accounts that were deleted before, only the sequence knows.
INSERT INTO "account_history" ("is_only")
SELECT true WHERE EXISTS (SELECT FROM "users") OR (SELECT "is_called" FROM "users_id_seq");
