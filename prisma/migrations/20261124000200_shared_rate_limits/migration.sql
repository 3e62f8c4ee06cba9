-- How often each caller has called in the current minute, which all processes share. Unlogged: it need not survive a
-- crash, and writing it costs no WAL. Free space in each page lets an update stay in its page.

-- CreateTable
CREATE UNLOGGED TABLE "rate_limits" (
    "key" TEXT NOT NULL,
    "count" INTEGER NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "rate_limits_pkey" PRIMARY KEY ("key")
) WITH (fillfactor = 50);
