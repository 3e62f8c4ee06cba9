-- The limit of a user also counts what was sent before there was a sender.
UPDATE "mail_messages" m SET "sender_id" = i."invited_by"
  FROM "invitations" i
  WHERE m."kind" = 'workspace-invitation' AND m."sender_id" IS NULL
    AND i."workspace_id" = m."workspace_id" AND i."email" = m."to_address";
