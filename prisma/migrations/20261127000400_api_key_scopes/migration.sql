-- AlterTable
ALTER TABLE "api_keys" ADD COLUMN     "allowed_networks" INET[] DEFAULT ARRAY[]::INET[],
ADD COLUMN     "expires_at" TIMESTAMPTZ(3),
ADD COLUMN     "is_of_workspace" BOOLEAN NOT NULL DEFAULT false,
ADD COLUMN     "last_used_address" TEXT,
ADD COLUMN     "previous_expires_at" TIMESTAMPTZ(3),
ADD COLUMN     "previous_key_hash" BYTEA,
ADD COLUMN     "previous_key_prefix" TEXT,
ADD COLUMN     "previous_last_used_address" TEXT,
ADD COLUMN     "previous_last_used_at" TIMESTAMPTZ(3),
ADD COLUMN     "rotated_at" TIMESTAMPTZ(3),
ADD COLUMN     "scopes" TEXT[] DEFAULT ARRAY[]::TEXT[];

-- CreateIndex
CREATE UNIQUE INDEX "api_keys_previous_key_hash_key" ON "api_keys"("previous_key_hash");

-- An empty list means that nothing is restricted. Null must not be a third state.
ALTER TABLE "api_keys" ADD CONSTRAINT "api_keys_lists" CHECK ("scopes" IS NOT NULL AND "allowed_networks" IS NOT NULL);

-- A previous key always ends.
ALTER TABLE "api_keys" ADD CONSTRAINT "api_keys_previous" CHECK (
  num_nulls("previous_key_hash", "previous_key_prefix", "previous_expires_at") IN (0, 3)
  AND ("previous_key_hash" IS NOT NULL OR num_nonnulls("previous_last_used_at", "previous_last_used_address") = 0)
);
