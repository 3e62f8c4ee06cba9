/** The event log, as tests look at it. */
import type { TestApp } from './test-app.ts';

export type LoggedEvent = { type: string; data: unknown };

/** The events of a workspace in the order in which they were written, or only those of one type. */
export async function eventsOf(app: TestApp, workspaceId: number, type?: string): Promise<LoggedEvent[]> {
  return app.services.db.event.findMany({
    where: { workspaceId, ...(type !== undefined && { type }) },
    orderBy: { id: 'asc' },
    select: { type: true, data: true },
  });
}
