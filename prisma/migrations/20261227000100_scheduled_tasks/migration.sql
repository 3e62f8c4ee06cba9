-- The tasks of the schedule, which the processes share. Each process adds the tasks that it knows.
CREATE TABLE "scheduled_tasks" (
    "name" TEXT NOT NULL,
    "cron" TEXT NOT NULL,
    "next_run_at" TIMESTAMPTZ(3) NOT NULL,
    "leased_until" TIMESTAMPTZ(3),
    "runs" INTEGER NOT NULL DEFAULT 0,
    "failures" INTEGER NOT NULL DEFAULT 0,
    "last_ended_at" TIMESTAMPTZ(3),

    CONSTRAINT "scheduled_tasks_pkey" PRIMARY KEY ("name")
);
