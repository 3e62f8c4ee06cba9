-- What the migrations add up to, beyond the tables and columns of schema.prisma. Nothing runs it.
-- It is generated: change the database with a migration, then run `npm run current-sql`.

CREATE EXTENSION btree_gin;

CREATE EXTENSION pg_trgm;

CREATE SEQUENCE event_sequence AS bigint;

-- Called by the trigger participants_first_connection of participants.
CREATE OR REPLACE FUNCTION public.add_first_connection()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  INSERT INTO "participant_connections"
    ("workspace_id", "participant_id", "connection_id", "meeting", "reference", "joined_at", "left_at")
  VALUES (NEW."workspace_id", NEW."id", NEW."connection_id", NEW."meeting", NEW."participant_reference",
    coalesce(NEW."joined_at", NEW."created_at"), NEW."left_at")
  ON CONFLICT DO NOTHING;
  RETURN NULL;
END $function$;

CREATE OR REPLACE FUNCTION public.check_room_entry(in_workspace integer, in_room integer, by_user integer, by_address text, by_name text, by_token bytea, at_time timestamp with time zone, OUT is_locked boolean, OUT was_inside boolean, OUT barred_until timestamp with time zone, OUT was_admitted boolean)
 RETURNS record
 LANGUAGE plpgsql
AS $function$
BEGIN
  SELECT r."locked_at" IS NOT NULL, r."locked_at" IS NOT NULL AND EXISTS (
    SELECT FROM "participants" p
    WHERE p."workspace_id" = in_workspace AND p."room_id" = in_room AND p."left_at" >= r."locked_at"
      AND p."joined_at" IS NOT NULL AND p."end_reason" IS NULL AND (p."token_hash" = by_token OR p."user_id" = by_user))
  INTO is_locked, was_inside FROM "rooms" r WHERE r."workspace_id" = in_workspace AND r."id" = in_room;
  SELECT max(p."barred_until") INTO barred_until FROM "participants" p
  WHERE p."workspace_id" = in_workspace AND p."room_id" = in_room AND p."barred_until" > at_time
    AND (p."token_hash" = by_token OR p."user_id" = by_user OR lower(trim(p."email")) = by_address
      OR (by_user IS NULL AND lower(p."name") = lower(by_name)));
  was_admitted := by_token IS NOT NULL AND EXISTS (
    SELECT FROM "participants" p
    WHERE p."token_hash" = by_token AND p."workspace_id" = in_workspace AND p."room_id" = in_room
      AND p."joined_at" IS NOT NULL AND p."end_reason" IS NULL AND p."left_at" > at_time - interval '1 hour'
      AND (p."user_id" IS NULL OR p."user_id" = by_user)
      AND NOT EXISTS (
        SELECT FROM "participants" c
        WHERE c."workspace_id" = in_workspace AND c."room_id" = in_room AND c."end_reason" = 'closed'
          AND c."left_at" >= p."left_at"));
END $function$;

CREATE OR REPLACE FUNCTION public.check_room_entry(in_workspace integer, in_room integer, by_user integer, by_address text, by_name text, by_token bytea, by_pass integer, at_time timestamp with time zone, OUT is_locked boolean, OUT was_inside boolean, OUT barred_until timestamp with time zone, OUT was_admitted boolean)
 RETURNS record
 LANGUAGE plpgsql
AS $function$
BEGIN
  SELECT r."locked_at" IS NOT NULL, r."locked_at" IS NOT NULL AND EXISTS (
    SELECT FROM "participants" p
    WHERE p."workspace_id" = in_workspace AND p."room_id" = in_room AND p."left_at" >= r."locked_at"
      AND p."joined_at" IS NOT NULL AND p."end_reason" IS NULL
      AND (p."token_hash" = by_token OR p."user_id" = by_user OR p."pass_id" = by_pass)
      AND (p."pass_id" IS NULL OR p."pass_id" = by_pass OR p."user_id" = by_user))
  INTO is_locked, was_inside FROM "rooms" r WHERE r."workspace_id" = in_workspace AND r."id" = in_room;
  SELECT max(p."barred_until") INTO barred_until FROM "participants" p
  WHERE p."workspace_id" = in_workspace AND p."room_id" = in_room AND p."barred_until" > at_time
    AND (p."token_hash" = by_token OR p."user_id" = by_user OR p."pass_id" = by_pass
      OR lower(trim(p."email")) = by_address
      OR (by_user IS NULL AND by_pass IS NULL AND lower(p."name") = lower(by_name)));
  was_admitted := (by_token IS NOT NULL OR by_pass IS NOT NULL) AND EXISTS (
    SELECT FROM "participants" p
    WHERE (p."token_hash" = by_token OR p."pass_id" = by_pass)
      AND p."workspace_id" = in_workspace AND p."room_id" = in_room
      AND p."joined_at" IS NOT NULL AND p."end_reason" IS NULL AND p."left_at" > at_time - interval '1 hour'
      AND (p."user_id" IS NULL OR p."user_id" = by_user)
      AND (p."pass_id" IS NULL OR p."pass_id" = by_pass)
      AND NOT EXISTS (
        SELECT FROM "participants" c
        WHERE c."workspace_id" = in_workspace AND c."room_id" = in_room AND c."end_reason" = 'closed'
          AND c."left_at" >= p."left_at"));
END $function$;

-- Called by the trigger rooms_deleted_close_livekit of rooms.
CREATE OR REPLACE FUNCTION public.close_livekit_room()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  PERFORM watch_livekit_room(OLD."workspace_id", OLD."id", true);
  RETURN NULL;
END $function$;

CREATE OR REPLACE FUNCTION public.continues_meeting(in_workspace integer, in_room integer, in_time timestamp with time zone, in_id integer)
 RETURNS boolean
 LANGUAGE plpgsql
 STABLE PARALLEL SAFE
AS $function$
BEGIN
  RETURN EXISTS (
    SELECT FROM "participants" p
    WHERE p."workspace_id" = in_workspace AND p."room_id" = in_room AND p."status" = 'joined'
      AND (p."joined_at", p."id") < (in_time, in_id)
  ) OR EXISTS (
    SELECT FROM ended_visits(in_workspace, in_room, in_time - interval '10 minutes', in_time) v
    WHERE (v."joined_at", v."id") < (in_time, in_id) AND v."left_at" > in_time - interval '10 minutes');
END $function$;

-- Called by the trigger library_items_added of library_items.
CREATE OR REPLACE FUNCTION public.count_added_library_items()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  UPDATE "workspaces" w SET "library_item_count" = w."library_item_count" + a.n, "stored_bytes" = w."stored_bytes" + a.bytes
    FROM (SELECT "workspace_id", count(*)::int AS n, sum("size") AS bytes FROM "added" GROUP BY 1) a
    WHERE w."id" = a."workspace_id";
  RETURN NULL;
END $function$;

-- Called by the trigger recordings_added of recordings.
CREATE OR REPLACE FUNCTION public.count_added_recordings()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  UPDATE "workspaces" w SET "recording_count" = w."recording_count" + a.n,
      "recording_seconds" = w."recording_seconds" + a.seconds, "stored_bytes" = w."stored_bytes" + a.bytes
    FROM (SELECT "workspace_id", count(*)::int AS n, sum("duration") AS seconds,
            coalesce(sum("size") FILTER (WHERE "file_key" IS NOT NULL), 0) AS bytes FROM "added" GROUP BY 1) a
    WHERE w."id" = a."workspace_id";
  RETURN NULL;
END $function$;

-- Called by the trigger rooms_added of rooms.
CREATE OR REPLACE FUNCTION public.count_added_room()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  INSERT INTO "counter_changes" ("workspace_id", "counter", "amount") VALUES (NEW."workspace_id", 'rooms', 1);
  RETURN NULL;
END $function$;

-- Called by the trigger trash_entries_added of trash_entries.
CREATE OR REPLACE FUNCTION public.count_added_trash()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  UPDATE "workspaces" w
    SET "trashed_item_count" = w."trashed_item_count" + a.items,
      "trashed_room_count" = w."trashed_room_count" + a.rooms, "stored_bytes" = w."stored_bytes" + a.bytes
    FROM (SELECT "workspace_id", (count(*) FILTER (WHERE "kind" = 'library_item'))::int AS items,
            (count(*) FILTER (WHERE "kind" = 'room'))::int AS rooms, sum("size") AS bytes
          FROM "added" GROUP BY 1) a
    WHERE w."id" = a."workspace_id";
  RETURN NULL;
END $function$;

CREATE OR REPLACE FUNCTION public.count_free_places(in_workspace integer, in_room integer)
 RETURNS integer
 LANGUAGE plpgsql
AS $function$
DECLARE
  max_people integer;
BEGIN
  SELECT r."max_participants" INTO max_people FROM "rooms" r WHERE r."workspace_id" = in_workspace AND r."id" = in_room;
  IF max_people IS NULL THEN
    RETURN NULL;
  END IF;
  PERFORM pg_advisory_xact_lock(hashtext('places in a room'), in_room);
  RETURN max_people - (
    SELECT count(*) FROM "participants" p
    WHERE p."workspace_id" = in_workspace AND p."room_id" = in_room AND p."status" = 'joined');
END $function$;

CREATE OR REPLACE FUNCTION public.count_mail(of_mailbox text, of_kind text, since timestamp with time zone)
 RETURNS bigint
 LANGUAGE plpgsql
AS $function$
BEGIN
  PERFORM pg_advisory_xact_lock(hashtext('count_mail'), hashtext(of_kind || ' ' || of_mailbox) & 1023);
  RETURN (
    SELECT count(*) FROM mail_messages m
    WHERE m.mailbox IN (of_mailbox, erased_mailbox(of_mailbox)) AND m.kind = of_kind AND m.created_at > since);
END
$function$;

-- Called by the trigger rooms_removed of rooms.
CREATE OR REPLACE FUNCTION public.count_removed_rooms()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  INSERT INTO "counter_changes" ("workspace_id", "counter", "amount")
    SELECT "workspace_id", 'rooms', -count(*) FROM "removed" GROUP BY 1;
  RETURN NULL;
END $function$;

-- Called by the trigger rooms_removed_trash of rooms.
CREATE OR REPLACE FUNCTION public.delete_trash_of_rooms()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  DELETE FROM "trash_entries" t USING "removed" r
    WHERE t."workspace_id" = r."workspace_id" AND t."room_id" = r."id"
      AND NOT EXISTS (SELECT FROM "trash_entries" o WHERE o."workspace_id" = r."workspace_id" AND o."kind" = 'room'
        AND o."resource_id" = r."id");
  RETURN NULL;
END $function$;

-- Called by the trigger uploads_finished_changed of uploads.
-- Called by the trigger uploads_finished_removed of uploads.
CREATE OR REPLACE FUNCTION public.discard_finished_object()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  IF NOT EXISTS (SELECT FROM "recordings" r WHERE r."file_key" COLLATE "C" = OLD."finished_key") THEN
    INSERT INTO "discarded_objects" ("key") VALUES (OLD."finished_key") ON CONFLICT DO NOTHING;
  END IF;
  RETURN NULL;
END $function$;

-- Called by the trigger workspaces_logo_changed of workspaces.
-- Called by the trigger workspaces_logo_removed of workspaces.
CREATE OR REPLACE FUNCTION public.discard_logo()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  INSERT INTO "discarded_objects" ("key") VALUES (OLD."logo_key") ON CONFLICT DO NOTHING;
  RETURN NULL;
END $function$;

-- Called by the trigger uploads_partial_removed of uploads.
CREATE OR REPLACE FUNCTION public.discard_partial_object()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  INSERT INTO "discarded_objects" ("key", "stored") VALUES (OLD."file_key", OLD."stored") ON CONFLICT DO NOTHING;
  RETURN NULL;
END $function$;

-- Called by the trigger library_items_poster_changed of library_items.
-- Called by the trigger library_items_poster_removed of library_items.
-- Called by the trigger recordings_poster_changed of recordings.
-- Called by the trigger recordings_poster_removed of recordings.
CREATE OR REPLACE FUNCTION public.discard_poster()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  INSERT INTO "discarded_objects" ("key") VALUES (OLD."poster_key") ON CONFLICT DO NOTHING;
  RETURN NULL;
END $function$;

-- Called by the trigger participants_left_room of participants.
CREATE OR REPLACE FUNCTION public.end_recordings_of_empty_room()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
DECLARE
  running integer;
BEGIN
  SELECT "id" INTO running FROM "recordings"
  WHERE "workspace_id" = NEW."workspace_id" AND "room_id" = NEW."room_id" AND "started_by" IS NOT NULL
    AND "status" = 'started' AND "ended_at" IS NULL AND "upload_token_hash" IS NOT NULL
  FOR NO KEY UPDATE;
  IF running IS NULL OR EXISTS (
    SELECT FROM "participants"
    WHERE "workspace_id" = NEW."workspace_id" AND "room_id" = NEW."room_id" AND "status" = 'joined'
  ) THEN
    RETURN NULL;
  END IF;
  UPDATE "recordings" SET "ended_at" = greatest("created_at", NEW."left_at"),
    "updated_at" = greatest("updated_at", NEW."left_at")
  WHERE "workspace_id" = NEW."workspace_id" AND "id" = running;
  RETURN NULL;
END $function$;

CREATE OR REPLACE FUNCTION public.ended_visits(in_workspace integer, in_room integer, from_time timestamp with time zone, to_time timestamp with time zone)
 RETURNS TABLE(id integer, joined_at timestamp with time zone, left_at timestamp with time zone)
 LANGUAGE sql
 STABLE PARALLEL SAFE
AS $function$
  SELECT v."id", v."joined_at", v."left_at" FROM (
    SELECT p."workspace_id", p."room_id", p."id", p."joined_at", p."left_at" FROM "participants" p
    WHERE visit_span(p."room_id", p."joined_at", p."left_at") && visit_span(in_room, from_time, to_time)
      AND p."joined_at" IS NOT NULL AND p."left_at" IS NOT NULL OFFSET 0) v
  WHERE v."workspace_id" = in_workspace AND v."room_id" = in_room AND v."left_at" >= from_time
    AND v."joined_at" <= to_time
$function$;

CREATE OR REPLACE FUNCTION public.erased_mailbox(of_mailbox text)
 RETURNS text
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
AS $function$
  SELECT 'sha256:' || encode(sha256(convert_to(of_mailbox, 'UTF8')), 'hex')
$function$;

-- Called by the trigger follow_invite_token of workspaces.
CREATE OR REPLACE FUNCTION public.follow_invite_token()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  IF NEW.sealed_invite IS DISTINCT FROM OLD.sealed_invite
      OR NEW.invite_token IS NOT NULL AND NEW.invite_token = OLD.invite_token THEN
    RETURN NEW;
  END IF;
  NEW.invite_hash := sha256(convert_to(NEW.invite_token, 'UTF8'));
  NEW.sealed_invite := NULL;
  RETURN NEW;
END
$function$;

-- Called by the trigger booking_pages_removed_subjects of booking_pages.
-- Called by the trigger rooms_removed_subjects of rooms.
CREATE OR REPLACE FUNCTION public.forget_removed_subjects()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  DELETE FROM "contact_event_subjects" s USING "removed" r
    WHERE s."workspace_id" = r."workspace_id" AND s."type" = TG_ARGV[0] AND s."subject_id" = r."id";
  RETURN NULL;
END $function$;

-- Called by the trigger audit_chains_changed of audit_chains.
CREATE OR REPLACE FUNCTION public.guard_audit_chain()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  IF TG_OP = 'UPDATE' THEN
    IF NEW."workspace_id" = OLD."workspace_id" AND NEW."last_sequence" >= OLD."last_sequence"
      AND NEW."cut_sequence" >= OLD."cut_sequence" THEN
      RETURN NEW;
    END IF;
  ELSIF NOT EXISTS (SELECT FROM "public"."workspaces" WHERE "id" = OLD."workspace_id") THEN
    RETURN OLD;
  END IF;
  RAISE EXCEPTION 'The chain of an audit log cannot be taken back';
