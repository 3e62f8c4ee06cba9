-- The file of a recording is tried until its link expires, and a failed recording can get its file after all.

-- AlterTable
ALTER TABLE "recordings" ADD COLUMN     "failed_at" TIMESTAMPTZ(3),
ADD COLUMN     "offered_at" TIMESTAMPTZ(3);

-- AlterTable
ALTER TABLE "recording_copies" ADD COLUMN     "expires_at" TIMESTAMPTZ(3),
ALTER COLUMN "next_attempt_at" DROP NOT NULL;
