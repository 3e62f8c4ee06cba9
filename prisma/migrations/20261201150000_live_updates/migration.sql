-- Tells the processes that have open streams that the rights of a reader may have changed, or the state of a
-- participant. The payload is a name and an ID, such as user:7. These changes are infrequent: a notification in a
-- transaction makes the commits of all that notify wait for each other.
CREATE FUNCTION "notify_access"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_notify('lynxroom_access', TG_ARGV[0] || ':' || (to_jsonb(OLD) ->> TG_ARGV[1]));
  RETURN NULL;
END $$;

CREATE TRIGGER "sessions_access_ended" AFTER DELETE ON "sessions"
  FOR EACH ROW EXECUTE FUNCTION "notify_access"('user', 'user_id');

CREATE TRIGGER "users_access_changed" AFTER UPDATE ON "users"
  FOR EACH ROW WHEN (OLD."locked_at" IS DISTINCT FROM NEW."locked_at")
  EXECUTE FUNCTION "notify_access"('user', 'id');

CREATE TRIGGER "members_access_changed" AFTER UPDATE ON "members"
  FOR EACH ROW WHEN (OLD."role" IS DISTINCT FROM NEW."role")
  EXECUTE FUNCTION "notify_access"('user', 'user_id');

CREATE TRIGGER "members_access_ended" AFTER DELETE ON "members"
  FOR EACH ROW EXECUTE FUNCTION "notify_access"('user', 'user_id');

-- Not for the columns of the last use, which are written often.
CREATE TRIGGER "api_keys_access_changed" AFTER UPDATE ON "api_keys"
  FOR EACH ROW WHEN (
    (OLD."is_active", OLD."key_hash", OLD."previous_key_hash", OLD."previous_expires_at", OLD."expires_at",
      OLD."scopes", OLD."allowed_networks")
    IS DISTINCT FROM
    (NEW."is_active", NEW."key_hash", NEW."previous_key_hash", NEW."previous_expires_at", NEW."expires_at",
      NEW."scopes", NEW."allowed_networks"))
  EXECUTE FUNCTION "notify_access"('keys', 'workspace_id');

CREATE TRIGGER "api_keys_access_ended" AFTER DELETE ON "api_keys"
  FOR EACH ROW EXECUTE FUNCTION "notify_access"('keys', 'workspace_id');

-- A participant was admitted or refused, or a host ended the visit. Most participants leave by themselves, which nobody
-- has to tell them.
CREATE TRIGGER "participants_status_changed" AFTER UPDATE ON "participants"
  FOR EACH ROW WHEN (OLD."status" IS DISTINCT FROM NEW."status"
    AND (NEW."status" <> 'left' OR NEW."end_reason" IS NOT NULL))
  EXECUTE FUNCTION "notify_access"('participant', 'id');

CREATE TRIGGER "rooms_access_changed" AFTER UPDATE ON "rooms"
  FOR EACH ROW WHEN ((OLD."locked_at" IS NULL) <> (NEW."locked_at" IS NULL))
  EXECUTE FUNCTION "notify_access"('room', 'id');

CREATE TRIGGER "rooms_access_ended" AFTER DELETE ON "rooms"
  FOR EACH ROW EXECUTE FUNCTION "notify_access"('room', 'id');