END $function$;

CREATE OR REPLACE FUNCTION public.has_disconnected(in_workspace integer, in_participant integer, in_joined timestamp with time zone, in_left timestamp with time zone)
 RETURNS boolean
 LANGUAGE sql
 STABLE
AS $function$
  SELECT coalesce(bool_and(c."left_at" IS NOT NULL) AND greatest(in_joined, max(c."left_at")) = in_left, false)
  FROM "participant_connections" c WHERE c."workspace_id" = in_workspace AND c."participant_id" = in_participant
$function$;

-- Called by the trigger audit_log_inserted of audit_log.
CREATE OR REPLACE FUNCTION public.hash_audit_details()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  IF NEW."sequence" IS NOT NULL OR NEW."hash" IS NOT NULL THEN
    RAISE EXCEPTION 'A row of the audit log is inserted without a number';
  END IF;
  NEW."actor_details" := coalesce(NEW."actor_details", '{}');
  NEW."actor_salt" := uuid_send(gen_random_uuid());
  NEW."actor_hash" := sha256(NEW."actor_salt" || convert_to(NEW."actor_details", 'UTF8'));
  NEW."details" := coalesce(NEW."details", '{}');
  NEW."details_salt" := uuid_send(gen_random_uuid());
  NEW."details_hash" := sha256(NEW."details_salt" || convert_to(NEW."details", 'UTF8'));
  RETURN NEW;
END $function$;

CREATE OR REPLACE FUNCTION public.is_pass_host(in_workspace integer, in_pass integer, at_time timestamp with time zone)
 RETURNS boolean
 LANGUAGE sql
 STABLE
AS $function$
  SELECT EXISTS (
    SELECT FROM "room_passes" h
    LEFT JOIN "users" u ON u."id" = h."created_by" AND u."locked_at" IS NULL
    LEFT JOIN "members" m ON m."workspace_id" = h."workspace_id" AND m."user_id" = u."id"
      AND m."role" IN ('owner', 'admin')
    LEFT JOIN "api_keys" k ON k."workspace_id" = h."workspace_id" AND k."id" = h."key_id" AND k."is_active"
      AND (at_time IS NULL OR k."expires_at" IS NULL OR k."expires_at" > at_time)
    WHERE h."workspace_id" = in_workspace AND h."id" = in_pass AND h."is_host"
      AND (at_time IS NULL OR h."expires_at" > at_time)
      AND (m."role" IS NOT NULL OR coalesce(k."is_of_workspace", false))
      AND (h."key_id" IS NULL OR k."id" IS NOT NULL)
      AND (h."grant_id" IS NULL OR EXISTS (SELECT FROM "oauth_grants" g WHERE g."id" = h."grant_id")))
$function$;

-- Called by the trigger participants_beginning of participants.
CREATE OR REPLACE FUNCTION public.mark_beginning()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  IF continues_meeting(NEW."workspace_id", NEW."room_id", NEW."joined_at", NEW."id") THEN
    PERFORM pg_advisory_xact_lock_shared(hashtext('beginnings of meetings'), NEW."room_id");
    IF continues_meeting(NEW."workspace_id", NEW."room_id", NEW."joined_at", NEW."id") THEN
      NEW."begins_meeting" := false;
      RETURN NEW;
    END IF;
  END IF;
  PERFORM pg_advisory_xact_lock(hashtext('beginnings of meetings'), NEW."room_id");
  NEW."begins_meeting" := NOT continues_meeting(NEW."workspace_id", NEW."room_id", NEW."joined_at", NEW."id");
  RETURN NEW;
END $function$;

CREATE OR REPLACE FUNCTION public.mark_beginnings(in_workspace integer, in_room integer, from_time timestamp with time zone, to_time timestamp with time zone)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
BEGIN
  IF from_time < clock_timestamp() + interval '1 minute' THEN
    PERFORM pg_advisory_xact_lock(hashtext('beginnings of meetings'), in_room);
  END IF;
  UPDATE "participants" p SET "begins_meeting" = true
  WHERE p."workspace_id" = in_workspace AND p."room_id" = in_room AND p."joined_at" >= from_time
    AND p."joined_at" < to_time AND NOT p."begins_meeting"
    AND NOT continues_meeting(in_workspace, in_room, p."joined_at", p."id");
END $function$;

-- Called by the trigger participants_later_marks of participants.
CREATE OR REPLACE FUNCTION public.mark_later_visits()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
DECLARE
  reached timestamptz := coalesce(NEW."left_at", 'infinity') + interval '10 minutes';
  reached_before timestamptz;
BEGIN
  IF TG_OP = 'UPDATE' AND OLD."joined_at" IS NOT NULL THEN
    reached_before := coalesce(OLD."left_at", 'infinity') + interval '10 minutes';
    IF OLD."joined_at" < NEW."joined_at" THEN
      PERFORM mark_beginnings(NEW."workspace_id", NEW."room_id", OLD."joined_at", reached_before);
    ELSIF reached < reached_before THEN
      PERFORM mark_beginnings(NEW."workspace_id", NEW."room_id", reached, reached_before);
    ELSIF reached > reached_before THEN
      PERFORM pg_advisory_xact_lock_shared(hashtext('beginnings of meetings'), NEW."room_id");
    END IF;
  END IF;
  IF reached_before IS NULL OR reached > reached_before OR NEW."joined_at" < OLD."joined_at" THEN
    UPDATE "participants" p SET "begins_meeting" = false
    WHERE p."workspace_id" = NEW."workspace_id" AND p."room_id" = NEW."room_id" AND p."begins_meeting"
      AND (p."joined_at", p."id") > (NEW."joined_at", NEW."id") AND p."joined_at" < reached;
  END IF;
  RETURN NULL;
END $function$;

-- Called by the trigger participants_deleted_marks of participants.
CREATE OR REPLACE FUNCTION public.mark_visits_after_deleted()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
DECLARE
  reach record;
BEGIN
  FOR reach IN
    SELECT g."workspace_id", g."room_id",
      unnest(range_agg(tstzrange(g."joined_at", coalesce(g."left_at", 'infinity') + interval '10 minutes'))) AS period
    FROM gone g JOIN "rooms" r ON r."workspace_id" = g."workspace_id" AND r."id" = g."room_id"
    WHERE g."joined_at" IS NOT NULL GROUP BY g."workspace_id", g."room_id" ORDER BY g."workspace_id", g."room_id"
  LOOP
    PERFORM mark_beginnings(reach."workspace_id", reach."room_id", lower(reach.period), upper(reach.period));
  END LOOP;
  RETURN NULL;
END $function$;

CREATE OR REPLACE FUNCTION public.meeting_end(in_workspace integer, in_room integer, in_time timestamp with time zone)
 RETURNS timestamp with time zone
 LANGUAGE plpgsql
 STABLE PARALLEL SAFE
AS $function$
DECLARE
  reached timestamptz := in_time;
  later timestamptz;
BEGIN
  LOOP
    IF EXISTS (
      SELECT FROM "participants" p
      WHERE p."workspace_id" = in_workspace AND p."room_id" = in_room AND p."status" = 'joined'
        AND p."joined_at" < reached + interval '10 minutes') THEN
      RETURN NULL;
    END IF;
    SELECT max(v."left_at") INTO later
    FROM ended_visits(in_workspace, in_room, reached, reached + interval '10 minutes') v
    WHERE v."joined_at" < reached + interval '10 minutes' AND v."left_at" > reached;
    EXIT WHEN later IS NULL;
    reached := later;
  END LOOP;
  RETURN reached;
END $function$;

CREATE OR REPLACE FUNCTION public.meeting_start(in_workspace integer, in_room integer, in_time timestamp with time zone, known_time timestamp with time zone DEFAULT '-infinity'::timestamp with time zone)
 RETURNS timestamp with time zone
 LANGUAGE plpgsql
 STABLE PARALLEL SAFE
AS $function$
DECLARE
  reached timestamptz := in_time;
  earlier timestamptz;
BEGIN
  LOOP
    SELECT least(
      (SELECT min(v."joined_at") FROM ended_visits(in_workspace, in_room, reached - interval '10 minutes', reached) v
        WHERE v."joined_at" < reached AND v."left_at" > reached - interval '10 minutes'),
      (SELECT min(p."joined_at") FROM "participants" p
        WHERE p."workspace_id" = in_workspace AND p."room_id" = in_room AND p."status" = 'joined'
          AND p."joined_at" < reached)) INTO earlier;
    EXIT WHEN earlier IS NULL;
    reached := earlier;
    EXIT WHEN reached <= known_time;
  END LOOP;
  RETURN reached;
END $function$;

-- Called by the trigger api_keys_access_changed of api_keys.
-- Called by the trigger api_keys_access_ended of api_keys.
-- Called by the trigger members_access_changed of members.
-- Called by the trigger members_access_ended of members.
-- Called by the trigger participants_status_changed of participants.
-- Called by the trigger rooms_access_changed of rooms.
-- Called by the trigger rooms_access_ended of rooms.
-- Called by the trigger rooms_meeting_changed of rooms.
-- Called by the trigger sessions_access_ended of sessions.
-- Called by the trigger users_access_changed of users.
-- Called by the trigger workspaces_access_changed of workspaces.
CREATE OR REPLACE FUNCTION public.notify_access()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  PERFORM pg_notify('lynxroom_access', TG_ARGV[0] || ':' || (to_jsonb(OLD) ->> TG_ARGV[1]));
  RETURN NULL;
END $function$;

-- Called by the trigger meeting_pages_changed of meeting_pages.
-- Called by the trigger meeting_pages_opened of meeting_pages.
CREATE OR REPLACE FUNCTION public.notify_meeting_page()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  PERFORM pg_notify('lynxroom_access', 'meeting:' || coalesce(NEW."room_id", OLD."room_id"));
  RETURN NULL;
END $function$;

-- Called by the trigger participants_meeting_changed of participants.
-- Called by the trigger participants_meeting_joined of participants.
CREATE OR REPLACE FUNCTION public.notify_meeting_participant()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  IF NEW."status" <> 'joined' THEN
    DELETE FROM "meeting_pages" WHERE "workspace_id" = NEW."workspace_id" AND "participant_id" = NEW."id";
  END IF;
  IF EXISTS (SELECT FROM "meeting_pages" WHERE "workspace_id" = NEW."workspace_id" AND "room_id" = NEW."room_id") THEN
    PERFORM pg_notify('lynxroom_access', 'meeting:' || NEW."room_id");
  END IF;
  RETURN NULL;
END $function$;

-- Called by the trigger recordings_meeting_ended of recordings.
-- Called by the trigger recordings_meeting_started of recordings.
CREATE OR REPLACE FUNCTION public.notify_meeting_recording()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  IF EXISTS (SELECT FROM "meeting_pages" WHERE "workspace_id" = NEW."workspace_id" AND "room_id" = NEW."room_id") THEN
    PERFORM pg_notify('lynxroom_access', 'meeting:' || NEW."room_id");
  END IF;
  RETURN NULL;
END $function$;

-- Called by the trigger meeting_signals_sent of meeting_signals.
CREATE OR REPLACE FUNCTION public.notify_meeting_signal()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  PERFORM pg_notify('lynxroom_signals', 'page:' || NEW."participant_id" || ':' || NEW."connection_id");
  RETURN NULL;
END $function$;

CREATE OR REPLACE FUNCTION public.open_meeting_page(in_workspace integer, in_participant integer, in_connection text, in_now timestamp with time zone, in_expires timestamp with time zone, in_seats integer)
 RETURNS boolean
 LANGUAGE plpgsql
AS $function$
DECLARE
  room integer;
  own "meeting_pages";
  is_seated boolean := false;
BEGIN
  SELECT p."room_id" INTO room FROM "participants" p
  WHERE p."workspace_id" = in_workspace AND p."id" = in_participant AND p."status" = 'joined' FOR SHARE;
  IF room IS NULL THEN
    RETURN false;
  END IF;
  PERFORM pg_advisory_xact_lock(hashtext('meeting seats'), room);
  SELECT * INTO own FROM "meeting_pages" g
  WHERE g."workspace_id" = in_workspace AND g."participant_id" = in_participant AND g."connection_id" = in_connection
  FOR UPDATE;
  IF own."replaced_at" IS NOT NULL THEN
    RETURN false;
  END IF;
  SELECT count(*) > 0 INTO is_seated FROM "meeting_pages" g
  WHERE g."workspace_id" = in_workspace AND g."participant_id" = in_participant AND g."replaced_at" IS NULL
    AND g."seated_at" IS NOT NULL AND g."expires_at" > in_now AND in_seats > 0;
  IF NOT is_seated THEN
    SELECT count(*) < in_seats INTO is_seated FROM "meeting_pages" g
    WHERE g."workspace_id" = in_workspace AND g."room_id" = room AND g."participant_id" <> in_participant
      AND g."seated_at" IS NOT NULL AND g."expires_at" > in_now;
  END IF;
  UPDATE "meeting_pages" SET "replaced_at" = in_now, "seated_at" = NULL
  WHERE "workspace_id" = in_workspace AND "participant_id" = in_participant AND "replaced_at" IS NULL
    AND "connection_id" <> in_connection;
  INSERT INTO "meeting_pages" AS g ("workspace_id", "participant_id", "connection_id", "room_id", "opened_at",
    "expires_at", "seated_at")
  VALUES (in_workspace, in_participant, in_connection, room, in_now, in_expires, CASE WHEN is_seated THEN in_now END)
  ON CONFLICT ("workspace_id", "participant_id", "connection_id") DO UPDATE
  SET "expires_at" = in_expires, "seated_at" = CASE WHEN is_seated THEN coalesce(g."seated_at", in_now) END;
  -- Somebody who opens page after page keeps the newest ones: a page that has been forgotten could come back.
  DELETE FROM "meeting_pages" WHERE ("workspace_id", "participant_id", "connection_id") IN (
    SELECT g."workspace_id", g."participant_id", g."connection_id" FROM "meeting_pages" g
    WHERE g."workspace_id" = in_workspace AND g."participant_id" = in_participant AND g."replaced_at" IS NOT NULL
    ORDER BY g."opened_at" DESC, g."connection_id" OFFSET 50);
  RETURN true;
END $function$;

-- Called by the trigger audit_log_updated of audit_log.
CREATE OR REPLACE FUNCTION public.refuse_audit_change()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  IF (NEW."workspace_id", NEW."id", NEW."created_at", NEW."actor_kind", NEW."actor_user_id", NEW."actor_key_id",
      NEW."action", NEW."target_kind", NEW."target_id", NEW."actor_hash", NEW."details_hash")
    IS DISTINCT FROM
     (OLD."workspace_id", OLD."id", OLD."created_at", OLD."actor_kind", OLD."actor_user_id", OLD."actor_key_id",
      OLD."action", OLD."target_kind", OLD."target_id", OLD."actor_hash", OLD."details_hash")
    OR (OLD."sequence" IS NOT NULL AND (NEW."sequence", NEW."hash") IS DISTINCT FROM (OLD."sequence", OLD."hash"))
    OR (NEW."actor_details" IS NOT NULL
      AND (NEW."actor_details", NEW."actor_salt") IS DISTINCT FROM (OLD."actor_details", OLD."actor_salt"))
    OR (NEW."details" IS NOT NULL
      AND (NEW."details", NEW."details_salt") IS DISTINCT FROM (OLD."details", OLD."details_salt"))
  THEN
    RAISE EXCEPTION 'The audit log cannot be changed';
  END IF;
  RETURN NEW;
END $function$;

-- Called by the trigger audit_log_deleted of audit_log.
CREATE OR REPLACE FUNCTION public.refuse_audit_deletion()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  IF EXISTS (SELECT FROM "public"."workspaces" WHERE "id" = OLD."workspace_id") AND NOT EXISTS (
      SELECT FROM "public"."audit_chains"
      WHERE "workspace_id" = OLD."workspace_id" AND "cut_sequence" >= OLD."sequence") THEN
    RAISE EXCEPTION 'The audit log cannot be deleted';
  END IF;
  RETURN OLD;
