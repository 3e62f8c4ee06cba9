-- Visits that began a meeting are marked when visits are written, so that a list of meetings reads only these.
-- Processes of the previous release do not know the column; the triggers maintain it for them too.
--
-- An advisory lock of the room keeps the marks exact. A visit that continues a meeting takes it shared, so that joins
-- do not wait for each other. A visit that begins one takes it alone, after which it sees all others. So does a change
-- that makes a visit reach less far, unless no visit that it concerns can be in progress of being added.
ALTER TABLE "participants" ADD COLUMN "begins_meeting" BOOLEAN NOT NULL DEFAULT false;

-- Whether an earlier visit of the room reached into the ten minutes before a visit, which was at `in_time`.
CREATE FUNCTION "continues_meeting"(in_workspace integer, in_room integer, in_time timestamptz, in_id integer)
RETURNS boolean LANGUAGE plpgsql STABLE PARALLEL SAFE AS $$
BEGIN
  RETURN EXISTS (
    SELECT FROM "participants" p
    WHERE p."workspace_id" = in_workspace AND p."room_id" = in_room AND p."status" = 'joined'
      AND (p."joined_at", p."id") < (in_time, in_id)
  ) OR EXISTS (
    SELECT FROM ended_visits(in_workspace, in_room, in_time - interval '10 minutes', in_time) v
    WHERE (v."joined_at", v."id") < (in_time, in_id) AND v."left_at" > in_time - interval '10 minutes');
END $$;

-- Marks the visits of a period that begin a meeting, because another visit that had reached into it ended earlier or
-- was deleted. Waits for visits that are being added at these times, which still see that visit as it was. Most visits
-- end now, and nobody has joined ten minutes later.
CREATE FUNCTION "mark_beginnings"(in_workspace integer, in_room integer, from_time timestamptz, to_time timestamptz)
RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  IF from_time < clock_timestamp() + interval '1 minute' THEN
    PERFORM pg_advisory_xact_lock(hashtext('beginnings of meetings'), in_room);
  END IF;
  UPDATE "participants" p SET "begins_meeting" = true
  WHERE p."workspace_id" = in_workspace AND p."room_id" = in_room AND p."joined_at" >= from_time
    AND p."joined_at" < to_time AND NOT p."begins_meeting"
    AND NOT continues_meeting(in_workspace, in_room, p."joined_at", p."id");
END $$;

-- The second look sees what was committed before the lock was granted. In the rare case that it finds a beginning, the
-- lock is upgraded; two visits that do this at once deadlock, and one is retried.
CREATE FUNCTION "mark_beginning"() RETURNS trigger LANGUAGE plpgsql AS $$
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
END $$;

CREATE TRIGGER "participants_beginning" BEFORE INSERT OR UPDATE OF "joined_at" ON "participants"
  FOR EACH ROW WHEN (NEW."joined_at" IS NOT NULL) EXECUTE FUNCTION mark_beginning();

-- A visit that was reported late, or that goes on, joins two meetings. One that ended in the past can separate two.
CREATE FUNCTION "mark_later_visits"() RETURNS trigger LANGUAGE plpgsql AS $$
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
END $$;

CREATE TRIGGER "participants_later_marks" AFTER INSERT OR UPDATE OF "joined_at", "left_at" ON "participants"
  FOR EACH ROW WHEN (NEW."joined_at" IS NOT NULL) EXECUTE FUNCTION mark_later_visits();

-- Visits that are deleted with their room leave none behind.
CREATE FUNCTION "mark_visits_after_deleted"() RETURNS trigger LANGUAGE plpgsql AS $$
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
END $$;

CREATE TRIGGER "participants_deleted_marks" AFTER DELETE ON "participants"
  REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION mark_visits_after_deleted();
