-- Devices from which users have signed in, authenticator apps (TOTP) and recovery codes.

-- CreateTable
CREATE TABLE "known_devices" (
    "user_id" INTEGER NOT NULL,
    "device_hash" BYTEA NOT NULL,
    "last_seen_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "known_devices_pkey" PRIMARY KEY ("user_id","device_hash")
);

-- CreateTable
CREATE TABLE "second_factors" (
    "user_id" INTEGER NOT NULL,
    "sealed_secret" BYTEA NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "confirmed_at" TIMESTAMPTZ(3),
    "last_step" INTEGER NOT NULL DEFAULT 0,
    "failures" INTEGER NOT NULL DEFAULT 0,
    "blocked_until" TIMESTAMPTZ(3),

    CONSTRAINT "second_factors_pkey" PRIMARY KEY ("user_id")
);

-- CreateTable
CREATE TABLE "recovery_codes" (
    "user_id" INTEGER NOT NULL,
    "code_hash" BYTEA NOT NULL,

    CONSTRAINT "recovery_codes_pkey" PRIMARY KEY ("user_id","code_hash")
);

-- CreateIndex
CREATE INDEX "known_devices_last_seen_at_idx" ON "known_devices"("last_seen_at");

-- AddForeignKey
ALTER TABLE "known_devices" ADD CONSTRAINT "known_devices_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "second_factors" ADD CONSTRAINT "second_factors_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "recovery_codes" ADD CONSTRAINT "recovery_codes_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "second_factors"("user_id") ON DELETE CASCADE ON UPDATE CASCADE;