END $function$;

-- Called by the trigger audit_chains_truncated of audit_chains.
-- Called by the trigger audit_log_truncated of audit_log.
CREATE OR REPLACE FUNCTION public.refuse_audit_truncation()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  RAISE EXCEPTION 'The audit log cannot be emptied';
END $function$;

-- Called by the trigger contact_events_kept of contact_events.
-- Called by the trigger contact_events_unchanged of contact_events.
-- Called by the trigger contacts_unmoved of contacts.
CREATE OR REPLACE FUNCTION public.refuse_changed_counts()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  RAISE EXCEPTION 'What is counted in % stays as it is: its sums would no longer fit', TG_TABLE_NAME;
END $function$;

-- Called by the trigger rooms_added_name of rooms.
CREATE OR REPLACE FUNCTION public.refuse_name_in_trash()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  IF EXISTS (SELECT FROM "trash_entries" t WHERE t."kind" = 'room' AND t."record" ->> 'name' = NEW."name"
      AND NOT (t."workspace_id" = NEW."workspace_id" AND t."resource_id" = NEW."id")) THEN
    RAISE serialization_failure USING MESSAGE = 'The name has come to belong to a room in the trash';
  END IF;
  RETURN NULL;
END $function$;

-- Called by the trigger users_remembered of users.
CREATE OR REPLACE FUNCTION public.remember_accounts()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  INSERT INTO "account_history" DEFAULT VALUES ON CONFLICT DO NOTHING;
  RETURN NULL;
END $function$;

-- Called by the trigger recordings_remember_deleted of recordings.
CREATE OR REPLACE FUNCTION public.remember_deleted_recordings()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  -- The rows of a room that is being deleted find no room here: the trigger on rooms has remembered them.
  INSERT INTO recording_deletions (workspace_id, archive_id, room_name, deleted_at)
  SELECT d.workspace_id, d.archive_id, r.name, now()
  FROM deleted d JOIN rooms r ON r.workspace_id = d.workspace_id AND r.id = d.room_id
  ON CONFLICT (workspace_id, archive_id, room_name) DO UPDATE SET deleted_at = excluded.deleted_at;
  RETURN NULL;
END $function$;

-- Called by the trigger rooms_remember_deleted_recordings of rooms.
CREATE OR REPLACE FUNCTION public.remember_recordings_of_deleted_room()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  -- A workspace that is being deleted leaves nothing behind.
  INSERT INTO recording_deletions (workspace_id, archive_id, room_name, deleted_at)
  SELECT c.workspace_id, c.archive_id, OLD.name, now()
  FROM recordings c JOIN workspaces w ON w.id = c.workspace_id
  WHERE c.workspace_id = OLD.workspace_id AND c.room_id = OLD.id
  ON CONFLICT (workspace_id, archive_id, room_name) DO UPDATE SET deleted_at = excluded.deleted_at;
  RETURN OLD;
END $function$;

CREATE OR REPLACE FUNCTION public.send_meeting_signal(in_workspace integer, in_room integer, in_from integer, in_from_connection text, in_to integer, in_to_connection text, in_data text, in_now timestamp with time zone, in_oldest timestamp with time zone, in_max_pair integer, in_max_total integer)
 RETURNS text
 LANGUAGE plpgsql
AS $function$
DECLARE
  sender "meeting_pages";
  recipient "meeting_pages";
  of_pair bigint;
  total bigint;
BEGIN
  PERFORM FROM "participants" p
  WHERE p."workspace_id" = in_workspace AND p."id" = in_from AND p."room_id" = in_room AND p."status" = 'joined';
  IF NOT FOUND THEN
    RETURN 'not_joined';
  END IF;
  SELECT * INTO sender FROM "meeting_pages" g
  WHERE g."workspace_id" = in_workspace AND g."participant_id" = in_from AND g."connection_id" = in_from_connection;
  IF NOT FOUND THEN
    RETURN 'unknown_sender';
  ELSIF sender."replaced_at" IS NOT NULL THEN
    RETURN 'replaced';
  ELSIF sender."seated_at" IS NULL OR sender."expires_at" <= in_now THEN
    RETURN 'not_seated';
  END IF;
  PERFORM FROM "participants" p
  WHERE p."workspace_id" = in_workspace AND p."id" = in_to AND p."room_id" = in_room AND p."status" = 'joined'
    AND p."id" <> in_from;
  IF NOT FOUND THEN
    RETURN 'unknown_participant';
  END IF;
  SELECT * INTO recipient FROM "meeting_pages" g
  WHERE g."workspace_id" = in_workspace AND g."participant_id" = in_to AND g."connection_id" = in_to_connection
  FOR NO KEY UPDATE;
  IF NOT FOUND OR recipient."seated_at" IS NULL OR recipient."expires_at" <= in_now THEN
    RETURN 'unknown_recipient';
  END IF;
  SELECT coalesce(sum(greatest(octet_length(s."data"), 1024)), 0),
    coalesce(sum(greatest(octet_length(s."data"), 1024)) FILTER (WHERE s."from_participant_id" = in_from), 0)
  INTO total, of_pair FROM "meeting_signals" s
  WHERE s."workspace_id" = in_workspace AND s."participant_id" = in_to AND s."connection_id" = in_to_connection
    AND s."created_at" > in_oldest AND EXISTS (
      SELECT FROM "participants" p
      WHERE p."workspace_id" = in_workspace AND p."id" = s."from_participant_id" AND p."status" = 'joined');
  IF of_pair + greatest(octet_length(in_data), 1024) > in_max_pair
    OR total + greatest(octet_length(in_data), 1024) > in_max_total THEN
    RETURN 'too_much';
  END IF;
  INSERT INTO "meeting_signals" ("workspace_id", "participant_id", "connection_id", "kind", "from_participant_id",
    "from_connection_id", "data", "created_at")
  VALUES (in_workspace, in_to, in_to_connection, 'signal', in_from, in_from_connection, in_data, in_now);
  RETURN 'sent';
END $function$;

-- Called by the trigger recordings_changed of recordings.
CREATE OR REPLACE FUNCTION public.settle_changed_recordings()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
DECLARE
  replaced text;
BEGIN
  UPDATE "workspaces" w SET "recording_seconds" = w."recording_seconds" + c.seconds, "stored_bytes" = w."stored_bytes" + c.bytes
    FROM (SELECT "workspace_id", sum("duration") AS seconds, sum("bytes") AS bytes FROM
            (SELECT "workspace_id", "duration", CASE WHEN "file_key" IS NULL THEN 0 ELSE "size" END AS "bytes" FROM "after"
             UNION ALL
             SELECT "workspace_id", -"duration", CASE WHEN "file_key" IS NULL THEN 0 ELSE -"size" END FROM "before") d
          GROUP BY 1 HAVING sum("duration") <> 0 OR sum("bytes") <> 0) c
    WHERE w."id" = c."workspace_id";
  FOR replaced IN
    SELECT b."file_key" FROM "before" b JOIN "after" a USING ("workspace_id", "id")
    WHERE b."file_key" IS NOT NULL AND b."file_key" IS DISTINCT FROM a."file_key"
  LOOP
    PERFORM FROM "uploads" u WHERE u."finished_key" COLLATE "C" = replaced FOR SHARE;
    IF NOT FOUND THEN
      INSERT INTO "discarded_objects" ("key") VALUES (replaced) ON CONFLICT DO NOTHING;
    END IF;
  END LOOP;
  RETURN NULL;
END $function$;

-- Called by the trigger library_items_removed of library_items.
CREATE OR REPLACE FUNCTION public.settle_removed_library_items()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  UPDATE "workspaces" w SET "library_item_count" = w."library_item_count" - r.n, "stored_bytes" = w."stored_bytes" - r.bytes
    FROM (SELECT "workspace_id", count(*)::int AS n, sum("size") AS bytes FROM "removed" GROUP BY 1) r
    WHERE w."id" = r."workspace_id";
  INSERT INTO "discarded_objects" ("key") SELECT "file_key" FROM "removed" ON CONFLICT DO NOTHING;
  RETURN NULL;
END $function$;

-- Called by the trigger media_jobs_removed of media_jobs.
CREATE OR REPLACE FUNCTION public.settle_removed_media_jobs()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  INSERT INTO "discarded_objects" ("key")
    SELECT "output_key" FROM "removed" j WHERE "output_key" IS NOT NULL
      AND NOT EXISTS (SELECT FROM "recordings" r WHERE r."file_key" = j."output_key") ON CONFLICT DO NOTHING;
  RETURN NULL;
END $function$;

-- Called by the trigger recordings_removed of recordings.
CREATE OR REPLACE FUNCTION public.settle_removed_recordings()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  UPDATE "workspaces" w SET "recording_count" = w."recording_count" - r.n,
      "recording_seconds" = w."recording_seconds" - r.seconds, "stored_bytes" = w."stored_bytes" - r.bytes
    FROM (SELECT "workspace_id", count(*)::int AS n, sum("duration") AS seconds,
            coalesce(sum("size") FILTER (WHERE "file_key" IS NOT NULL), 0) AS bytes FROM "removed" GROUP BY 1) r
    WHERE w."id" = r."workspace_id";
  INSERT INTO "discarded_objects" ("key")
    SELECT "file_key" FROM "removed" WHERE "file_key" IS NOT NULL ON CONFLICT DO NOTHING;
  RETURN NULL;
END $function$;

-- Called by the trigger trash_entries_removed of trash_entries.
CREATE OR REPLACE FUNCTION public.settle_removed_trash()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  UPDATE "workspaces" w
    SET "trashed_item_count" = w."trashed_item_count" - r.items,
      "trashed_room_count" = w."trashed_room_count" - r.rooms, "stored_bytes" = w."stored_bytes" - r.bytes
    FROM (SELECT "workspace_id", (count(*) FILTER (WHERE "kind" = 'library_item'))::int AS items,
            (count(*) FILTER (WHERE "kind" = 'room'))::int AS rooms, sum("size") AS bytes
          FROM "removed" GROUP BY 1) r
    WHERE w."id" = r."workspace_id";
  INSERT INTO "discarded_objects" ("key")
    SELECT o."key" FROM "removed" r CROSS JOIN LATERAL (VALUES (r."file_key"), (r."poster_key")) o ("key")
    WHERE o."key" IS NOT NULL
      AND NOT EXISTS (SELECT FROM "library_items" i WHERE i."workspace_id" = r."workspace_id"
        AND i."id" = r."resource_id" AND r."kind" = 'library_item')
      AND NOT EXISTS (SELECT FROM "recordings" c WHERE c."workspace_id" = r."workspace_id"
        AND c."id" = r."resource_id" AND r."kind" = 'recording')
    ON CONFLICT DO NOTHING;
  IF EXISTS (SELECT FROM "removed" WHERE "kind" = 'room') THEN
    DELETE FROM "trash_entries" t USING "removed" r
      WHERE r."kind" = 'room' AND t."workspace_id" = r."workspace_id" AND t."room_id" = r."resource_id"
        AND NOT EXISTS (SELECT FROM "rooms" o WHERE o."workspace_id" = r."workspace_id" AND o."id" = r."resource_id");
  END IF;
  RETURN NULL;
END $function$;

-- Called by the trigger webhooks_skip_earlier_events of webhooks.
CREATE OR REPLACE FUNCTION public.skip_earlier_events()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  NEW."skipped_event_ids" := ARRAY(
    SELECT "id" FROM "events" WHERE "workspace_id" = NEW."workspace_id" AND "relayed_at" IS NULL);
  RETURN NEW;
END $function$;

-- Called by the trigger contact_events_added of contact_events.
CREATE OR REPLACE FUNCTION public.sum_added_contact_events()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  INSERT INTO "counter_changes" ("workspace_id", "counter", "day", "type", "subject_id", "amount")
    SELECT "workspace_id", 'contact_events', ("created_at" AT TIME ZONE 'UTC')::date, "type",
      CASE "type" WHEN 'room_join' THEN "room_id" WHEN 'booking' THEN "booking_page_id" END, count(*)
    FROM "added" GROUP BY 1, 3, 4, 5;
  RETURN NULL;
END $function$;

-- Called by the trigger contacts_added of contacts.
CREATE OR REPLACE FUNCTION public.sum_added_contacts()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  INSERT INTO "counter_changes" ("workspace_id", "counter", "day", "amount")
    SELECT "workspace_id", 'contacts', ("created_at" AT TIME ZONE 'UTC')::date, count(*) FROM "added" GROUP BY 1, 3;
  RETURN NULL;
END $function$;

-- Called by the trigger contacts_removed of contacts.
CREATE OR REPLACE FUNCTION public.sum_removed_contacts()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  INSERT INTO "counter_changes" ("workspace_id", "counter", "day", "amount")
    SELECT "workspace_id", 'contacts', ("created_at" AT TIME ZONE 'UTC')::date, -count(*) FROM "removed" GROUP BY 1, 3;
  RETURN NULL;
END $function$;

CREATE OR REPLACE FUNCTION public.take_pgboss_jobs(max integer)
 RETURNS integer
 LANGUAGE plpgsql
AS $function$
DECLARE
  taken int;
BEGIN
  IF to_regclass('pgboss.job') IS NULL THEN
    RETURN 0;
  END IF;
  EXECUTE $sql$
    WITH jobs AS (
      SELECT id FROM pgboss.job
      WHERE name = 'webhooks.deliver' AND (state < 'active' OR state = 'active'
        AND coalesce(heartbeat_on, started_on) + interval '30 s' < now())
      LIMIT $1 FOR UPDATE SKIP LOCKED),
    deleted AS (
      DELETE FROM pgboss.job j USING jobs WHERE j.name = 'webhooks.deliver' AND j.id = jobs.id
      RETURNING j.id, j.data, j.priority, j.start_after),
    queued AS (
      UPDATE public.webhook_messages m
      SET job_id = n.id, queued_job_id = n.id, queue_rank = -d.priority, due_at = d.start_after
      FROM deleted d CROSS JOIN LATERAL (SELECT gen_random_uuid() AS id, d.id AS old) n
      WHERE m.workspace_id = (d.data->>'workspaceId')::int AND m.id = d.data->>'messageId' AND m.job_id = d.id
        AND m.status = 'waiting')
    SELECT count(*)::int FROM deleted $sql$ INTO taken USING "max";
  RETURN taken;
END $function$;

CREATE OR REPLACE FUNCTION public.visit_span(room integer, from_time timestamp with time zone, to_time timestamp with time zone)
 RETURNS box
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
AS $function$
  SELECT box(
    point(room, date_part('epoch', from_time - '2000-01-01 00:00:00+00'::timestamptz)),
    point(room, date_part('epoch', to_time - '2000-01-01 00:00:00+00'::timestamptz)))
$function$;

-- Called by the trigger recordings_deleted_wake_egress of recordings.
-- Called by the trigger recordings_ended_wake_egress of recordings.
CREATE OR REPLACE FUNCTION public.wake_livekit_egress()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  UPDATE "livekit_egresses" SET "next_attempt_at" = "created_at"
    WHERE "workspace_id" = OLD."workspace_id" AND "recording_id" = OLD."id";
  IF FOUND THEN
    PERFORM pg_notify('lynxroom_livekit', '');
  END IF;
  RETURN NULL;
END $function$;

CREATE OR REPLACE FUNCTION public.watch_livekit_room(in_workspace integer, in_room integer, in_close boolean)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
BEGIN
  UPDATE "livekit_rooms" SET "watched_until" = NULL, "is_closing" = "is_closing" OR in_close,
    "next_attempt_at" = "created_at", "leased_until" = NULL, "attempts" = "attempts" + 1
  WHERE "workspace_id" = in_workspace AND "room_id" = in_room;
  IF FOUND THEN
    PERFORM pg_notify('lynxroom_livekit', '');
  END IF;
END $function$;

-- Called by the trigger meeting_pages_replaced_watch_livekit of meeting_pages.
CREATE OR REPLACE FUNCTION public.watch_room_of_page()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  PERFORM watch_livekit_room(OLD."workspace_id", OLD."room_id", false);
  RETURN NULL;
