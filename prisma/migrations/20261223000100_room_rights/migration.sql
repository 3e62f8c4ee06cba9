-- Rooms say how many people fit, who may enter, who may record, and who may watch the recordings.

-- AlterTable
ALTER TABLE "rooms" ADD COLUMN     "max_participants" INTEGER,
ADD COLUMN     "members_only" BOOLEAN NOT NULL DEFAULT false,
ADD COLUMN     "recordings_visible_to" TEXT NOT NULL DEFAULT 'members',
ADD COLUMN     "who_may_record" TEXT NOT NULL DEFAULT 'everyone';

-- Beyond Prisma: values ------------------------------------------------------------------------------------------------

-- Existing rows have the defaults, so they need no check.
ALTER TABLE "rooms" ADD CONSTRAINT "rooms_max_participants_check" CHECK ("max_participants" > 0) NOT VALID;
ALTER TABLE "rooms" ADD CONSTRAINT "rooms_recordings_visible_to_check"
  CHECK ("recordings_visible_to" IN ('members', 'hosts')) NOT VALID;
ALTER TABLE "rooms" ADD CONSTRAINT "rooms_who_may_record_check"
  CHECK ("who_may_record" IN ('everyone', 'members', 'hosts')) NOT VALID;

-- Beyond Prisma: whether a room has a place for somebody ---------------------------------------------------------------

-- Returns how many more people can enter the room, or null if it has no limit. In a room with a limit, calls wait for each
-- other until the commit. A volatile function reads with a snapshot of its own, so each call counts the people whom
-- earlier calls let in. Calls for rooms without a limit lock nothing.
CREATE FUNCTION "count_free_places"(in_workspace integer, in_room integer) RETURNS integer
LANGUAGE plpgsql VOLATILE AS $$
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
END $$;
