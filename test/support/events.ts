/** The event log. */
import type { TestApp } from './test-app.ts';

export type LoggedEvent = { type: string; data: unknown };

/** Returns the events of a workspace, or those of one type, in the order in which they were written. */
export async function eventsOf(app: TestApp, workspaceId: number, type?: string): Promise<LoggedEvent[]> {
  return app.services.db.event.findMany({
    where: { workspaceId, ...(type !== undefined && { type }) },
    orderBy: { id: 'asc' },
    select: { type: true, data: true },
  });
}