END $function$;

-- Called by the trigger participants_deleted_watch_livekit of participants.
-- Called by the trigger participants_ended_watch_livekit of participants.
CREATE OR REPLACE FUNCTION public.watch_room_of_participant()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  IF TG_OP = 'UPDATE' AND NEW."end_reason" IS NULL
    AND has_disconnected(NEW."workspace_id", NEW."id", NEW."joined_at", NEW."left_at") THEN
    RETURN NULL;
  END IF;
  PERFORM watch_livekit_room(OLD."workspace_id", OLD."room_id", false);
  RETURN NULL;
END $function$;

-- Table account_events

ALTER TABLE account_events
  ADD CONSTRAINT account_events_pkey PRIMARY KEY (id),
  ADD CONSTRAINT account_events_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON UPDATE CASCADE ON DELETE CASCADE;
CREATE INDEX account_events_created_at_idx ON account_events USING btree (created_at);
CREATE UNIQUE INDEX account_events_user_id_action_hour_key ON account_events USING btree (user_id, action, hour);
CREATE INDEX account_events_user_id_created_at_id_idx ON account_events USING btree (user_id, created_at, id);

-- Table account_history

ALTER TABLE account_history
  ADD CONSTRAINT account_history_pkey PRIMARY KEY (is_only),
  ADD CONSTRAINT account_history_is_only_check CHECK (is_only);

-- Table account_tokens

ALTER TABLE account_tokens
  ADD CONSTRAINT account_tokens_pkey PRIMARY KEY (token_hash),
  ADD CONSTRAINT account_tokens_purpose_check CHECK (purpose = ANY (ARRAY['verify_email'::text, 'change_email'::text, 'reset_password'::text, 'local_sign_in'::text])),
  ADD CONSTRAINT account_tokens_user_check CHECK ((user_id IS NULL) = (purpose = 'reset_password'::text)),
  ADD CONSTRAINT account_tokens_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON UPDATE CASCADE ON DELETE CASCADE;
CREATE INDEX account_tokens_address_idx ON account_tokens USING btree (address);
CREATE INDEX account_tokens_expires_at_idx ON account_tokens USING btree (expires_at);
CREATE INDEX account_tokens_user_id_idx ON account_tokens USING btree (user_id);

-- Table api_keys

ALTER TABLE api_keys
  ADD CONSTRAINT api_keys_pkey PRIMARY KEY (workspace_id, id),
  ADD CONSTRAINT api_keys_lists CHECK (scopes IS NOT NULL AND allowed_networks IS NOT NULL),
  ADD CONSTRAINT api_keys_previous CHECK ((num_nulls(previous_key_hash, previous_key_prefix, previous_expires_at) = ANY (ARRAY[0, 3])) AND (previous_key_hash IS NOT NULL OR num_nonnulls(previous_last_used_at, previous_last_used_address) = 0)),
  ADD CONSTRAINT api_keys_revoked_inactive CHECK (revoked_at IS NULL OR NOT is_active),
  ADD CONSTRAINT api_keys_created_by_fkey FOREIGN KEY (created_by) REFERENCES users(id) ON UPDATE CASCADE ON DELETE CASCADE,
  ADD CONSTRAINT api_keys_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id) ON UPDATE CASCADE ON DELETE CASCADE;
CREATE INDEX api_keys_created_by_idx ON api_keys USING btree (created_by);
CREATE UNIQUE INDEX api_keys_key_hash_key ON api_keys USING btree (key_hash);
CREATE UNIQUE INDEX api_keys_previous_key_hash_key ON api_keys USING btree (previous_key_hash);
CREATE TRIGGER api_keys_access_changed AFTER UPDATE ON api_keys
  FOR EACH ROW
  WHEN (old.is_active IS DISTINCT FROM new.is_active OR old.key_hash IS DISTINCT FROM new.key_hash OR old.previous_key_hash IS DISTINCT FROM new.previous_key_hash OR old.previous_expires_at IS DISTINCT FROM new.previous_expires_at OR old.expires_at IS DISTINCT FROM new.expires_at OR old.scopes IS DISTINCT FROM new.scopes OR old.allowed_networks IS DISTINCT FROM new.allowed_networks)
  EXECUTE FUNCTION notify_access('keys', 'workspace_id');
CREATE TRIGGER api_keys_access_ended AFTER DELETE ON api_keys
  FOR EACH ROW
  EXECUTE FUNCTION notify_access('keys', 'workspace_id');

-- Table audit_chains

ALTER TABLE audit_chains
  ADD CONSTRAINT audit_chains_pkey PRIMARY KEY (workspace_id),
  ADD CONSTRAINT audit_chains_cut_check CHECK (cut_sequence >= 0 AND cut_sequence <= last_sequence),
  ADD CONSTRAINT audit_chains_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id) ON UPDATE CASCADE ON DELETE CASCADE;
CREATE TRIGGER audit_chains_changed BEFORE DELETE OR UPDATE ON audit_chains
  FOR EACH ROW
  EXECUTE FUNCTION guard_audit_chain();
CREATE TRIGGER audit_chains_truncated BEFORE TRUNCATE ON audit_chains
  FOR EACH STATEMENT
  EXECUTE FUNCTION refuse_audit_truncation();

-- Table audit_log

ALTER TABLE audit_log
  ADD CONSTRAINT audit_log_pkey PRIMARY KEY (workspace_id, id),
  ADD CONSTRAINT audit_log_actor_check CHECK ( CASE actor_kind WHEN 'user'::text THEN actor_user_id IS NOT NULL AND actor_key_id IS NULL WHEN 'key'::text THEN actor_key_id IS NOT NULL WHEN 'participant'::text THEN actor_user_id IS NULL AND actor_key_id IS NULL WHEN 'system'::text THEN actor_user_id IS NULL AND actor_key_id IS NULL ELSE false END),
  ADD CONSTRAINT audit_log_actor_salt_check CHECK ((actor_details IS NULL) = (actor_salt IS NULL)),
  ADD CONSTRAINT audit_log_details_salt_check CHECK ((details IS NULL) = (details_salt IS NULL)),
  ADD CONSTRAINT audit_log_hash_check CHECK ((sequence IS NULL) = (hash IS NULL)),
  ADD CONSTRAINT audit_log_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id) ON UPDATE CASCADE ON DELETE CASCADE;
CREATE INDEX audit_log_actor_details ON audit_log USING btree (actor_user_id)
  WHERE actor_user_id IS NOT NULL AND actor_details IS NOT NULL;
CREATE INDEX audit_log_member_details ON audit_log USING btree (target_id)
  WHERE target_kind = 'member'::text AND details IS NOT NULL;
CREATE INDEX audit_log_unnumbered ON audit_log USING btree (workspace_id, id)
  WHERE sequence IS NULL;
CREATE INDEX audit_log_workspace_id_created_at_id_idx ON audit_log USING btree (workspace_id, created_at, id);
CREATE UNIQUE INDEX audit_log_workspace_id_sequence_key ON audit_log USING btree (workspace_id, sequence);
CREATE TRIGGER audit_log_deleted BEFORE DELETE ON audit_log
  FOR EACH ROW
  EXECUTE FUNCTION refuse_audit_deletion();
CREATE TRIGGER audit_log_inserted BEFORE INSERT ON audit_log
  FOR EACH ROW
  EXECUTE FUNCTION hash_audit_details();
CREATE TRIGGER audit_log_truncated BEFORE TRUNCATE ON audit_log
  FOR EACH STATEMENT
  EXECUTE FUNCTION refuse_audit_truncation();
CREATE TRIGGER audit_log_updated BEFORE UPDATE ON audit_log
  FOR EACH ROW
  EXECUTE FUNCTION refuse_audit_change();

-- Table booking_pages

ALTER TABLE booking_pages
  ADD CONSTRAINT booking_pages_pkey PRIMARY KEY (workspace_id, id),
  ADD CONSTRAINT booking_pages_duration_check CHECK (duration >= 5 AND duration <= 480),
  ADD CONSTRAINT booking_pages_reminder_check CHECK (reminder_minutes >= 5 AND reminder_minutes <= 20160),
  ADD CONSTRAINT booking_pages_rules_check CHECK (minimum_notice >= 0 AND minimum_notice <= 43200 AND buffer_before >= 0 AND buffer_before <= 240 AND buffer_after >= 0 AND buffer_after <= 240 AND max_per_day >= 1 AND max_per_day <= 288 AND cardinality(days_off) <= 366),
  ADD CONSTRAINT booking_pages_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON UPDATE CASCADE ON DELETE RESTRICT,
  ADD CONSTRAINT booking_pages_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id) ON UPDATE CASCADE ON DELETE CASCADE;
CREATE UNIQUE INDEX booking_pages_slug_key ON booking_pages USING btree (slug);
CREATE INDEX booking_pages_user_id_idx ON booking_pages USING btree (user_id);
CREATE UNIQUE INDEX booking_pages_workspace_id_id_user_id_key ON booking_pages USING btree (workspace_id, id, user_id);
CREATE TRIGGER booking_pages_removed_subjects AFTER DELETE ON booking_pages REFERENCING OLD TABLE AS removed
  FOR EACH STATEMENT
  EXECUTE FUNCTION forget_removed_subjects('booking');

-- Table bookings

ALTER TABLE bookings
  ADD CONSTRAINT bookings_pkey PRIMARY KEY (workspace_id, id),
  ADD CONSTRAINT bookings_buffers_check CHECK (buffer_before >= 0 AND buffer_before <= 240 AND buffer_after >= 0 AND buffer_after <= 240),
  ADD CONSTRAINT bookings_confirm_check CHECK (confirm_by IS NULL OR confirm_hash IS NOT NULL OR is_waiting),
  ADD CONSTRAINT bookings_end_check CHECK (ends_at < '9999-01-01 00:00:00+00'::timestamp with time zone),
  ADD CONSTRAINT bookings_sequence_check CHECK (sequence >= 0),
  ADD CONSTRAINT bookings_times_check CHECK (ends_at > starts_at),
  ADD CONSTRAINT bookings_one_calendar EXCLUDE USING gist (int8range(user_id::bigint, user_id::bigint, '[]'::text) WITH &&, tstzrange(starts_at, ends_at) WITH &&, ( CASE WHEN may_overlap THEN int8range(id::bigint, id::bigint, '[]'::text) ELSE int8range(NULL::bigint, NULL::bigint) END) WITH &&) WHERE (cancelled_at IS NULL AND (confirm_by IS NULL OR NOT is_waiting)),
  ADD CONSTRAINT bookings_workspace_id_booking_page_id_user_id_fkey FOREIGN KEY (workspace_id, booking_page_id, user_id) REFERENCES booking_pages(workspace_id, id, user_id) ON UPDATE CASCADE ON DELETE CASCADE,
  ADD CONSTRAINT bookings_workspace_id_room_id_fkey FOREIGN KEY (workspace_id, room_id) REFERENCES rooms(workspace_id, id) ON DELETE SET NULL (room_id);
CREATE UNIQUE INDEX bookings_confirm_hash_key ON bookings USING btree (confirm_hash);
CREATE INDEX bookings_reminders ON bookings USING btree (reminder_at)
  WHERE reminder_at IS NOT NULL AND cancelled_at IS NULL;
CREATE UNIQUE INDEX bookings_token_hash_key ON bookings USING btree (token_hash);
CREATE INDEX bookings_unconfirmed ON bookings USING btree (user_id, confirm_by)
  WHERE confirm_by IS NOT NULL;
CREATE INDEX bookings_user_id_created_at_idx ON bookings USING btree (user_id, created_at);
CREATE INDEX bookings_user_id_starts_at_idx ON bookings USING btree (user_id, starts_at);
CREATE INDEX bookings_waiting ON bookings USING btree (user_id, created_at)
  WHERE is_waiting AND confirm_by IS NOT NULL AND cancelled_at IS NULL;
CREATE INDEX bookings_workspace_id_booking_page_id_starts_at_idx ON bookings USING btree (workspace_id, booking_page_id, starts_at);
CREATE INDEX bookings_workspace_id_room_id_idx ON bookings USING btree (workspace_id, room_id);
CREATE INDEX bookings_workspace_id_starts_at_id_idx ON bookings USING btree (workspace_id, starts_at, id);

-- Table calendar_feeds

ALTER TABLE calendar_feeds
  ADD CONSTRAINT calendar_feeds_pkey PRIMARY KEY (user_id),
  ADD CONSTRAINT calendar_feeds_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON UPDATE CASCADE ON DELETE CASCADE;
CREATE UNIQUE INDEX calendar_feeds_token_hash_key ON calendar_feeds USING btree (token_hash);

-- Table contact_days

ALTER TABLE contact_days
  ADD CONSTRAINT contact_days_pkey PRIMARY KEY (workspace_id, day),
  ADD CONSTRAINT contact_days_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id) ON UPDATE CASCADE ON DELETE CASCADE;

-- Table contact_event_days

ALTER TABLE contact_event_days
  ADD CONSTRAINT contact_event_days_pkey PRIMARY KEY (workspace_id, day, type),
  ADD CONSTRAINT contact_event_days_count_check CHECK (count >= 0),
  ADD CONSTRAINT contact_event_days_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id) ON UPDATE CASCADE ON DELETE CASCADE;

-- Table contact_event_subjects

ALTER TABLE contact_event_subjects
  ADD CONSTRAINT contact_event_subjects_pkey PRIMARY KEY (workspace_id, type, subject_id),
  ADD CONSTRAINT contact_event_subjects_count_check CHECK (count >= 0),
  ADD CONSTRAINT contact_event_subjects_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id) ON UPDATE CASCADE ON DELETE CASCADE;
CREATE INDEX contact_event_subjects_workspace_id_type_count_subject_id_idx ON contact_event_subjects USING btree (workspace_id, type, count DESC, subject_id);

-- Table contact_events

ALTER TABLE contact_events
  ADD CONSTRAINT contact_events_pkey PRIMARY KEY (workspace_id, id),
  ADD CONSTRAINT contact_events_type_check CHECK (type ~ '^[a-z][a-z0-9_]{0,63}$'::text),
  ADD CONSTRAINT contact_events_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id) ON UPDATE CASCADE ON DELETE CASCADE;
CREATE INDEX contact_events_workspace_id_contact_id_created_at_idx ON contact_events USING btree (workspace_id, contact_id, created_at);
CREATE INDEX contact_events_workspace_id_created_at_id_idx ON contact_events USING btree (workspace_id, created_at, id);
CREATE TRIGGER contact_events_added AFTER INSERT ON contact_events REFERENCING NEW TABLE AS added
  FOR EACH STATEMENT
  EXECUTE FUNCTION sum_added_contact_events();
CREATE TRIGGER contact_events_kept BEFORE DELETE ON contact_events
  FOR EACH STATEMENT
  WHEN (pg_trigger_depth() = 0 AND current_setting('lynxroom.keeps_sums'::text, true) IS DISTINCT FROM 'on'::text)
  EXECUTE FUNCTION refuse_changed_counts();
CREATE TRIGGER contact_events_unchanged BEFORE UPDATE ON contact_events
  FOR EACH STATEMENT
  EXECUTE FUNCTION refuse_changed_counts();

-- Table contacts

ALTER TABLE contacts
  ADD CONSTRAINT contacts_pkey PRIMARY KEY (workspace_id, id),
  ADD CONSTRAINT contacts_email_check CHECK (email = lower(email) AND email <> ''::text),
  ADD CONSTRAINT contacts_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id) ON UPDATE CASCADE ON DELETE CASCADE;
