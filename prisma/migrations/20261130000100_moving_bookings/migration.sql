-- Bookings can be moved, and pages have rules for when they can be booked.

-- AlterTable
ALTER TABLE "booking_pages" ADD COLUMN     "buffer_after" INTEGER NOT NULL DEFAULT 0,
ADD COLUMN     "buffer_before" INTEGER NOT NULL DEFAULT 0,
ADD COLUMN     "days_off" TEXT[] NOT NULL DEFAULT ARRAY[]::TEXT[],
ADD COLUMN     "max_per_day" INTEGER,
ADD COLUMN     "minimum_notice" INTEGER NOT NULL DEFAULT 0;

-- AlterTable
ALTER TABLE "bookings" ADD COLUMN     "buffer_after" INTEGER NOT NULL DEFAULT 0,
ADD COLUMN     "buffer_before" INTEGER NOT NULL DEFAULT 0,
ADD COLUMN     "sequence" INTEGER NOT NULL DEFAULT 0,
ADD COLUMN     "time_zone" TEXT,
ADD COLUMN     "uid" UUID NOT NULL DEFAULT gen_random_uuid();

-- A cancellation counts as a change.
UPDATE "bookings" SET "sequence" = 1 WHERE "cancelled_at" IS NOT NULL;

-- As in src/features/booking-pages/schemas.ts.
ALTER TABLE "booking_pages" ADD CONSTRAINT "booking_pages_rules_check" CHECK (
  "minimum_notice" BETWEEN 0 AND 43200 AND "buffer_before" BETWEEN 0 AND 240 AND "buffer_after" BETWEEN 0 AND 240
  AND "max_per_day" BETWEEN 1 AND 288 AND cardinality("days_off") <= 366
);
ALTER TABLE "bookings" ADD CONSTRAINT "bookings_buffers_check" CHECK (
  "buffer_before" BETWEEN 0 AND 240 AND "buffer_after" BETWEEN 0 AND 240
);
ALTER TABLE "bookings" ADD CONSTRAINT "bookings_sequence_check" CHECK ("sequence" >= 0);
