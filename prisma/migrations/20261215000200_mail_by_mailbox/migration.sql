-- Mail is limited by mailbox, not by address: many addresses can belong to one. Only the mail of the last hour counts,
-- so the mailbox of earlier messages is simply their address.

ALTER TABLE "mail_messages" ADD COLUMN "mailbox" TEXT NOT NULL DEFAULT '';

UPDATE "mail_messages" SET "mailbox" = "to_address";

CREATE INDEX "mail_messages_mailbox_kind_created_at_idx" ON "mail_messages"("mailbox", "kind", "created_at");

-- Counts the messages of a kind for a mailbox. Transactions that count the same messages wait for each other until they
-- end, and each statement of a volatile function sees what was committed before it began: concurrent calls cannot
-- exceed a limit together.
CREATE FUNCTION "count_mail"("of_mailbox" TEXT, "of_kind" TEXT, "since" TIMESTAMPTZ) RETURNS BIGINT
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  PERFORM pg_advisory_xact_lock(hashtextextended('mail ' || of_kind || ' ' || of_mailbox, 0));
  RETURN (
    SELECT count(*) FROM mail_messages m
    WHERE m.mailbox = of_mailbox AND m.kind = of_kind AND m.created_at > since);
END
$$;