CREATE INDEX contacts_search ON contacts USING gin ((workspace_id::bigint), ((name || '
'::text) || email) gin_trgm_ops);
CREATE INDEX contacts_workspace_id_created_at_id_idx ON contacts USING btree (workspace_id, created_at, id);
CREATE UNIQUE INDEX contacts_workspace_id_email_key ON contacts USING btree (workspace_id, email);
CREATE TRIGGER contacts_added AFTER INSERT ON contacts REFERENCING NEW TABLE AS added
  FOR EACH STATEMENT
  EXECUTE FUNCTION sum_added_contacts();
CREATE TRIGGER contacts_removed AFTER DELETE ON contacts REFERENCING OLD TABLE AS removed
  FOR EACH STATEMENT
  WHEN (pg_trigger_depth() = 0)
  EXECUTE FUNCTION sum_removed_contacts();
CREATE TRIGGER contacts_unmoved BEFORE UPDATE OF workspace_id, created_at ON contacts
  FOR EACH STATEMENT
  EXECUTE FUNCTION refuse_changed_counts();

-- Table counter_changes

ALTER TABLE counter_changes SET (autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=5000, autovacuum_vacuum_insert_scale_factor=0, autovacuum_vacuum_insert_threshold=5000, autovacuum_vacuum_cost_delay=0);
ALTER TABLE counter_changes
  ADD CONSTRAINT counter_changes_pkey PRIMARY KEY (workspace_id, id),
  ADD CONSTRAINT counter_changes_counter_check CHECK ( CASE counter WHEN 'rooms'::text THEN num_nonnulls(day, type, subject_id) = 0 WHEN 'contacts'::text THEN day IS NOT NULL AND num_nonnulls(type, subject_id) = 0 WHEN 'contact_events'::text THEN num_nonnulls(day, type) = 2 ELSE false END);

-- Table created_store_ids

ALTER TABLE created_store_ids
  ADD CONSTRAINT created_store_ids_pkey PRIMARY KEY (store);

-- Table discarded_objects

ALTER TABLE discarded_objects
  ADD CONSTRAINT discarded_objects_pkey PRIMARY KEY (key);

-- Table embed_tokens

ALTER TABLE embed_tokens
  ADD CONSTRAINT embed_tokens_pkey PRIMARY KEY (workspace_id, id),
  ADD CONSTRAINT embed_tokens_access_check CHECK ( CASE kind WHEN 'library'::text THEN access IS NOT NULL AND (access = ANY (ARRAY['read'::text, 'upload'::text])) ELSE access IS NULL END),
  ADD CONSTRAINT embed_tokens_expiry_check CHECK (expires_at <= (created_at + '1 day'::interval)),
  ADD CONSTRAINT embed_tokens_kind_check CHECK (kind = ANY (ARRAY['library'::text, 'webhooks'::text])),
  ADD CONSTRAINT embed_tokens_label_check CHECK (label_id IS NULL OR kind = 'library'::text),
  ADD CONSTRAINT embed_tokens_maker_check CHECK (num_nonnulls(key_id, grant_id) <= 1),
  ADD CONSTRAINT embed_tokens_created_by_fkey FOREIGN KEY (created_by) REFERENCES users(id) ON UPDATE CASCADE ON DELETE CASCADE,
  ADD CONSTRAINT embed_tokens_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id) ON UPDATE CASCADE ON DELETE CASCADE,
  ADD CONSTRAINT embed_tokens_workspace_id_label_id_fkey FOREIGN KEY (workspace_id, label_id) REFERENCES labels(workspace_id, id) ON UPDATE CASCADE ON DELETE CASCADE;
CREATE INDEX embed_tokens_created_by_idx ON embed_tokens USING btree (created_by);
CREATE INDEX embed_tokens_expires_at_idx ON embed_tokens USING btree (expires_at);
CREATE UNIQUE INDEX embed_tokens_token_hash_key ON embed_tokens USING btree (token_hash);
CREATE INDEX embed_tokens_workspace_id_label_id_idx ON embed_tokens USING btree (workspace_id, label_id);

-- Table events

ALTER TABLE events
  ADD CONSTRAINT events_pkey PRIMARY KEY (workspace_id, id),
  ADD CONSTRAINT events_sequence_check CHECK ((relayed_at IS NULL) = (sequence IS NULL)),
  ADD CONSTRAINT events_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id) ON UPDATE CASCADE ON DELETE CASCADE;
CREATE INDEX events_unrelayed ON events USING btree (id)
  WHERE relayed_at IS NULL;
CREATE UNIQUE INDEX events_workspace_id_sequence_key ON events USING btree (workspace_id, sequence)
  WHERE sequence IS NOT NULL;

-- Table idempotency_keys

ALTER TABLE idempotency_keys
  ADD CONSTRAINT idempotency_keys_pkey PRIMARY KEY (caller, key),
  ADD CONSTRAINT idempotency_keys_answer_check CHECK (is_executed OR answer IS NULL),
  ADD CONSTRAINT idempotency_keys_key_check CHECK (key ~ '^[!-~]{1,255}$'::text),
  ADD CONSTRAINT idempotency_keys_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON UPDATE CASCADE ON DELETE CASCADE,
  ADD CONSTRAINT idempotency_keys_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id) ON UPDATE CASCADE ON DELETE CASCADE;
CREATE INDEX idempotency_keys_created_at_idx ON idempotency_keys USING btree (created_at);
CREATE INDEX idempotency_keys_user_id_idx ON idempotency_keys USING btree (user_id);
CREATE INDEX idempotency_keys_workspace_id_idx ON idempotency_keys USING btree (workspace_id);

-- Table ingest_events

ALTER TABLE ingest_events
  ADD CONSTRAINT ingest_events_pkey PRIMARY KEY (workspace_id, connection_id, dedupe_key),
  ADD CONSTRAINT ingest_events_workspace_id_connection_id_fkey FOREIGN KEY (workspace_id, connection_id) REFERENCES meeting_connections(workspace_id, id) ON UPDATE CASCADE ON DELETE CASCADE;
CREATE INDEX ingest_events_received_at ON ingest_events USING brin (received_at);
CREATE INDEX ingest_events_unapplied ON ingest_events USING btree (tried_at NULLS FIRST, received_at)
  WHERE applied_at IS NULL;

-- Table invitations

ALTER TABLE invitations
  ADD CONSTRAINT invitations_pkey PRIMARY KEY (workspace_id, id),
  ADD CONSTRAINT invitations_role_check CHECK (role = ANY (ARRAY['admin'::text, 'member'::text])),
  ADD CONSTRAINT invitations_state_check CHECK ((state = ANY (ARRAY['pending'::text, 'accepted'::text, 'revoked'::text])) AND (ended_at IS NULL) = (state = 'pending'::text)),
  ADD CONSTRAINT invitations_token_check CHECK ((token_hash IS NULL) = (state <> 'pending'::text)),
  ADD CONSTRAINT invitations_accepted_by_fkey FOREIGN KEY (accepted_by) REFERENCES users(id) ON UPDATE CASCADE ON DELETE SET NULL,
  ADD CONSTRAINT invitations_invited_by_fkey FOREIGN KEY (invited_by) REFERENCES users(id) ON UPDATE CASCADE ON DELETE SET NULL,
  ADD CONSTRAINT invitations_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id) ON UPDATE CASCADE ON DELETE CASCADE;
CREATE INDEX invitations_accepted_by_idx ON invitations USING btree (accepted_by);
CREATE INDEX invitations_expires_at_idx ON invitations USING btree (expires_at);
CREATE INDEX invitations_invited_by_sent_at_idx ON invitations USING btree (invited_by, sent_at);
CREATE UNIQUE INDEX invitations_pending ON invitations USING btree (workspace_id, email)
  WHERE state = 'pending'::text;
CREATE UNIQUE INDEX invitations_token_hash_key ON invitations USING btree (token_hash);
CREATE INDEX invitations_workspace_id_created_at_id_idx ON invitations USING btree (workspace_id, created_at, id);
CREATE INDEX invitations_workspace_id_sent_at_idx ON invitations USING btree (workspace_id, sent_at);

-- Table item_labels

ALTER TABLE item_labels
  ADD CONSTRAINT item_labels_pkey PRIMARY KEY (workspace_id, item_id, label_id),
  ADD CONSTRAINT item_labels_workspace_id_item_id_fkey FOREIGN KEY (workspace_id, item_id) REFERENCES library_items(workspace_id, id) ON UPDATE CASCADE ON DELETE CASCADE,
  ADD CONSTRAINT item_labels_workspace_id_label_id_fkey FOREIGN KEY (workspace_id, label_id) REFERENCES labels(workspace_id, id) ON UPDATE CASCADE ON DELETE CASCADE;
CREATE INDEX item_labels_workspace_id_label_id_item_id_idx ON item_labels USING btree (workspace_id, label_id, item_id);

-- Table known_devices

ALTER TABLE known_devices
  ADD CONSTRAINT known_devices_pkey PRIMARY KEY (user_id, device_hash),
  ADD CONSTRAINT known_devices_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON UPDATE CASCADE ON DELETE CASCADE;
CREATE INDEX known_devices_last_seen_at_idx ON known_devices USING btree (last_seen_at);

-- Table labels

ALTER TABLE labels
  ADD CONSTRAINT labels_pkey PRIMARY KEY (workspace_id, id),
  ADD CONSTRAINT labels_created_by_fkey FOREIGN KEY (created_by) REFERENCES users(id) ON UPDATE CASCADE ON DELETE SET NULL,
  ADD CONSTRAINT labels_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id) ON UPDATE CASCADE ON DELETE CASCADE;
CREATE INDEX labels_created_by_idx ON labels USING btree (created_by);
CREATE UNIQUE INDEX labels_workspace_id_name_key ON labels USING btree (workspace_id, name);

-- Table library_items

ALTER TABLE library_items ALTER COLUMN search_name ADD GENERATED ALWAYS AS (lower(name)) STORED;
ALTER TABLE library_items
  ADD CONSTRAINT library_items_pkey PRIMARY KEY (workspace_id, id),
  ADD CONSTRAINT library_items_duration_check CHECK (duration >= 0),
  ADD CONSTRAINT library_items_mime_type_check CHECK (mime_type = ANY (ARRAY['application/pdf'::text, 'video/mp4'::text])),
  ADD CONSTRAINT library_items_size_check CHECK (size >= 0),
  ADD CONSTRAINT library_items_uploaded_by_fkey FOREIGN KEY (uploaded_by) REFERENCES users(id) ON UPDATE CASCADE ON DELETE SET NULL,
  ADD CONSTRAINT library_items_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id) ON UPDATE CASCADE ON DELETE CASCADE;
CREATE INDEX library_items_file_key_idx ON library_items USING btree (file_key COLLATE "C");
CREATE INDEX library_items_poster_key_idx ON library_items USING btree (poster_key COLLATE "C")
  WHERE poster_key IS NOT NULL;
CREATE INDEX library_items_search ON library_items USING gin ((workspace_id::bigint), name gin_trgm_ops);
CREATE INDEX library_items_uploaded_by_idx ON library_items USING btree (uploaded_by);
CREATE INDEX library_items_workspace_id_created_at_id_search_name_idx ON library_items USING btree (workspace_id, created_at, id, search_name);
CREATE INDEX library_items_workspace_id_lower_name_idx ON library_items USING btree (workspace_id, lower(name), id);
CREATE INDEX library_items_workspace_id_size_id_idx ON library_items USING btree (workspace_id, size, id);
CREATE TRIGGER library_items_added AFTER INSERT ON library_items REFERENCING NEW TABLE AS added
  FOR EACH STATEMENT
  EXECUTE FUNCTION count_added_library_items();
CREATE TRIGGER library_items_poster_changed AFTER UPDATE OF poster_key ON library_items
  FOR EACH ROW
  WHEN (old.poster_key IS DISTINCT FROM new.poster_key AND old.poster_key IS NOT NULL)
  EXECUTE FUNCTION discard_poster();
CREATE TRIGGER library_items_poster_removed AFTER DELETE ON library_items
  FOR EACH ROW
  WHEN (old.poster_key IS NOT NULL)
  EXECUTE FUNCTION discard_poster();
CREATE TRIGGER library_items_removed AFTER DELETE ON library_items REFERENCING OLD TABLE AS removed
  FOR EACH STATEMENT
  EXECUTE FUNCTION settle_removed_library_items();

-- Table livekit_egresses

ALTER TABLE livekit_egresses
  ADD CONSTRAINT livekit_egresses_pkey PRIMARY KEY (workspace_id, recording_id),
  ADD CONSTRAINT livekit_egresses_step_check CHECK (step = ANY (ARRAY['call'::text, 'store'::text]));
CREATE INDEX livekit_egresses_next_attempt_at_idx ON livekit_egresses USING btree (next_attempt_at);

-- Table livekit_rooms

ALTER TABLE livekit_rooms
  ADD CONSTRAINT livekit_rooms_pkey PRIMARY KEY (workspace_id, room_id, is_own, origin),
  ADD CONSTRAINT livekit_rooms_own_check CHECK (is_own = (sealed_credentials IS NOT NULL));
CREATE INDEX livekit_rooms_next_attempt_at_idx ON livekit_rooms USING btree (next_attempt_at);

-- Table mail_messages

ALTER TABLE mail_messages
  ADD CONSTRAINT mail_messages_pkey PRIMARY KEY (id),
  ADD CONSTRAINT mail_messages_data_check CHECK ((data IS NOT NULL) = (state = ANY (ARRAY['queued'::text, 'kept'::text]))),
  ADD CONSTRAINT mail_messages_state_check CHECK ((state = ANY (ARRAY['queued'::text, 'sent'::text, 'kept'::text, 'failed'::text, 'dropped'::text])) AND (ended_at IS NULL) = (state = 'queued'::text));
CREATE UNIQUE INDEX mail_messages_dedupe_key_key ON mail_messages USING btree (dedupe_key);
CREATE INDEX mail_messages_ended_at_idx ON mail_messages USING btree (ended_at);
CREATE INDEX mail_messages_invitations_idx ON mail_messages USING btree (workspace_id)
  WHERE kind = 'workspace-invitation'::text;
CREATE INDEX mail_messages_kind_queue_idx ON mail_messages USING btree (kind, due_at, id)
  WHERE state = 'queued'::text;
CREATE INDEX mail_messages_mailbox_kind_created_at_idx ON mail_messages USING btree (mailbox, kind, created_at);
CREATE UNIQUE INDEX mail_messages_message_id_key ON mail_messages USING btree (message_id);
CREATE INDEX mail_messages_sender_id_idx ON mail_messages USING btree (sender_id)
  WHERE sender_id IS NOT NULL;
CREATE INDEX mail_messages_to_address_kind_created_at_idx ON mail_messages USING btree (to_address, kind, created_at);
CREATE INDEX mail_messages_unended_idx ON mail_messages USING btree (id)
  WHERE ended_at IS NULL;

-- Table media_jobs

ALTER TABLE media_jobs
  ADD CONSTRAINT media_jobs_pkey PRIMARY KEY (workspace_id, id),
  ADD CONSTRAINT media_jobs_file_check CHECK (num_nonnulls(item_id, recording_id) = 1),
  ADD CONSTRAINT media_jobs_workspace_id_item_id_fkey FOREIGN KEY (workspace_id, item_id) REFERENCES library_items(workspace_id, id) ON UPDATE CASCADE ON DELETE CASCADE,
  ADD CONSTRAINT media_jobs_workspace_id_recording_id_fkey FOREIGN KEY (workspace_id, recording_id) REFERENCES recordings(workspace_id, id) ON UPDATE CASCADE ON DELETE CASCADE;
CREATE INDEX media_jobs_next_attempt_at_idx ON media_jobs USING btree (next_attempt_at);
CREATE UNIQUE INDEX media_jobs_workspace_id_item_id_key ON media_jobs USING btree (workspace_id, item_id);
CREATE UNIQUE INDEX media_jobs_workspace_id_recording_id_key ON media_jobs USING btree (workspace_id, recording_id);
CREATE TRIGGER media_jobs_removed AFTER DELETE ON media_jobs REFERENCING OLD TABLE AS removed
  FOR EACH STATEMENT
  EXECUTE FUNCTION settle_removed_media_jobs();

-- Table meeting_connections

