-- The language of mail to the guest. Null for bookings from before: their guests get English, as before.
ALTER TABLE "bookings" ADD COLUMN     "language" TEXT;
