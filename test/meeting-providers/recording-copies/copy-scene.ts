/** A team with a room and a provider whose files wait to be copied. Time passes only when a test says so. */
import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'vitest';
import { type CopyLease, leaseCopies } from '../../../src/features/meeting-providers/recording-copies/copy-queue.ts';
import { copyRecording } from '../../../src/features/meeting-providers/recording-copies/copy-recording.ts';
import {
  createFileFetcher,
  type FileTimeouts,
} from '../../../src/features/meeting-providers/recording-copies/fetch-file.ts';
import { eventsOf } from '../../support/events.ts';
import { createManualTicker, type ManualTicker } from '../../support/manual-ticker.ts';
import { makeMp4 } from '../../support/media.ts';
import { type Handler, type Receiver, respond, startReceiver } from '../../support/receiver.ts';
import { startTestApp, type TestApp } from '../../support/test-app.ts';
import { addTeam, type Team } from '../../support/world.ts';
import { genericEvent } from '../adapters/callbacks.ts';
import { addRoom, connect, type Room, type Source } from '../ingest/connected-provider.ts';

export const MP4 = makeMp4({ durationSeconds: 12, moov: 'front', mdatBytes: 300_000 });
export const serveMp4: Handler = respond(200, MP4, { 'content-type': 'video/mp4' });

export type CopyScene = {
  app: TestApp;
  /** The time when a test begins, in milliseconds. */
  startedAt: number;
  /** Serves the files. */
  server: Receiver;
  ticker: ManualTicker;
  team: Team;
  room: Room;
  source: Source;
};

/** Sets the scene up for each test of a file. The fields of the result are set when a test begins. */
export function useCopyScene({ hasMetrics = false } = {}): CopyScene {
  const scene = {} as CopyScene; // The hooks set its fields.
  beforeAll(async () => {
    const settings = { maxRecordingBytes: 1_000_000 };
    scene.app = await startTestApp({ frozenAt: new Date(), settings, hasMetrics });
    scene.server = await startReceiver();
  });
  afterAll(async () => {
    await scene.server.close();
    await scene.app.close();
  });
  beforeEach(async () => {
    const { app, server } = scene;
    scene.startedAt = app.clock.now().getTime();
    server.respondWith(serveMp4);
    server.requests.length = 0;
    scene.ticker = createManualTicker();
    scene.team = await addTeam(app);
    scene.room = await addRoom(app, scene.team, `session ${scene.team.id}`);
    scene.source = await connect(app, scene.team, 'generic');
  });
  afterEach(() => scene.app.services.db.recordingCopy.deleteMany());
  return scene;
}

/** The provider reports that the file of a recording can be fetched. */
export function reportAvailable({ source, room }: CopyScene, url: string, recording: object = {}) {
  return source.post(genericEvent('recording.available', { url, ...recording }, { room: room.name }));
}

/** Starts to copy the files that are due. `ended` resolves when all results are recorded. */
export async function startCopies(
  { app, ticker }: CopyScene,
  timeouts: FileTimeouts = {},
): Promise<{ count: number; ended: Promise<void> }> {
  const fetcher = createFileFetcher(app.services.addressGuard, timeouts);
  const context = { services: app.services, fetcher, ticker, onCopy: app.metrics?.onCopy };
  const leases = await leaseCopies(app.services, 12);
  const copies = leases.map((lease) => copyRecording(context, lease, new AbortController().signal));
  const end = async (): Promise<void> => {
    await Promise.all(copies);
    await fetcher.close();
  };
  return { count: copies.length, ended: end() };
}

/** Copies the files that are due. */
export async function copyDue(scene: CopyScene, timeouts?: FileTimeouts): Promise<void> {
  const { ended } = await startCopies(scene, timeouts);
  await ended;
}

/** Leases the one file that is due. */
export async function leaseOne({ app }: CopyScene): Promise<CopyLease> {
  const [lease] = await leaseCopies(app.services, 1);
  if (!lease) throw new Error('No file is due');
  return lease;
}

/** The one recording of the team, with its place in the queue. */
export function readRecording({ app, team }: CopyScene) {
  return app.services.db.recording.findFirstOrThrow({ where: { workspaceId: team.id }, include: { copy: true } });
}

/** Expects that the recording has failed, and that its file is no longer tried. Returns the reason. */
export async function expectFailed(scene: CopyScene): Promise<string | null> {
  const { status, failureReason, copy, fileKey } = await readRecording(scene);
  expect([status, copy?.nextAttemptAt ?? null, copy?.leasedUntil ?? null, fileKey]).toEqual([
    'failed',
    null,
    null,
    null,
  ]);
  expect(await eventsOf(scene.app, scene.team.id, 'recording.completed')).toEqual([]);
  return failureReason;
}

/** Expects that another attempt will follow. Returns the error of the last one. */
export async function expectRetry(scene: CopyScene, attempts = 1): Promise<string | null> {
  const { copy } = await readRecording(scene);
  expect(copy).toMatchObject({ attempts, leasedUntil: null });
  return copy?.lastError ?? null;
}
