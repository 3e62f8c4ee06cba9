-- A meeting is the time from the first join to the last leave in a room. Ten minutes without anybody separate two
-- meetings. Meetings are not stored: these functions find their limits from the visits.

-- A visit, or a period of a room, as a box that a GiST index can search: the room on one axis, the seconds since 2000
-- on the other. Rooms cannot be an integer column of the index, because that would need an extension.
CREATE FUNCTION "visit_span"(room integer, from_time timestamptz, to_time timestamptz) RETURNS box
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT box(
    point(room, date_part('epoch', from_time - '2000-01-01 00:00:00+00'::timestamptz)),
    point(room, date_part('epoch', to_time - '2000-01-01 00:00:00+00'::timestamptz)))
$$;

-- The visits of a room that had not ended at `from_time` and had begun by `to_time`, without those that are in progress.
-- `OFFSET 0` makes PostgreSQL use the index of spans alone: it expects far more rows from it than there are.
CREATE FUNCTION "ended_visits"(in_workspace integer, in_room integer, from_time timestamptz, to_time timestamptz)
RETURNS TABLE ("id" integer, "joined_at" timestamptz, "left_at" timestamptz) LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT v."id", v."joined_at", v."left_at" FROM (
    SELECT p."workspace_id", p."room_id", p."id", p."joined_at", p."left_at" FROM "participants" p
    WHERE visit_span(p."room_id", p."joined_at", p."left_at") && visit_span(in_room, from_time, to_time)
      AND p."joined_at" IS NOT NULL AND p."left_at" IS NOT NULL OFFSET 0) v
  WHERE v."workspace_id" = in_workspace AND v."room_id" = in_room AND v."left_at" >= from_time
    AND v."joined_at" <= to_time
$$;

-- When the meeting began that is in progress in the room at `in_time`, the time of a join. Each round finds the first
-- visit that had not ended ten minutes before the time that the last round has reached. If the meeting was in progress
-- at `known_time`, an earlier join, the function may return any time until then.
CREATE FUNCTION "meeting_start"(
  in_workspace integer, in_room integer, in_time timestamptz, known_time timestamptz DEFAULT '-infinity'
) RETURNS timestamptz LANGUAGE plpgsql STABLE PARALLEL SAFE AS $$
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
END $$;

-- When the meeting ended that is in progress in the room at `in_time`, the time of a join; null while it runs.
CREATE FUNCTION "meeting_end"(in_workspace integer, in_room integer, in_time timestamptz) RETURNS timestamptz
LANGUAGE plpgsql STABLE PARALLEL SAFE AS $$
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
END $$;
