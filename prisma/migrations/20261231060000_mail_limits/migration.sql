-- The limits of mail are counted from the messages, which stay for them when a workspace is deleted or a person is erased.
ALTER TABLE "mail_messages" ADD COLUMN "sender_id" INTEGER;
CREATE INDEX "mail_messages_sender_id_idx" ON "mail_messages"("sender_id") WHERE "sender_id" IS NOT NULL;
CREATE INDEX "mail_messages_invitations_idx" ON "mail_messages"("workspace_id") WHERE "kind" = 'workspace-invitation';

-- What stands in place of the mailbox of an erased message.
CREATE FUNCTION "erased_mailbox"("of_mailbox" TEXT) RETURNS TEXT
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT 'sha256:' || encode(sha256(convert_to(of_mailbox, 'UTF8')), 'hex')
$$;

CREATE OR REPLACE FUNCTION "count_mail"("of_mailbox" TEXT, "of_kind" TEXT, "since" TIMESTAMPTZ) RETURNS BIGINT
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_advisory_xact_lock(hashtext('count_mail'), hashtext(of_kind || ' ' || of_mailbox) & 1023);
  RETURN (
    SELECT count(*) FROM mail_messages m
    WHERE m.mailbox IN (of_mailbox, erased_mailbox(of_mailbox)) AND m.kind = of_kind AND m.created_at > since);
END
$$;
