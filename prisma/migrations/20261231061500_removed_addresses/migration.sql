-- Whom a member has removed does not come back with another account of the same address: what is left of a deleted
-- account is a hash. Who is a member again was invited, and is not barred any more.
DELETE FROM "removed_members" r USING "members" m
WHERE m."workspace_id" = r."workspace_id" AND m."user_id" = r."user_id";

ALTER TABLE "removed_members" ADD COLUMN "address_hash" BYTEA;
UPDATE "removed_members" r SET "address_hash" = sha256(convert_to(r."workspace_id" || ' ' || u."email", 'UTF8'))
FROM "users" u WHERE u."id" = r."user_id";

ALTER TABLE "removed_members" DROP CONSTRAINT "removed_members_pkey",
ALTER COLUMN "address_hash" SET NOT NULL,
ALTER COLUMN "user_id" DROP NOT NULL,
ADD CONSTRAINT "removed_members_pkey" PRIMARY KEY ("workspace_id", "address_hash"),
DROP CONSTRAINT "removed_members_user_id_fkey",
ADD CONSTRAINT "removed_members_user_id_fkey"
  FOREIGN KEY ("user_id") REFERENCES "users"("id") ON DELETE SET NULL ON UPDATE CASCADE;
