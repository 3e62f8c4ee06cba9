/** The uploads: of a file into the library, and of the file of a recording. */
import type { FastifyInstance } from 'fastify';
import type { Actor } from '../auth/identify.ts';
import { badField } from '../core/errors.ts';
import { MAX_ITEM_BYTES, uploadItem } from '../features/library/upload.ts';
import { findRecorder, findUploader, type Uploader, uploadRecording } from '../features/recordings/upload.ts';
import { createUploadLocks } from '../features/recordings/upload-locks.ts';
import type { Services } from '../services.ts';
import { requireCaller, requireRole } from '../trpc/trpc.ts';
import { createContext, credentialOf, identifyRequest } from './context.ts';
import { routeOf } from './fastify-path.ts';
import { idInPath, workspaceIdOf } from './rest.ts';
import { defaultTimeouts, leaveBodiesUnread } from './streaming-body.ts';
import { LIBRARY_UPLOAD_PATH, RECORDING_UPLOAD_PATH } from './upload-document.ts';
import { addUpload, type Upload } from './upload-route.ts';

/** Registers the uploads. They need a plugin context of their own, because here a body of any type is left unread. */
export function serveUpload(app: FastifyInstance, services: Services, timeouts = defaultTimeouts): void {
  leaveBodiesUnread(app, timeouts);
  addUpload(app, libraryUpload(services), timeouts);
  addUpload(app, recordingUpload(services), timeouts);
}

function libraryUpload(services: Services): Upload<Actor> {
  return {
    url: routeOf(LIBRARY_UPLOAD_PATH),
    maxBytes: MAX_ITEM_BYTES,
    async admit(request, reply) {
      const workspaceId = workspaceIdOf(request);
      const identity = await identifyRequest(services, request, workspaceId);
      const caller = await requireCaller(createContext(services, request, reply), identity);
      if (workspaceId === null) throw noId('id');
      return requireRole(caller, identity, 'member');
    },
    receive: async (actor, upload) => ({ item: await uploadItem(services, actor, upload) }),
  };
}

function noId(name: string) {
  return badField(name, `${name} must be a positive 32-bit integer`);
}

function recordingUpload(
  services: Services,
  locks = createUploadLocks(),
): Upload<{ uploader: Uploader; origin: string }> {
  return {
    url: routeOf(RECORDING_UPLOAD_PATH),
    maxBytes: services.settings.maxRecordingBytes,
    async admit(request, reply) {
      const context = createContext(services, request, reply);
      const { token } = credentialOf(request);
      const recorder = token === null ? null : await findRecorder(services.db, token);
      if (recorder !== null) await services.limits.consume('perCredential', `recorder:${recorder.id}`, context);
      const caller = recorder ?? (await requireCaller(context, await identifyRequest(services, request, null)));
      const recordingId = idInPath(request, 'recordingId');
      if (recordingId === null) throw noId('recordingId');
      return { uploader: await findUploader(services.db, caller, recordingId), origin: context.origin };
    },
    receive: async ({ uploader, origin }, upload) => ({
      recording: await locks.withLock(uploader.recordingId, () => uploadRecording(services, uploader, upload, origin)),
    }),
  };
}