ALTER TABLE meeting_connections
  ADD CONSTRAINT meeting_connections_pkey PRIMARY KEY (workspace_id, id),
  ADD CONSTRAINT meeting_connections_media_origin_check CHECK (media_origin IS NULL OR provider = 'livekit'::text AND media_origin ~ '^https?://[^/?#@]+$'::text),
  ADD CONSTRAINT meeting_connections_provider_check CHECK (provider = ANY (ARRAY['vonage'::text, 'livekit'::text, 'generic'::text])),
  ADD CONSTRAINT meeting_connections_created_by_fkey FOREIGN KEY (created_by) REFERENCES users(id) ON UPDATE CASCADE ON DELETE SET NULL,
  ADD CONSTRAINT meeting_connections_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id) ON UPDATE CASCADE ON DELETE CASCADE;
CREATE INDEX meeting_connections_created_by_idx ON meeting_connections USING btree (created_by);
CREATE UNIQUE INDEX meeting_connections_ingest_id_key ON meeting_connections USING btree (ingest_id);
CREATE UNIQUE INDEX meeting_connections_media ON meeting_connections USING btree (workspace_id)
  WHERE media_origin IS NOT NULL;

-- Table meeting_ends

ALTER TABLE meeting_ends
  ADD CONSTRAINT meeting_ends_pkey PRIMARY KEY (workspace_id, connection_id, meeting),
  ADD CONSTRAINT meeting_ends_workspace_id_connection_id_fkey FOREIGN KEY (workspace_id, connection_id) REFERENCES meeting_connections(workspace_id, id) ON UPDATE CASCADE ON DELETE CASCADE;
CREATE INDEX meeting_ends_ended_at_idx ON meeting_ends USING btree (ended_at);

-- Table meeting_pages

ALTER TABLE meeting_pages
  ADD CONSTRAINT meeting_pages_pkey PRIMARY KEY (workspace_id, participant_id, connection_id),
  ADD CONSTRAINT meeting_pages_seat_check CHECK (seated_at IS NULL OR replaced_at IS NULL),
  ADD CONSTRAINT meeting_pages_workspace_id_participant_id_fkey FOREIGN KEY (workspace_id, participant_id) REFERENCES participants(workspace_id, id) ON UPDATE CASCADE ON DELETE CASCADE;
CREATE UNIQUE INDEX meeting_pages_one_current ON meeting_pages USING btree (workspace_id, participant_id)
  WHERE replaced_at IS NULL;
CREATE INDEX meeting_pages_seated ON meeting_pages USING btree (expires_at)
  WHERE seated_at IS NOT NULL;
CREATE INDEX meeting_pages_workspace_id_room_id_idx ON meeting_pages USING btree (workspace_id, room_id);
CREATE TRIGGER meeting_pages_changed AFTER UPDATE ON meeting_pages
  FOR EACH ROW
  WHEN (old.seated_at IS DISTINCT FROM new.seated_at OR old.replaced_at IS DISTINCT FROM new.replaced_at OR old.microphone IS DISTINCT FROM new.microphone OR old.camera IS DISTINCT FROM new.camera OR old.screen IS DISTINCT FROM new.screen)
  EXECUTE FUNCTION notify_meeting_page();
CREATE TRIGGER meeting_pages_opened AFTER INSERT OR DELETE ON meeting_pages
  FOR EACH ROW
  EXECUTE FUNCTION notify_meeting_page();
CREATE TRIGGER meeting_pages_replaced_watch_livekit AFTER UPDATE ON meeting_pages
  FOR EACH ROW
  WHEN (old.replaced_at IS NULL AND new.replaced_at IS NOT NULL)
  EXECUTE FUNCTION watch_room_of_page();

-- Table meeting_signals

ALTER TABLE meeting_signals
  ADD CONSTRAINT meeting_signals_pkey PRIMARY KEY (workspace_id, id),
  ADD CONSTRAINT meeting_signals_kind_check CHECK (kind = ANY (ARRAY['signal'::text, 'mute'::text])),
  ADD CONSTRAINT meeting_signals_workspace_id_participant_id_connection_id_fkey FOREIGN KEY (workspace_id, participant_id, connection_id) REFERENCES meeting_pages(workspace_id, participant_id, connection_id) ON UPDATE CASCADE ON DELETE CASCADE;
CREATE INDEX meeting_signals_created_at_idx ON meeting_signals USING btree (created_at);
CREATE INDEX meeting_signals_workspace_id_participant_id_connection_id_i_idx ON meeting_signals USING btree (workspace_id, participant_id, connection_id, id);
CREATE TRIGGER meeting_signals_sent AFTER INSERT ON meeting_signals
  FOR EACH ROW
  EXECUTE FUNCTION notify_meeting_signal();

-- Table members

ALTER TABLE members
  ADD CONSTRAINT members_pkey PRIMARY KEY (workspace_id, user_id),
  ADD CONSTRAINT members_role_check CHECK (role = ANY (ARRAY['owner'::text, 'admin'::text, 'member'::text])),
  ADD CONSTRAINT members_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON UPDATE CASCADE ON DELETE CASCADE,
  ADD CONSTRAINT members_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id) ON UPDATE CASCADE ON DELETE CASCADE;
CREATE UNIQUE INDEX members_one_owner ON members USING btree (workspace_id)
  WHERE role = 'owner'::text;
CREATE INDEX members_user_id_idx ON members USING btree (user_id);
CREATE TRIGGER members_access_changed AFTER UPDATE ON members
  FOR EACH ROW
  WHEN (old.role IS DISTINCT FROM new.role)
  EXECUTE FUNCTION notify_access('user', 'user_id');
CREATE TRIGGER members_access_ended AFTER DELETE ON members
  FOR EACH ROW
  EXECUTE FUNCTION notify_access('user', 'user_id');

-- Table oauth_clients

ALTER TABLE oauth_clients
  ADD CONSTRAINT oauth_clients_pkey PRIMARY KEY (id),
  ADD CONSTRAINT oauth_clients_redirect_uris_check CHECK (redirect_uris IS NOT NULL AND cardinality(redirect_uris) > 0);
CREATE INDEX oauth_clients_created_at_idx ON oauth_clients USING btree (created_at);
CREATE INDEX oauth_clients_network_idx ON oauth_clients USING btree (network);

-- Table oauth_grants

ALTER TABLE oauth_grants
  ADD CONSTRAINT oauth_grants_pkey PRIMARY KEY (id),
  ADD CONSTRAINT oauth_grants_scopes_check CHECK (scopes IS NOT NULL AND cardinality(scopes) > 0),
  ADD CONSTRAINT oauth_grants_client_id_fkey FOREIGN KEY (client_id) REFERENCES oauth_clients(id) ON UPDATE CASCADE ON DELETE RESTRICT,
  ADD CONSTRAINT oauth_grants_workspace_id_user_id_fkey FOREIGN KEY (workspace_id, user_id) REFERENCES members(workspace_id, user_id) ON UPDATE CASCADE ON DELETE CASCADE;
CREATE INDEX oauth_grants_client_id_idx ON oauth_grants USING btree (client_id);
CREATE UNIQUE INDEX oauth_grants_code_hash_key ON oauth_grants USING btree (code_hash);
CREATE INDEX oauth_grants_expires_at_idx ON oauth_grants USING btree (expires_at);
CREATE INDEX oauth_grants_user_id_idx ON oauth_grants USING btree (user_id);
CREATE INDEX oauth_grants_workspace_id_user_id_idx ON oauth_grants USING btree (workspace_id, user_id);

-- Table oauth_tokens

ALTER TABLE oauth_tokens
  ADD CONSTRAINT oauth_tokens_pkey PRIMARY KEY (refresh_hash),
  ADD CONSTRAINT oauth_tokens_grant_id_fkey FOREIGN KEY (grant_id) REFERENCES oauth_grants(id) ON UPDATE CASCADE ON DELETE CASCADE;
CREATE UNIQUE INDEX oauth_tokens_access_hash_key ON oauth_tokens USING btree (access_hash);
CREATE INDEX oauth_tokens_grant_id_idx ON oauth_tokens USING btree (grant_id);

-- Table object_store_id

ALTER TABLE object_store_id
  ADD CONSTRAINT object_store_id_pkey PRIMARY KEY (is_only),
  ADD CONSTRAINT object_store_id_is_only CHECK (is_only);

-- Table openid_identities

ALTER TABLE openid_identities
  ADD CONSTRAINT openid_identities_pkey PRIMARY KEY (id),
  ADD CONSTRAINT openid_identities_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON UPDATE CASCADE ON DELETE CASCADE;
CREATE UNIQUE INDEX openid_identities_issuer_subject_key ON openid_identities USING btree (issuer, subject);
CREATE INDEX openid_identities_user_id_idx ON openid_identities USING btree (user_id);

-- Table openid_requests

ALTER TABLE openid_requests
  ADD CONSTRAINT openid_requests_pkey PRIMARY KEY (state_hash),
  ADD CONSTRAINT openid_requests_purpose_check CHECK (purpose = ANY (ARRAY['sign_in'::text, 'link'::text, 'reauthenticate'::text])),
  ADD CONSTRAINT openid_requests_session_check CHECK ((purpose = 'sign_in'::text) = (session_id IS NULL)),
  ADD CONSTRAINT openid_requests_session_id_fkey FOREIGN KEY (session_id) REFERENCES sessions(id) ON UPDATE CASCADE ON DELETE CASCADE;
CREATE INDEX openid_requests_expires_at_idx ON openid_requests USING btree (expires_at);
CREATE INDEX openid_requests_session_id_idx ON openid_requests USING btree (session_id);

-- Table participant_connections

ALTER TABLE participant_connections
  ADD CONSTRAINT participant_connections_pkey PRIMARY KEY (workspace_id, id),
  ADD CONSTRAINT participant_connections_workspace_id_participant_id_fkey FOREIGN KEY (workspace_id, participant_id) REFERENCES participants(workspace_id, id) ON UPDATE CASCADE ON DELETE CASCADE;
CREATE UNIQUE INDEX participant_connections_workspace_id_connection_id_meeting__key ON participant_connections USING btree (workspace_id, connection_id, meeting, reference);
CREATE INDEX participant_connections_workspace_id_participant_id_idx ON participant_connections USING btree (workspace_id, participant_id);

-- Table participants

ALTER TABLE participants
  ADD CONSTRAINT participants_pkey PRIMARY KEY (workspace_id, id),
  ADD CONSTRAINT participants_end_reason_check CHECK (end_reason = ANY (ARRAY['removed'::text, 'closed'::text])) NOT VALID,
  ADD CONSTRAINT participants_ended_check CHECK (end_reason IS NULL OR (status = ANY (ARRAY['left'::text, 'refused'::text]))) NOT VALID,
  ADD CONSTRAINT participants_joined_check CHECK (status <> 'joined'::text OR joined_at IS NOT NULL),
  ADD CONSTRAINT participants_left_check CHECK ((status = 'left'::text) = (left_at IS NOT NULL)),
  ADD CONSTRAINT participants_reference_check CHECK (num_nulls(connection_id, meeting, participant_reference) = ANY (ARRAY[0, 3])),
  ADD CONSTRAINT participants_status_check CHECK (status = ANY (ARRAY['waiting'::text, 'joined'::text, 'refused'::text, 'left'::text])),
  ADD CONSTRAINT participants_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON UPDATE CASCADE ON DELETE SET NULL,
  ADD CONSTRAINT participants_workspace_id_room_id_fkey FOREIGN KEY (workspace_id, room_id) REFERENCES rooms(workspace_id, id) ON UPDATE CASCADE ON DELETE CASCADE;
CREATE INDEX participants_barred ON participants USING btree (workspace_id, room_id)
  WHERE barred_until IS NOT NULL;
CREATE INDEX participants_beginnings ON participants USING btree (workspace_id, joined_at, id)
  WHERE begins_meeting;
CREATE INDEX participants_beginnings_of_room ON participants USING btree (workspace_id, room_id, joined_at, id)
  WHERE begins_meeting;
CREATE INDEX participants_by_joined_at ON participants USING btree (workspace_id, joined_at, id)
  WHERE joined_at IS NOT NULL;
CREATE INDEX participants_joined ON participants USING btree (workspace_id, room_id)
  WHERE status = 'joined'::text;
CREATE INDEX participants_later_visits ON participants USING btree (workspace_id, first_visit_id)
  WHERE first_visit_id IS NOT NULL;
CREATE INDEX participants_of_room_by_joined_at ON participants USING btree (workspace_id, room_id, joined_at, id)
  WHERE joined_at IS NOT NULL;
CREATE INDEX participants_of_room_by_left_at ON participants USING btree (workspace_id, room_id, left_at)
  WHERE joined_at IS NOT NULL AND left_at IS NOT NULL;
CREATE UNIQUE INDEX participants_one_present ON participants USING btree (workspace_id, room_id, user_id)
  WHERE (status = ANY (ARRAY['waiting'::text, 'joined'::text])) AND sealed_token IS NOT NULL;
CREATE UNIQUE INDEX participants_one_present_of_pass ON participants USING btree (workspace_id, pass_id)
  WHERE pass_id IS NOT NULL AND (status = ANY (ARRAY['waiting'::text, 'joined'::text]));
CREATE INDEX participants_present ON participants USING btree (last_seen_at)
  WHERE status = ANY (ARRAY['waiting'::text, 'joined'::text]);
CREATE INDEX participants_spans ON participants USING gist (visit_span(room_id, joined_at, left_at))
  WHERE joined_at IS NOT NULL AND left_at IS NOT NULL;
CREATE UNIQUE INDEX participants_token_hash_key ON participants USING btree (token_hash);
CREATE INDEX participants_user_id_workspace_id_joined_at_id_idx ON participants USING btree (user_id, workspace_id, joined_at, id);
CREATE INDEX participants_waiting ON participants USING btree (workspace_id, created_at, id)
  WHERE status = 'waiting'::text;
CREATE UNIQUE INDEX participants_workspace_id_connection_id_meeting_participant_key ON participants USING btree (workspace_id, connection_id, meeting, participant_reference);
CREATE INDEX participants_workspace_id_room_id_created_at_id_idx ON participants USING btree (workspace_id, room_id, created_at, id);
CREATE TRIGGER participants_beginning BEFORE INSERT OR UPDATE OF joined_at ON participants
  FOR EACH ROW
  WHEN (new.joined_at IS NOT NULL)
  EXECUTE FUNCTION mark_beginning();
CREATE TRIGGER participants_deleted_marks AFTER DELETE ON participants REFERENCING OLD TABLE AS gone
  FOR EACH STATEMENT
  EXECUTE FUNCTION mark_visits_after_deleted();
CREATE TRIGGER participants_deleted_watch_livekit AFTER DELETE ON participants
  FOR EACH ROW
  WHEN (old.status = 'joined'::text)
  EXECUTE FUNCTION watch_room_of_participant();
CREATE TRIGGER participants_ended_watch_livekit AFTER UPDATE ON participants
  FOR EACH ROW
  WHEN (old.status = 'joined'::text AND new.status <> 'joined'::text OR old.end_reason IS DISTINCT FROM new.end_reason AND new.end_reason IS NOT NULL)
  EXECUTE FUNCTION watch_room_of_participant();
CREATE TRIGGER participants_first_connection AFTER INSERT OR UPDATE OF participant_reference ON participants
  FOR EACH ROW
  WHEN (new.participant_reference IS NOT NULL)
  EXECUTE FUNCTION add_first_connection();
CREATE TRIGGER participants_later_marks AFTER INSERT OR UPDATE OF joined_at, left_at ON participants
  FOR EACH ROW
  WHEN (new.joined_at IS NOT NULL)
  EXECUTE FUNCTION mark_later_visits();
CREATE TRIGGER participants_left_room AFTER UPDATE ON participants
  FOR EACH ROW
  WHEN (old.status = 'joined'::text AND new.status <> 'joined'::text AND new.end_reason IS DISTINCT FROM 'closed'::text)
  EXECUTE FUNCTION end_recordings_of_empty_room();
