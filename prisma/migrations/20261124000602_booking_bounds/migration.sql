-- What the bounds on anonymous bookings count: by the mailbox of the guest, by the network, and by the host.

-- AlterTable
ALTER TABLE "bookings" ADD COLUMN     "mailbox" TEXT,
ADD COLUMN     "network_hash" BYTEA;

-- As in src/features/bookings/mailbox.ts.
UPDATE "bookings" SET "mailbox" = CASE
  WHEN split_part("email", '@', 2) IN ('gmail.com', 'googlemail.com')
    THEN replace(regexp_replace(split_part("email", '@', 1), '(.)\+.*$', '\1'), '.', '') || '@gmail.com'
  ELSE regexp_replace(split_part("email", '@', 1), '(.)\+.*$', '\1') || '@' || split_part("email", '@', 2)
END;

ALTER TABLE "bookings" ALTER COLUMN "mailbox" SET NOT NULL;

-- CreateIndex
CREATE INDEX "bookings_user_id_created_at_idx" ON "bookings"("user_id", "created_at");
