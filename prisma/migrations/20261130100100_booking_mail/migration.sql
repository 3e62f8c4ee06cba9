-- Mail about bookings: reminders, bookings that the guest confirms by mail, and calendar feeds of hosts.

-- AlterTable
ALTER TABLE "booking_pages" ADD COLUMN     "confirm_email" BOOLEAN NOT NULL DEFAULT false,
ADD COLUMN     "notify_host" BOOLEAN NOT NULL DEFAULT true,
ADD COLUMN     "reminder_minutes" INTEGER DEFAULT 1440;

-- AlterTable
ALTER TABLE "bookings" ADD COLUMN     "confirm_by" TIMESTAMPTZ(3),
ADD COLUMN     "confirm_hash" BYTEA,
ADD COLUMN     "reminder_at" TIMESTAMPTZ(3),
ADD COLUMN     "sealed_token" BYTEA;

-- CreateTable
CREATE TABLE "calendar_feeds" (
    "user_id" INTEGER NOT NULL,
    "token_hash" BYTEA NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "calendar_feeds_pkey" PRIMARY KEY ("user_id")
);

-- CreateIndex
CREATE UNIQUE INDEX "calendar_feeds_token_hash_key" ON "calendar_feeds"("token_hash");

-- CreateIndex
CREATE UNIQUE INDEX "bookings_confirm_hash_key" ON "bookings"("confirm_hash");

-- AddForeignKey
ALTER TABLE "calendar_feeds" ADD CONSTRAINT "calendar_feeds_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- Beyond Prisma --------------------------------------------------------------------------------------------------------

-- As in src/features/booking-pages/schemas.ts.
ALTER TABLE "booking_pages" ADD CONSTRAINT "booking_pages_reminder_check" CHECK ("reminder_minutes" BETWEEN 5 AND 20160);

-- Only a booking that has a link to confirm it can be unconfirmed.
ALTER TABLE "bookings" ADD CONSTRAINT "bookings_confirm_check" CHECK ("confirm_by" IS NULL OR "confirm_hash" IS NOT NULL);

-- Both indexes are small: a reminder is removed once it is queued, and few bookings are unconfirmed.
CREATE INDEX "bookings_reminders" ON "bookings" ("reminder_at") WHERE "reminder_at" IS NOT NULL AND "cancelled_at" IS NULL;
CREATE INDEX "bookings_unconfirmed" ON "bookings" ("user_id", "confirm_by") WHERE "confirm_by" IS NOT NULL;
