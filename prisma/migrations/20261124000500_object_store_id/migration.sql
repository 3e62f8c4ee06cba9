-- The store that holds the files of this database. A server with another store refuses to start.

-- CreateTable
CREATE TABLE "object_store_id" (
    "is_only" BOOLEAN NOT NULL DEFAULT true,
    "store" TEXT NOT NULL,

    CONSTRAINT "object_store_id_pkey" PRIMARY KEY ("is_only")
);

ALTER TABLE "object_store_id" ADD CONSTRAINT "object_store_id_is_only" CHECK ("is_only");
