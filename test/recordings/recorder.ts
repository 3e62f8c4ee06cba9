/** What the recorder would tell, told directly. */
import { Readable } from 'node:stream';
import { transact } from '../../src/db/client.ts';
import {
  advanceRecording,
  type Progress,
  type RecordingKey,
  startRecording,
} from '../../src/routers/recordings/write-recordings.ts';
import { createObjectKey } from '../../src/storage/create-object-key.ts';
import type { TestApp } from '../support/test-app.ts';

export const start = ({ services: { db }, clock }: TestApp, recording: RecordingKey & { title?: string | null }) =>
  transact(db, (tx) => startRecording(tx, clock.now(), recording));

export const advance = ({ services: { db }, clock }: TestApp, key: RecordingKey, progress: Progress) =>
  transact(db, (tx) => advanceRecording(tx, clock.now(), key, progress));

/** A stored object of the workspace. */
export const storeFile = async (
  { services: { store } }: TestApp,
  workspaceId: number,
  text: string,
): Promise<string> => {
  const key = createObjectKey(workspaceId, 'recordings');
  await store.put(key, Readable.from([Buffer.from(text)]), { contentType: 'video/mp4' });
  return key;
};

/** All keys in the store. */
export const storedKeys = async ({ services: { store } }: TestApp): Promise<string[]> => {
  const keys: string[] = [];
  for await (const { key } of store.list('v1/')) keys.push(key);
  return keys;
};
