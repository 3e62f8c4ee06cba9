/** The calls of Egress, the recorder of a LiveKit server. */
import type { EgressInfo } from '@livekit/protocol';
import type { EgressTarget } from '../../../services.ts';
import { type CalledServer, type LivekitCaller, readMessage } from './livekit-caller.ts';

/** `running`: it records, or is about to begin; `ending`: it stores its file; `done`: the file is stored. */
export type EgressState = 'running' | 'ending' | 'done' | 'failed';
export type Egress = { egressId: string; state: EgressState };

/** What is recorded, and the path of its file in the bucket. `egressId` is null until the server has begun. */
export type EgressTask = { room: string; path: string; egressId: string | null };

/** The server, and where it writes. */
export type EgressSettings = { server: CalledServer; target: EgressTarget };

/** All throw LivekitFailed. */
export type EgressService = {
  /** Finds the egress of a task, also one whose start was not answered; null if the server knows none. */
  find(settings: EgressSettings, task: EgressTask, signal: AbortSignal): Promise<Egress | null>;
  start(settings: EgressSettings, task: EgressTask, signal: AbortSignal): Promise<Egress>;
  stop(settings: EgressSettings, egressId: string, signal: AbortSignal): Promise<void>;
};

const grant = { roomRecord: true };

/** In kbit/s. Pictures of 720p: a recording of the greatest size by default lasts for almost three hours. */
const [VIDEO_KBPS, AUDIO_KBPS] = [1_500, 128];
/** How many bytes a second of a recording has, with a tenth for what encoders exceed. */
export const EGRESS_BYTES_PER_SECOND = ((VIDEO_KBPS + AUDIO_KBPS) * 1_000 * 1.1) / 8;

export function createEgressService({ call }: LivekitCaller): EgressService {
  return {
    async find({ server }, { room, path, egressId }, signal) {
      const { ListEgressRequest, ListEgressResponse } = await import('@livekit/protocol');
      const body = new ListEgressRequest(egressId === null ? { roomName: room } : { egressId }).toJson();
      const answer = await call(server, { method: 'Egress/ListEgress', grant, body, signal });
      if (answer === null) return null;
      const { items } = readMessage(() =>
        // `as`: the body is whatever the server sent, which `fromJson` checks.
        ListEgressResponse.fromJson(answer as never, { ignoreUnknownFields: true }),
      );
      const found = items.find((item) => (egressId === null ? pathOf(item) === path : item.egressId === egressId));
      return found === undefined ? null : toEgress(found);
    },
    async start({ server, target }, { room, path }, signal) {
      const messages = await import('@livekit/protocol');
      const { EgressInfo, EncodedFileOutput, EncodedFileType, EncodingOptions, S3Upload } = messages;
      const { accessKeyId: accessKey, secretAccessKey: secret, prefix: _, ...bucket } = target;
      const file = new EncodedFileOutput({
        fileType: EncodedFileType.MP4,
        filepath: path,
        disableManifest: true,
        output: { case: 's3', value: new S3Upload({ accessKey, secret, ...bucket }) },
      });
      const sizes = { width: 1_280, height: 720, framerate: 30, videoBitrate: VIDEO_KBPS, audioBitrate: AUDIO_KBPS };
      const request = new messages.RoomCompositeEgressRequest({
        roomName: room,
        layout: 'grid',
        fileOutputs: [file],
        options: { case: 'advanced', value: new EncodingOptions(sizes) },
      });
      const body = request.toJson();
      const answer = await call(server, { method: 'Egress/StartRoomCompositeEgress', grant, body, signal });
      return toEgress(
        readMessage(() => {
          // `as`: as above.
          const started = EgressInfo.fromJson(answer as never, { ignoreUnknownFields: true });
          if (started.egressId === '') throw new TypeError('An egress without an ID');
          return started;
        }),
      );
    },
    async stop({ server }, egressId, signal) {
      const { StopEgressRequest } = await import('@livekit/protocol');
      const body = new StopEgressRequest({ egressId }).toJson();
      await call(server, { method: 'Egress/StopEgress', grant, body, signal });
    },
  };
}

/** EgressStatus: 0 starting, 1 active, 2 ending, 3 complete, 4 failed, 5 aborted, 6 its limit of time is reached. */
const states: readonly EgressState[] = ['running', 'running', 'ending', 'done', 'failed', 'failed', 'done'];

function toEgress({ egressId, status }: EgressInfo): Egress {
  return { egressId, state: states[status] ?? 'running' };
}

function pathOf({ request }: EgressInfo): string | undefined {
  return request.case === 'roomComposite' ? request.value.fileOutputs[0]?.filepath : undefined;
}
