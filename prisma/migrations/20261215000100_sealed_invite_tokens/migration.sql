-- The token of an invite link is stored as its hash, by which it is found, and sealed, because the link is shown again.
-- Only the service can seal it, so it does so for existing links when it starts.

ALTER TABLE "workspaces" ADD COLUMN "invite_hash" BYTEA, ADD COLUMN "sealed_invite" BYTEA;

UPDATE "workspaces" SET "invite_hash" = sha256(convert_to("invite_token", 'UTF8')) WHERE "invite_token" IS NOT NULL;

-- A partial index: with a full one, changing a link would lock the row as if it changed its key.
CREATE UNIQUE INDEX "workspaces_invite_hash" ON "workspaces"("invite_hash") WHERE "invite_hash" IS NOT NULL;

-- A process of the earlier version that still runs writes only invite_token. What it creates gets its hash, and what it
-- revokes loses it. A sealed link has a mark there that is no token, so that such a process finds something to revoke.
CREATE FUNCTION "follow_invite_token"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.sealed_invite IS DISTINCT FROM OLD.sealed_invite
      OR NEW.invite_token IS NOT NULL AND NEW.invite_token = OLD.invite_token THEN
    RETURN NEW;
  END IF;
  NEW.invite_hash := sha256(convert_to(NEW.invite_token, 'UTF8'));
  NEW.sealed_invite := NULL;
  RETURN NEW;
END
$$;

CREATE TRIGGER "follow_invite_token" BEFORE UPDATE OF "invite_token" ON "workspaces"
  FOR EACH ROW EXECUTE FUNCTION "follow_invite_token"();
