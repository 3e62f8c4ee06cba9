-- A host has one calendar: their bookings on all pages, in all workspaces, do not overlap. The host of a booking is the
-- user of its page, and follows it when the page passes to another user.

-- DropForeignKey
ALTER TABLE "bookings" DROP CONSTRAINT "bookings_workspace_id_booking_page_id_fkey";

-- AlterTable
ALTER TABLE "bookings" ADD COLUMN     "may_overlap" BOOLEAN NOT NULL DEFAULT false,
ADD COLUMN     "user_id" INTEGER;

UPDATE "bookings" b SET "user_id" = p."user_id" FROM "booking_pages" p
  WHERE p."workspace_id" = b."workspace_id" AND p."id" = b."booking_page_id";

ALTER TABLE "bookings" ALTER COLUMN "user_id" SET NOT NULL;

-- CreateIndex
CREATE UNIQUE INDEX "booking_pages_workspace_id_id_user_id_key" ON "booking_pages"("workspace_id", "id", "user_id");

-- CreateIndex
CREATE INDEX "bookings_user_id_starts_at_idx" ON "bookings"("user_id", "starts_at");

-- AddForeignKey
ALTER TABLE "bookings" ADD CONSTRAINT "bookings_workspace_id_booking_page_id_user_id_fkey" FOREIGN KEY ("workspace_id", "booking_page_id", "user_id") REFERENCES "booking_pages"("workspace_id", "id", "user_id") ON DELETE CASCADE ON UPDATE CASCADE;

-- Guests rely on their bookings, so those that overlap already stay. The longest meeting lasts 480 minutes.
UPDATE "bookings" b SET "may_overlap" = true WHERE b."cancelled_at" IS NULL AND EXISTS (
  SELECT FROM "bookings" o WHERE o."user_id" = b."user_id" AND o."id" <> b."id" AND o."cancelled_at" IS NULL
    AND o."starts_at" > b."starts_at" - interval '480 minutes' AND o."starts_at" < b."ends_at"
    AND o."ends_at" > b."starts_at"
);

-- Beyond Prisma. Two overlapping bookings of a host are accepted only if both may overlap: such a booking takes the
-- single value of its id, any other takes all values. A new booking may not, so it overlaps nothing. Ids of users and
-- bookings are unique in the whole service; as ranges they fit into the index without an extension.
ALTER TABLE "bookings" ADD CONSTRAINT "bookings_one_calendar" EXCLUDE USING gist (
  int8range("user_id", "user_id", '[]') WITH &&,
  tstzrange("starts_at", "ends_at") WITH &&,
  (CASE WHEN "may_overlap" THEN int8range("id", "id", '[]') ELSE int8range(NULL, NULL) END) WITH &&
) WHERE ("cancelled_at" IS NULL);

-- The constraint above covers what this one did: a page has one host.
ALTER TABLE "bookings" DROP CONSTRAINT "bookings_no_overlap";
