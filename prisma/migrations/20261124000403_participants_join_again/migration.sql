-- A user who joins again while present gets the same participant and token.

-- AlterTable
ALTER TABLE "participants" ADD COLUMN     "sealed_token" BYTEA;

-- Beyond Prisma: a user has one present participant with a token in a room ----------------------------------------------

CREATE UNIQUE INDEX "participants_one_present" ON "participants" ("workspace_id", "room_id", "user_id")
  WHERE "status" IN ('waiting', 'joined') AND "sealed_token" IS NOT NULL;
