-- Mail to thousands of people in one transaction would take a lock for each of them, which all transactions of the
-- server find no memory for. So there are 1024 locks, and each is of many mailboxes.
CREATE OR REPLACE FUNCTION "count_mail"("of_mailbox" TEXT, "of_kind" TEXT, "since" TIMESTAMPTZ) RETURNS BIGINT
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  PERFORM pg_advisory_xact_lock(hashtext('count_mail'), hashtext(of_kind || ' ' || of_mailbox) & 1023);
  RETURN (
    SELECT count(*) FROM mail_messages m
    WHERE m.mailbox = of_mailbox AND m.kind = of_kind AND m.created_at > since);
END
$$;