CREATE TRIGGER participants_meeting_changed AFTER UPDATE ON participants
  FOR EACH ROW
  WHEN ((old.status IS DISTINCT FROM new.status OR old.name IS DISTINCT FROM new.name) AND (old.status = 'joined'::text OR new.status = 'joined'::text))
  EXECUTE FUNCTION notify_meeting_participant();
CREATE TRIGGER participants_meeting_joined AFTER INSERT ON participants
  FOR EACH ROW
  WHEN (new.status = 'joined'::text)
  EXECUTE FUNCTION notify_meeting_participant();
CREATE TRIGGER participants_status_changed AFTER UPDATE ON participants
  FOR EACH ROW
  WHEN (old.status IS DISTINCT FROM new.status AND (new.status <> 'left'::text OR new.end_reason IS NOT NULL))
  EXECUTE FUNCTION notify_access('participant', 'id');

-- Table passkey_challenges

ALTER TABLE passkey_challenges
  ADD CONSTRAINT passkey_challenges_pkey PRIMARY KEY (challenge_hash),
  ADD CONSTRAINT passkey_challenges_purpose_check CHECK (purpose = ANY (ARRAY['register'::text, 'sign_in'::text, 'reauthenticate'::text])),
  ADD CONSTRAINT passkey_challenges_session_check CHECK ((purpose = 'sign_in'::text) = (session_id IS NULL)),
  ADD CONSTRAINT passkey_challenges_session_id_fkey FOREIGN KEY (session_id) REFERENCES sessions(id) ON UPDATE CASCADE ON DELETE CASCADE;
CREATE INDEX passkey_challenges_expires_at_idx ON passkey_challenges USING btree (expires_at);
CREATE INDEX passkey_challenges_session_id_idx ON passkey_challenges USING btree (session_id);

-- Table passkeys

ALTER TABLE passkeys
  ADD CONSTRAINT passkeys_pkey PRIMARY KEY (id),
  ADD CONSTRAINT passkeys_counter_check CHECK (counter >= 0),
  ADD CONSTRAINT passkeys_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON UPDATE CASCADE ON DELETE CASCADE;
CREATE UNIQUE INDEX passkeys_credential_id_key ON passkeys USING btree (credential_id);
CREATE INDEX passkeys_user_id_idx ON passkeys USING btree (user_id);

-- Table rate_limits

ALTER TABLE rate_limits SET (fillfactor=50);
ALTER TABLE rate_limits
  ADD CONSTRAINT rate_limits_pkey PRIMARY KEY (key);

-- Table recording_copies

ALTER TABLE recording_copies
  ADD CONSTRAINT recording_copies_pkey PRIMARY KEY (workspace_id, recording_id),
  ADD CONSTRAINT recording_copies_workspace_id_recording_id_fkey FOREIGN KEY (workspace_id, recording_id) REFERENCES recordings(workspace_id, id) ON UPDATE CASCADE ON DELETE CASCADE;
CREATE INDEX recording_copies_next_attempt_at_idx ON recording_copies USING btree (next_attempt_at);

-- Table recording_deletions

ALTER TABLE recording_deletions
  ADD CONSTRAINT recording_deletions_pkey PRIMARY KEY (workspace_id, archive_id, room_name),
  ADD CONSTRAINT recording_deletions_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id) ON UPDATE CASCADE ON DELETE CASCADE;
CREATE INDEX recording_deletions_deleted_at_idx ON recording_deletions USING btree (deleted_at);

-- Table recordings

ALTER TABLE recordings
  ADD CONSTRAINT recordings_pkey PRIMARY KEY (workspace_id, id),
  ADD CONSTRAINT recordings_available_has_file_check CHECK (status <> 'available'::text OR file_key IS NOT NULL),
  ADD CONSTRAINT recordings_duration_check CHECK (duration >= 0),
  ADD CONSTRAINT recordings_failure_check CHECK (failure_reason IS NULL OR (status = ANY (ARRAY['failed'::text, 'uploaded'::text]))),
  ADD CONSTRAINT recordings_media_type_check CHECK (media_type = ANY (ARRAY['video/mp4'::text, 'video/webm'::text])),
  ADD CONSTRAINT recordings_size_check CHECK (size >= 0),
  ADD CONSTRAINT recordings_status_check CHECK (status = ANY (ARRAY['started'::text, 'uploaded'::text, 'available'::text, 'failed'::text])),
  ADD CONSTRAINT recordings_workspace_id_room_id_fkey FOREIGN KEY (workspace_id, room_id) REFERENCES rooms(workspace_id, id) ON UPDATE CASCADE ON DELETE CASCADE;
CREATE INDEX recordings_file_key_idx ON recordings USING btree (file_key COLLATE "C");
CREATE UNIQUE INDEX recordings_one_running ON recordings USING btree (workspace_id, room_id)
  WHERE status = 'started'::text AND ended_at IS NULL AND upload_token_hash IS NOT NULL;
CREATE INDEX recordings_poster_key_idx ON recordings USING btree (poster_key COLLATE "C")
  WHERE poster_key IS NOT NULL;
CREATE INDEX recordings_running ON recordings USING btree (workspace_id, room_id)
  WHERE status = 'started'::text AND ended_at IS NULL;
CREATE INDEX recordings_started ON recordings USING btree (updated_at)
  WHERE status = 'started'::text;
CREATE UNIQUE INDEX recordings_upload_token_hash_key ON recordings USING btree (upload_token_hash);
CREATE INDEX recordings_waiting_of_participants ON recordings USING btree (workspace_id, room_id)
  WHERE started_by IS NOT NULL AND (status = ANY (ARRAY['started'::text, 'uploaded'::text]));
CREATE INDEX recordings_workspace_id_archive_id_idx ON recordings USING btree (workspace_id, archive_id);
CREATE INDEX recordings_workspace_id_created_at_id_idx ON recordings USING btree (workspace_id, created_at, id);
CREATE UNIQUE INDEX recordings_workspace_id_room_id_archive_id_key ON recordings USING btree (workspace_id, room_id, archive_id);
CREATE INDEX recordings_workspace_id_room_id_created_at_id_idx ON recordings USING btree (workspace_id, room_id, created_at, id);
CREATE TRIGGER recordings_added AFTER INSERT ON recordings REFERENCING NEW TABLE AS added
  FOR EACH STATEMENT
  EXECUTE FUNCTION count_added_recordings();
CREATE TRIGGER recordings_changed AFTER UPDATE ON recordings REFERENCING OLD TABLE AS before NEW TABLE AS after
  FOR EACH STATEMENT
  EXECUTE FUNCTION settle_changed_recordings();
CREATE TRIGGER recordings_deleted_wake_egress AFTER DELETE ON recordings
  FOR EACH ROW
  WHEN (old.status = ANY (ARRAY['started'::text, 'uploaded'::text]))
  EXECUTE FUNCTION wake_livekit_egress();
CREATE TRIGGER recordings_ended_wake_egress AFTER UPDATE OF ended_at ON recordings
  FOR EACH ROW
  WHEN (old.ended_at IS NULL AND new.ended_at IS NOT NULL)
  EXECUTE FUNCTION wake_livekit_egress();
CREATE TRIGGER recordings_meeting_ended AFTER UPDATE ON recordings
  FOR EACH ROW
  WHEN ((old.status = 'failed'::text) <> (new.status = 'failed'::text) OR old.status = 'started'::text AND old.ended_at IS NULL AND (new.status <> 'started'::text OR new.ended_at IS NOT NULL))
  EXECUTE FUNCTION notify_meeting_recording();
CREATE TRIGGER recordings_meeting_started AFTER INSERT ON recordings
  FOR EACH ROW
  WHEN (new.status = 'started'::text AND new.ended_at IS NULL)
  EXECUTE FUNCTION notify_meeting_recording();
CREATE TRIGGER recordings_poster_changed AFTER UPDATE OF poster_key ON recordings
  FOR EACH ROW
  WHEN (old.poster_key IS DISTINCT FROM new.poster_key AND old.poster_key IS NOT NULL)
  EXECUTE FUNCTION discard_poster();
CREATE TRIGGER recordings_poster_removed AFTER DELETE ON recordings
  FOR EACH ROW
  WHEN (old.poster_key IS NOT NULL)
  EXECUTE FUNCTION discard_poster();
CREATE TRIGGER recordings_remember_deleted AFTER DELETE ON recordings REFERENCING OLD TABLE AS deleted
  FOR EACH STATEMENT
  EXECUTE FUNCTION remember_deleted_recordings();
CREATE TRIGGER recordings_removed AFTER DELETE ON recordings REFERENCING OLD TABLE AS removed
  FOR EACH STATEMENT
  EXECUTE FUNCTION settle_removed_recordings();

-- Table recovery_codes

ALTER TABLE recovery_codes
  ADD CONSTRAINT recovery_codes_pkey PRIMARY KEY (user_id, code_hash),
  ADD CONSTRAINT recovery_codes_user_id_fkey FOREIGN KEY (user_id) REFERENCES second_factors(user_id) ON UPDATE CASCADE ON DELETE CASCADE;

-- Table removed_members

ALTER TABLE removed_members
  ADD CONSTRAINT removed_members_pkey PRIMARY KEY (workspace_id, address_hash),
  ADD CONSTRAINT removed_members_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON UPDATE CASCADE ON DELETE SET NULL,
  ADD CONSTRAINT removed_members_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id) ON UPDATE CASCADE ON DELETE CASCADE;
CREATE INDEX removed_members_user_id_idx ON removed_members USING btree (user_id);

-- Table room_passes

ALTER TABLE room_passes
  ADD CONSTRAINT room_passes_pkey PRIMARY KEY (workspace_id, id),
  ADD CONSTRAINT room_passes_maker_check CHECK (num_nonnulls(key_id, grant_id) <= 1),
  ADD CONSTRAINT room_passes_metadata_check CHECK (jsonb_typeof(metadata) = 'object'::text),
  ADD CONSTRAINT room_passes_created_by_fkey FOREIGN KEY (created_by) REFERENCES users(id) ON UPDATE CASCADE ON DELETE SET NULL,
  ADD CONSTRAINT room_passes_workspace_id_room_id_fkey FOREIGN KEY (workspace_id, room_id) REFERENCES rooms(workspace_id, id) ON UPDATE CASCADE ON DELETE CASCADE;
CREATE INDEX room_passes_created_by_idx ON room_passes USING btree (created_by);
CREATE INDEX room_passes_expires_at_idx ON room_passes USING btree (expires_at);
CREATE UNIQUE INDEX room_passes_link_hash_key ON room_passes USING btree (link_hash);
CREATE UNIQUE INDEX room_passes_workspace_id_room_id_external_id_key ON room_passes USING btree (workspace_id, room_id, external_id);

-- Table rooms

ALTER TABLE rooms
  ADD CONSTRAINT rooms_pkey PRIMARY KEY (workspace_id, id),
  ADD CONSTRAINT rooms_max_participants_check CHECK (max_participants > 0) NOT VALID,
  ADD CONSTRAINT rooms_media_check CHECK (media = 'mesh'::text) NOT VALID,
  ADD CONSTRAINT rooms_name_check CHECK (name ~ '^[a-z0-9]+(-[a-z0-9]+)*$'::text AND length(name) >= 1 AND length(name) <= 64) NOT VALID,
  ADD CONSTRAINT rooms_recordings_visible_to_check CHECK (recordings_visible_to = ANY (ARRAY['members'::text, 'hosts'::text])) NOT VALID,
  ADD CONSTRAINT rooms_who_may_record_check CHECK (who_may_record = ANY (ARRAY['everyone'::text, 'members'::text, 'hosts'::text])) NOT VALID,
  ADD CONSTRAINT rooms_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON UPDATE CASCADE ON DELETE RESTRICT,
  ADD CONSTRAINT rooms_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id) ON UPDATE CASCADE ON DELETE CASCADE;
CREATE UNIQUE INDEX rooms_name_key ON rooms USING btree (name);
CREATE INDEX rooms_user_id_created_at_id_idx ON rooms USING btree (user_id, created_at, id);
CREATE INDEX rooms_workspace_id_created_at_id_idx ON rooms USING btree (workspace_id, created_at, id);
CREATE UNIQUE INDEX rooms_workspace_id_session_id_key ON rooms USING btree (workspace_id, session_id)
  WHERE session_id IS NOT NULL;
CREATE TRIGGER rooms_access_changed AFTER UPDATE ON rooms
  FOR EACH ROW
  WHEN ((old.locked_at IS NULL) <> (new.locked_at IS NULL))
  EXECUTE FUNCTION notify_access('room', 'id');
CREATE TRIGGER rooms_access_ended AFTER DELETE ON rooms
  FOR EACH ROW
  EXECUTE FUNCTION notify_access('room', 'id');
CREATE TRIGGER rooms_added AFTER INSERT ON rooms
  FOR EACH ROW
  EXECUTE FUNCTION count_added_room();
CREATE TRIGGER rooms_added_name AFTER INSERT ON rooms
  FOR EACH ROW
  EXECUTE FUNCTION refuse_name_in_trash();
CREATE TRIGGER rooms_deleted_close_livekit AFTER DELETE ON rooms
  FOR EACH ROW
  EXECUTE FUNCTION close_livekit_room();
CREATE TRIGGER rooms_meeting_changed AFTER UPDATE ON rooms
  FOR EACH ROW
  WHEN (old.media IS DISTINCT FROM new.media OR old.relay_only IS DISTINCT FROM new.relay_only OR old.chat_enabled IS DISTINCT FROM new.chat_enabled)
  EXECUTE FUNCTION notify_access('room', 'id');
CREATE TRIGGER rooms_remember_deleted_recordings BEFORE DELETE ON rooms
  FOR EACH ROW
  EXECUTE FUNCTION remember_recordings_of_deleted_room();
CREATE TRIGGER rooms_removed AFTER DELETE ON rooms REFERENCING OLD TABLE AS removed
  FOR EACH STATEMENT
  WHEN (pg_trigger_depth() = 0)
  EXECUTE FUNCTION count_removed_rooms();
CREATE TRIGGER rooms_removed_subjects AFTER DELETE ON rooms REFERENCING OLD TABLE AS removed
  FOR EACH STATEMENT
  EXECUTE FUNCTION forget_removed_subjects('room_join');
CREATE TRIGGER rooms_removed_trash AFTER DELETE ON rooms REFERENCING OLD TABLE AS removed
  FOR EACH STATEMENT
  EXECUTE FUNCTION delete_trash_of_rooms();

-- Table scheduled_tasks

ALTER TABLE scheduled_tasks
  ADD CONSTRAINT scheduled_tasks_pkey PRIMARY KEY (name);

-- Table second_factors

ALTER TABLE second_factors
  ADD CONSTRAINT second_factors_pkey PRIMARY KEY (user_id),
  ADD CONSTRAINT second_factors_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON UPDATE CASCADE ON DELETE CASCADE;

-- Table sessions

ALTER TABLE sessions
  ADD CONSTRAINT sessions_pkey PRIMARY KEY (id),
  ADD CONSTRAINT sessions_method_check CHECK (method = ANY (ARRAY['password'::text, 'totp'::text, 'recovery_code'::text, 'passkey'::text, 'oidc'::text, 'registration'::text, 'local_link'::text])),
  ADD CONSTRAINT sessions_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON UPDATE CASCADE ON DELETE CASCADE;
CREATE INDEX sessions_expires_at_idx ON sessions USING btree (expires_at);
CREATE UNIQUE INDEX sessions_token_hash_key ON sessions USING btree (token_hash);
CREATE INDEX sessions_user_id_idx ON sessions USING btree (user_id);
CREATE TRIGGER sessions_access_ended AFTER DELETE ON sessions
  FOR EACH ROW
  EXECUTE FUNCTION notify_access('user', 'user_id');

-- Table slug_suffixes

ALTER TABLE slug_suffixes
  ADD CONSTRAINT slug_suffixes_pkey PRIMARY KEY (slug);

-- Table trash_entries

