/** The recorder of the server of the tests: it writes a file where it was asked to, with the credentials it got. */
import { Readable } from 'node:stream';
import {
  EgressInfo,
  EgressStatus,
  ListEgressRequest,
  ListEgressResponse,
  RoomCompositeEgressRequest,
  StopEgressRequest,
} from '@livekit/protocol';
import { systemClock } from '../../src/core/time.ts';
import { createS3Store } from '../../src/storage/s3-store.ts';

type Started = { request: RoomCompositeEgressRequest; status: EgressStatus };

export class EgressStub {
  /** By ID. */
  readonly started = new Map<string, Started>();
  /** What the next egress writes; null for nothing. */
  file: Buffer | null = null;
  /** Whether the next start is carried out, but answered with a failure. */
  losesAnswer = false;
  /** Whether egresses are in no list. */
  isHidden = false;
  /** Whether egresses go on after they were stopped. */
  ignoresStop = false;

  start(body: never): EgressInfo | null {
    const request = RoomCompositeEgressRequest.fromJson(body);
    const egressId = `EG_${this.started.size}`;
    this.started.set(egressId, { request, status: EgressStatus.EGRESS_STARTING });
    return this.losesAnswer ? null : this.#toInfo(egressId);
  }

  list(body: never): ListEgressResponse {
    const { roomName, egressId } = ListEgressRequest.fromJson(body);
    const ids = [...this.started].filter(([id, { request }]) => id === egressId || request.roomName === roomName);
    return new ListEgressResponse({ items: (this.isHidden ? [] : ids).map(([id]) => this.#toInfo(id)) });
  }

  async stop(body: never): Promise<EgressInfo | null> {
    const { egressId } = StopEgressRequest.fromJson(body);
    if (!this.started.has(egressId)) return null;
    if (!this.ignoresStop) await this.finish(egressId, EgressStatus.EGRESS_COMPLETE);
    return this.#toInfo(egressId);
  }

  /** Writes the file, unless the egress failed, and ends the egress. */
  async finish(egressId: string, status: EgressStatus): Promise<void> {
    const egress = this.started.get(egressId);
    if (egress === undefined) throw new Error(`No egress ${egressId}`);
    const [output] = egress.request.fileOutputs;
    if (this.file !== null && output?.output.case === 's3') {
      const { accessKey, secret, ...target } = output.output.value;
      const store = createS3Store({
        ...{ bucket: target.bucket, region: target.region, endpoint: target.endpoint },
        forcePathStyle: target.forcePathStyle,
        clock: systemClock,
        ...{ accessKeyId: accessKey, secretAccessKey: secret },
      });
      await store.put(output.filepath, Readable.from([this.file]), { contentType: 'video/mp4' });
    }
    egress.status = status;
  }

  #toInfo(egressId: string): EgressInfo {
    const { request, status } = this.started.get(egressId) ?? {};
    return new EgressInfo({
      egressId,
      ...(status !== undefined && { status }),
      ...(request && { roomName: request.roomName, request: { case: 'roomComposite', value: request } }),
    });
  }
}
