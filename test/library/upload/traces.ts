/** Everything that an upload writes: rows, events, stored objects and temporary files. */
import { expect } from 'vitest';
import { eventsOf } from '../../support/events.ts';
import { stagedIn, storedKeys } from '../../support/stored-files.ts';
import type { TestApp } from '../../support/test-app.ts';

export function itemsOf(app: TestApp, workspaceId: number) {
  return app.services.db.libraryItem.findMany({ where: { workspaceId }, orderBy: { id: 'asc' } });
}

export async function tracesOf(app: TestApp, workspaceId: number) {
  const workspace = await app.services.db.workspace.findUnique({ where: { id: workspaceId } });
  return {
    rows: (await itemsOf(app, workspaceId)).length,
    counted: workspace?.libraryItemCount ?? 0,
    uploadedEvents: (await eventsOf(app, workspaceId, 'library_item.uploaded')).length,
    objects: (await storedKeys(app, workspaceId)).length,
    staged: (await stagedIn(app)).length,
  };
}

/** Expects no row, event, stored object or temporary file. */
export async function expectNoTrace(app: TestApp, workspaceId: number): Promise<void> {
  const nothing = { rows: 0, counted: 0, uploadedEvents: 0, objects: 0, staged: 0 };
  expect(await tracesOf(app, workspaceId)).toEqual(nothing);
}

/** Expects exactly `count` items, each with its event and stored object, and no temporary file. */
export async function expectItems(app: TestApp, workspaceId: number, count: number): Promise<void> {
  const all = { rows: count, counted: count, uploadedEvents: count, objects: count, staged: 0 };
  expect(await tracesOf(app, workspaceId)).toEqual(all);
}