ALTER TABLE trash_entries
  ADD CONSTRAINT trash_entries_pkey PRIMARY KEY (workspace_id, id),
  ADD CONSTRAINT trash_entries_kind_check CHECK ((kind = ANY (ARRAY['library_item'::text, 'recording'::text, 'room'::text])) AND (kind = 'recording'::text) = (room_id IS NOT NULL) AND (kind = 'recording'::text OR NOT with_room)),
  ADD CONSTRAINT trash_entries_size_check CHECK (size >= 0),
  ADD CONSTRAINT trash_entries_created_by_fkey FOREIGN KEY (created_by) REFERENCES users(id) ON UPDATE CASCADE ON DELETE SET NULL,
  ADD CONSTRAINT trash_entries_trashed_by_fkey FOREIGN KEY (trashed_by) REFERENCES users(id) ON UPDATE CASCADE ON DELETE SET NULL,
  ADD CONSTRAINT trash_entries_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id) ON UPDATE CASCADE ON DELETE CASCADE;
CREATE INDEX trash_entries_created_by_idx ON trash_entries USING btree (created_by);
CREATE INDEX trash_entries_file_key_idx ON trash_entries USING btree (file_key COLLATE "C")
  WHERE file_key IS NOT NULL;
CREATE INDEX trash_entries_poster_key_idx ON trash_entries USING btree (poster_key COLLATE "C")
  WHERE poster_key IS NOT NULL;
CREATE UNIQUE INDEX trash_entries_room_name_key ON trash_entries USING btree ((record ->> 'name'::text))
  WHERE kind = 'room'::text;
CREATE INDEX trash_entries_trashed_at_idx ON trash_entries USING btree (trashed_at);
CREATE INDEX trash_entries_trashed_by_idx ON trash_entries USING btree (trashed_by);
CREATE INDEX trash_entries_workspace_id_kind_created_at_id_idx ON trash_entries USING btree (workspace_id, kind, created_at, id);
CREATE UNIQUE INDEX trash_entries_workspace_id_kind_resource_id_key ON trash_entries USING btree (workspace_id, kind, resource_id);
CREATE INDEX trash_entries_workspace_id_room_id_idx ON trash_entries USING btree (workspace_id, room_id);
CREATE INDEX trash_entries_workspace_id_trashed_at_id_idx ON trash_entries USING btree (workspace_id, trashed_at, id);
CREATE TRIGGER trash_entries_added AFTER INSERT ON trash_entries REFERENCING NEW TABLE AS added
  FOR EACH STATEMENT
  EXECUTE FUNCTION count_added_trash();
CREATE TRIGGER trash_entries_removed AFTER DELETE ON trash_entries REFERENCING OLD TABLE AS removed
  FOR EACH STATEMENT
  EXECUTE FUNCTION settle_removed_trash();

-- Table unmatched_callbacks

ALTER TABLE unmatched_callbacks
  ADD CONSTRAINT unmatched_callbacks_pkey PRIMARY KEY (workspace_id, connection_id, id),
  ADD CONSTRAINT unmatched_callbacks_kind_check CHECK (kind = ANY (ARRAY['participant.joined'::text, 'participant.left'::text, 'recording.started'::text, 'recording.ended'::text, 'recording.uploaded'::text, 'recording.available'::text, 'recording.failed'::text, 'meeting.ended'::text])),
  ADD CONSTRAINT unmatched_callbacks_reason_check CHECK (reason = ANY (ARRAY['unknown_room'::text, 'unknown_participant'::text])),
  ADD CONSTRAINT unmatched_callbacks_workspace_id_connection_id_fkey FOREIGN KEY (workspace_id, connection_id) REFERENCES meeting_connections(workspace_id, id) ON UPDATE CASCADE ON DELETE CASCADE;
CREATE INDEX unmatched_callbacks_received_at_idx ON unmatched_callbacks USING btree (received_at);
CREATE UNIQUE INDEX unmatched_callbacks_workspace_id_connection_id_kind_meeting_key ON unmatched_callbacks USING btree (workspace_id, connection_id, kind, meeting, reference);

-- Table uploads

ALTER TABLE uploads
  ADD CONSTRAINT uploads_pkey PRIMARY KEY (id),
  ADD CONSTRAINT uploads_received_check CHECK (received >= 0 AND received <= length),
  ADD CONSTRAINT uploads_created_by_fkey FOREIGN KEY (created_by) REFERENCES users(id) ON UPDATE CASCADE ON DELETE CASCADE,
  ADD CONSTRAINT uploads_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id) ON UPDATE CASCADE ON DELETE CASCADE,
  ADD CONSTRAINT uploads_workspace_id_recording_id_fkey FOREIGN KEY (workspace_id, recording_id) REFERENCES recordings(workspace_id, id) ON UPDATE CASCADE ON DELETE CASCADE;
CREATE INDEX uploads_created_by_idx ON uploads USING btree (created_by);
CREATE INDEX uploads_expires_at_idx ON uploads USING btree (expires_at);
CREATE INDEX uploads_finished_key_idx ON uploads USING btree (finished_key COLLATE "C")
  WHERE finished_key IS NOT NULL;
CREATE INDEX uploads_live ON uploads USING btree (expires_at)
  WHERE result IS NULL AND defers_length AND recording_id IS NOT NULL;
CREATE UNIQUE INDEX uploads_one_per_recording ON uploads USING btree (workspace_id, recording_id)
  WHERE result IS NULL;
CREATE INDEX uploads_workspace_id_recording_id_idx ON uploads USING btree (workspace_id, recording_id);
CREATE TRIGGER uploads_finished_changed AFTER UPDATE OF finished_key ON uploads
  FOR EACH ROW
  WHEN (old.finished_key IS DISTINCT FROM new.finished_key AND old.finished_key IS NOT NULL)
  EXECUTE FUNCTION discard_finished_object();
CREATE TRIGGER uploads_finished_removed AFTER DELETE ON uploads
  FOR EACH ROW
  WHEN (old.finished_key IS NOT NULL)
  EXECUTE FUNCTION discard_finished_object();
CREATE TRIGGER uploads_partial_removed AFTER DELETE ON uploads
  FOR EACH ROW
  WHEN (old.result IS NULL AND old.stored IS NOT NULL AND old.finished_key IS DISTINCT FROM old.file_key)
  EXECUTE FUNCTION discard_partial_object();

-- Table users

ALTER TABLE users
  ADD CONSTRAINT users_pkey PRIMARY KEY (id);
CREATE UNIQUE INDEX users_email_key ON users USING btree (email);
CREATE TRIGGER users_access_changed AFTER UPDATE ON users
  FOR EACH ROW
  WHEN (old.locked_at IS DISTINCT FROM new.locked_at)
  EXECUTE FUNCTION notify_access('user', 'id');
CREATE TRIGGER users_remembered AFTER INSERT ON users
  FOR EACH STATEMENT
  EXECUTE FUNCTION remember_accounts();

-- Table webhook_deliveries

ALTER TABLE webhook_deliveries
  ADD CONSTRAINT webhook_deliveries_pkey PRIMARY KEY (workspace_id, id),
  ADD CONSTRAINT webhook_deliveries_workspace_id_message_id_fkey FOREIGN KEY (workspace_id, message_id) REFERENCES webhook_messages(workspace_id, id) ON UPDATE CASCADE ON DELETE CASCADE,
  ADD CONSTRAINT webhook_deliveries_workspace_id_webhook_id_fkey FOREIGN KEY (workspace_id, webhook_id) REFERENCES webhooks(workspace_id, id) ON UPDATE CASCADE ON DELETE CASCADE;
CREATE UNIQUE INDEX webhook_deliveries_workspace_id_message_id_attempt_key ON webhook_deliveries USING btree (workspace_id, message_id, attempt);
CREATE INDEX webhook_deliveries_workspace_id_webhook_id_created_at_id_idx ON webhook_deliveries USING btree (workspace_id, webhook_id, created_at, id);

-- Table webhook_leases

ALTER TABLE webhook_leases
  ADD CONSTRAINT webhook_leases_pkey PRIMARY KEY (job_id);
CREATE INDEX webhook_leases_queue_rank_workspace_id_webhook_id_idx ON webhook_leases USING btree (queue_rank, workspace_id, webhook_id);

-- Table webhook_messages

ALTER TABLE webhook_messages
  ADD CONSTRAINT webhook_messages_pkey PRIMARY KEY (workspace_id, id),
  ADD CONSTRAINT webhook_messages_after_check CHECK (after_id IS NULL OR status = 'waiting'::text AND job_id IS NULL),
  ADD CONSTRAINT webhook_messages_status_check CHECK (status = ANY (ARRAY['waiting'::text, 'delivered'::text, 'failed'::text, 'cancelled'::text])),
  ADD CONSTRAINT webhook_messages_waiting_check CHECK ((status = 'waiting'::text) = (next_attempt_at IS NOT NULL) AND (status = 'waiting'::text OR job_id IS NULL)),
  ADD CONSTRAINT webhook_messages_workspace_id_webhook_id_fkey FOREIGN KEY (workspace_id, webhook_id) REFERENCES webhooks(workspace_id, id) ON UPDATE CASCADE ON DELETE CASCADE;
CREATE INDEX webhook_messages_created_at ON webhook_messages USING brin (created_at);
CREATE INDEX webhook_messages_held ON webhook_messages USING btree (workspace_id, after_id)
  WHERE after_id IS NOT NULL;
CREATE INDEX webhook_messages_queued ON webhook_messages USING btree (queue_rank, due_at)
  WHERE status = 'waiting'::text AND queued_job_id IS NOT NULL;
CREATE INDEX webhook_messages_unattempted ON webhook_messages USING btree (workspace_id, webhook_id, subject, sequence)
  WHERE status = 'waiting'::text AND round_attempts = 0 AND subject IS NOT NULL;
CREATE INDEX webhook_messages_undelivered ON webhook_messages USING btree (workspace_id, webhook_id, status, created_at)
  WHERE status = ANY (ARRAY['failed'::text, 'cancelled'::text]);
CREATE INDEX webhook_messages_unqueued ON webhook_messages USING btree (next_attempt_at)
  WHERE status = 'waiting'::text AND job_id IS NULL AND after_id IS NULL;
CREATE INDEX webhook_messages_waiting ON webhook_messages USING btree (workspace_id, webhook_id, id)
  WHERE status = 'waiting'::text;
CREATE UNIQUE INDEX webhook_messages_workspace_id_webhook_id_event_id_key ON webhook_messages USING btree (workspace_id, webhook_id, event_id);
CREATE INDEX webhook_messages_workspace_id_webhook_id_id_idx ON webhook_messages USING btree (workspace_id, webhook_id, id);

-- Table webhooks

ALTER TABLE webhooks
  ADD CONSTRAINT webhooks_pkey PRIMARY KEY (workspace_id, id),
  ADD CONSTRAINT webhooks_previous_secret_check CHECK ((previous_sealed_secret IS NULL) = (previous_secret_until IS NULL)),
  ADD CONSTRAINT webhooks_created_by_fkey FOREIGN KEY (created_by) REFERENCES users(id) ON UPDATE CASCADE ON DELETE SET NULL,
  ADD CONSTRAINT webhooks_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id) ON UPDATE CASCADE ON DELETE CASCADE;
CREATE INDEX webhooks_cancelling ON webhooks USING btree (workspace_id, id)
  WHERE is_cancelling;
CREATE INDEX webhooks_created_by_idx ON webhooks USING btree (created_by);
CREATE INDEX webhooks_host_idx ON webhooks USING btree (host);
CREATE TRIGGER webhooks_skip_earlier_events BEFORE INSERT ON webhooks
  FOR EACH ROW
  EXECUTE FUNCTION skip_earlier_events();

-- Table workspaces

ALTER TABLE workspaces
  ADD CONSTRAINT workspaces_pkey PRIMARY KEY (id),
  ADD CONSTRAINT workspaces_brand_color_check CHECK (brand_color ~ '^#[0-9a-f]{6}$'::text),
  ADD CONSTRAINT workspaces_embed_origins_check CHECK (cardinality(embed_origins) <= 20),
  ADD CONSTRAINT workspaces_join_domain_check CHECK (join_domain IS NULL OR join_domain <> ''::text AND NOT is_personal),
  ADD CONSTRAINT workspaces_language_check CHECK (language ~ '^[a-z]{2}$'::text),
  ADD CONSTRAINT workspaces_media_check CHECK (media = 'mesh'::text) NOT VALID,
  ADD CONSTRAINT workspaces_recording_retention_days_check CHECK (recording_retention_days = ANY (ARRAY[7, 30, 60, 90, 180, 365])),
  ADD CONSTRAINT workspaces_required_issuer_check CHECK ((required_issuer IS NOT NULL) = (NOT required_sign_in IS DISTINCT FROM 'provider'::text)),
  ADD CONSTRAINT workspaces_required_sign_in_check CHECK (required_sign_in IS NULL OR (required_sign_in = ANY (ARRAY['second_factor'::text, 'provider'::text])) AND NOT is_personal),
  ADD CONSTRAINT workspaces_retention_check CHECK (media_retention_days = ANY (ARRAY[7, 30, 60, 90, 180, 365])),
  ADD CONSTRAINT workspaces_invite_created_by_fkey FOREIGN KEY (invite_created_by) REFERENCES users(id) ON UPDATE CASCADE ON DELETE SET NULL,
  ADD CONSTRAINT workspaces_owner_id_fkey FOREIGN KEY (owner_id) REFERENCES users(id) ON UPDATE CASCADE ON DELETE RESTRICT,
  ADD CONSTRAINT workspaces_owner_is_member_fkey FOREIGN KEY (id, owner_id) REFERENCES members(workspace_id, user_id) DEFERRABLE INITIALLY DEFERRED;
CREATE INDEX workspaces_invite_created_by_idx ON workspaces USING btree (invite_created_by)
  WHERE invite_created_by IS NOT NULL;
CREATE UNIQUE INDEX workspaces_invite_hash ON workspaces USING btree (invite_hash)
  WHERE invite_hash IS NOT NULL;
CREATE UNIQUE INDEX workspaces_invite_token ON workspaces USING btree (invite_token)
  WHERE invite_token IS NOT NULL;
CREATE INDEX workspaces_join_domain_idx ON workspaces USING btree (join_domain)
  WHERE join_domain IS NOT NULL;
CREATE INDEX workspaces_logo_key_idx ON workspaces USING btree (logo_key COLLATE "C")
  WHERE logo_key IS NOT NULL;
CREATE UNIQUE INDEX workspaces_logo_name_key ON workspaces USING btree ("substring"(logo_key, '[^/]+$'::text))
  WHERE logo_key IS NOT NULL;
CREATE UNIQUE INDEX workspaces_one_personal ON workspaces USING btree (owner_id)
  WHERE is_personal;
CREATE INDEX workspaces_owner_id_idx ON workspaces USING btree (owner_id);
CREATE UNIQUE INDEX workspaces_slug_key ON workspaces USING btree (slug);
CREATE TRIGGER follow_invite_token BEFORE UPDATE OF invite_token ON workspaces
  FOR EACH ROW
  EXECUTE FUNCTION follow_invite_token();
CREATE TRIGGER workspaces_access_changed AFTER UPDATE OF required_sign_in, required_issuer ON workspaces
  FOR EACH ROW
  WHEN (old.required_sign_in IS DISTINCT FROM new.required_sign_in OR old.required_issuer IS DISTINCT FROM new.required_issuer)
  EXECUTE FUNCTION notify_access('workspace', 'id');
CREATE TRIGGER workspaces_logo_changed AFTER UPDATE OF logo_key ON workspaces
  FOR EACH ROW
  WHEN (old.logo_key IS DISTINCT FROM new.logo_key AND old.logo_key IS NOT NULL)
  EXECUTE FUNCTION discard_logo();
CREATE TRIGGER workspaces_logo_removed AFTER DELETE ON workspaces
  FOR EACH ROW
  WHEN (old.logo_key IS NOT NULL)
  EXECUTE FUNCTION discard_logo();
