/** What a connection reports about itself, for pages and for the quality of the pictures. */
import type { Link } from './link.ts';
import { findLoss, type Measurement, type QualityLevel } from './quality.ts';
import type { PeerStats } from './types.ts';

/** The fields of the reports that are used. Browsers leave some out, so each is optional. */
export type Report = {
  readonly type: string;
  readonly id: string;
  readonly kind?: string;
  readonly mid?: string;
  readonly localId?: string;
  readonly packetsSent?: number;
  readonly bytesSent?: number;
  readonly bytesReceived?: number;
  readonly packetsReceived?: number;
  readonly packetsLost?: number;
  readonly fractionLost?: number;
  readonly framesDecoded?: number;
  readonly frameWidth?: number;
  readonly frameHeight?: number;
  readonly totalAudioEnergy?: number;
  readonly currentRoundTripTime?: number;
  readonly roundTripTime?: number;
  readonly availableOutgoingBitrate?: number;
  readonly qualityLimitationReason?: string;
  readonly selectedCandidatePairId?: string;
  readonly localCandidateId?: string;
  readonly remoteCandidateId?: string;
  readonly candidateType?: string;
  readonly selected?: boolean;
  readonly nominated?: boolean;
  readonly state?: string;
};

export type Reports = ReadonlyMap<string, Report>;

/** null if the connection is closed meanwhile. */
export async function readReports(link: Link): Promise<Reports | null> {
  const stats = await link.getStats();
  if (!stats) return null;
  const reports = new Map<string, Report>();
  // The type of a report depends on its `type`, which TypeScript does not know.
  for (const [id, report] of stats) reports.set(id, report as Report);
  return reports;
}

export function toPeerStats(link: Link, reports: Reports, sentLevel: QualityLevel): PeerStats {
  const all = [...reports.values()];
  const received = all.filter(({ type }) => type === 'inbound-rtp');
  const pair = findPair(reports);
  const [local, remote] = [pair?.localCandidateId, pair?.remoteCandidateId].map((id) => reports.get(id ?? ''));
  const ofPeer = all.filter(({ type }) => type === 'remote-inbound-rtp');
  const cameraMid = link.transceiver('camera')?.mid;
  const camera = received.find(({ kind, mid }) => kind === 'video' && mid === cameraMid);
  return {
    bytesSent: pair?.bytesSent ?? 0,
    bytesReceived: pair?.bytesReceived ?? 0,
    packetsReceived: sum(received, 'packetsReceived'),
    packetsLost: sum(received, 'packetsLost'),
    roundTripTime: pair?.currentRoundTripTime ?? ofPeer.find((one) => one.roundTripTime)?.roundTripTime ?? null,
    framesDecoded: sum(received, 'framesDecoded'),
    cameraFramesDecoded: camera?.framesDecoded ?? 0,
    frameWidth: camera?.frameWidth ?? 0,
    frameHeight: camera?.frameHeight ?? 0,
    audioEnergy: sum(received, 'totalAudioEnergy'),
    candidatePair: local && remote ? { local: local.candidateType ?? '', remote: remote.candidateType ?? '' } : null,
    sentLevel,
  };
}

/** Whether this side reaches the peer through a relay, whose credentials end. */
export function usesRelay(reports: Reports): boolean {
  return reports.get(findPair(reports)?.localCandidateId ?? '')?.candidateType === 'relay';
}

/** `earlier`: what the last measurement read. */
export function measure(link: Link, reports: Reports, earlier: Reports | null): Measurement {
  const all = [...reports.values()];
  const cameraMid = link.transceiver('camera')?.mid;
  const camera = all.find(({ type, mid }) => type === 'outbound-rtp' && mid === cameraMid);
  const isSent = link.transceiver('camera')?.sender.getParameters().encodings?.[0]?.active !== false;
  return {
    lossRatio: findLoss(reports, earlier),
    availableBitrate: findPair(reports)?.availableOutgoingBitrate ?? null,
    isLimited: isSent && camera?.qualityLimitationReason === 'bandwidth',
  };
}

/** The candidates in use. Firefox marks them in a way of its own. */
function findPair(reports: Reports): Report | undefined {
  const all = [...reports.values()];
  const selected = all.find(({ type }) => type === 'transport')?.selectedCandidatePairId;
  return (
    reports.get(selected ?? '') ??
    all.find((one) => one.type === 'candidate-pair' && one.selected) ??
    all.find((one) => one.type === 'candidate-pair' && one.nominated && one.state === 'succeeded')
  );
}

function sum(reports: Report[], field: 'packetsReceived' | 'packetsLost' | 'framesDecoded' | 'totalAudioEnergy') {
  return reports.reduce((total, report) => total + (report[field] ?? 0), 0);
}
