-- Bookings beyond the limit of a host wait for confirmation, and hold no time meanwhile: anyone can cause them.

ALTER TABLE "bookings" ADD COLUMN "is_waiting" BOOLEAN NOT NULL DEFAULT false;

ALTER TABLE "bookings" DROP CONSTRAINT "bookings_one_calendar";

-- A booking that is confirmed has no confirm_by, and the constraint applies to it from then on.
ALTER TABLE "bookings" ADD CONSTRAINT "bookings_one_calendar" EXCLUDE USING gist (
  int8range("user_id", "user_id", '[]') WITH &&,
  tstzrange("starts_at", "ends_at") WITH &&,
  (CASE WHEN "may_overlap" THEN int8range("id", "id", '[]') ELSE int8range(NULL, NULL) END) WITH &&
) WHERE ("cancelled_at" IS NULL AND ("confirm_by" IS NULL OR NOT "is_waiting"));

CREATE INDEX "bookings_waiting" ON "bookings"("user_id", "created_at")
  WHERE "is_waiting" AND "confirm_by" IS NOT NULL AND "cancelled_at" IS NULL;

-- Without a token, the host approves it.
ALTER TABLE "bookings" DROP CONSTRAINT "bookings_confirm_check";
ALTER TABLE "bookings" ADD CONSTRAINT "bookings_confirm_check"
  CHECK ("confirm_by" IS NULL OR "confirm_hash" IS NOT NULL OR "is_waiting");
