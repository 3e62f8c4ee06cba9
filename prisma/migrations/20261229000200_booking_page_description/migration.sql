-- What a booking page says to guests. Nothing by default, as before.
ALTER TABLE "booking_pages" ADD COLUMN     "description" TEXT;
