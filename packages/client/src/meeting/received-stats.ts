/** What is received of a peer by a server, added up track by track. */
import type { Report } from './link-stats.ts';
import type { TrackKind } from './track-kind.ts';
import type { PeerStats } from './types.ts';

export const nothingReceived: PeerStats = {
  bytesSent: 0,
  bytesReceived: 0,
  packetsReceived: 0,
  packetsLost: 0,
  roundTripTime: null,
  framesDecoded: 0,
  cameraFramesDecoded: 0,
  frameWidth: 0,
  frameHeight: 0,
  audioEnergy: 0,
  candidatePair: null,
  sentLevel: 0,
};

/** Adds what the receiver of one track reports. */
export function addReceived(stats: PeerStats, kind: TrackKind, reports: RTCStatsReport): PeerStats {
  let sum = stats;
  for (const one of reports.values()) {
    // `as`: the type of a report depends on its `type`, which TypeScript does not know.
    const report = one as Report;
    if (report.type === 'candidate-pair' && report.nominated)
      sum = { ...sum, roundTripTime: report.currentRoundTripTime ?? sum.roundTripTime };
    if (report.type === 'inbound-rtp') sum = addTrack(sum, kind, report);
  }
  return sum;
}

function addTrack(stats: PeerStats, kind: TrackKind, report: Report): PeerStats {
  const { bytesReceived = 0, packetsReceived = 0, packetsLost = 0, framesDecoded = 0, totalAudioEnergy = 0 } = report;
  const { frameWidth = 0, frameHeight = 0 } = report;
  return {
    ...stats,
    bytesReceived: stats.bytesReceived + bytesReceived,
    packetsReceived: stats.packetsReceived + packetsReceived,
    packetsLost: stats.packetsLost + packetsLost,
    framesDecoded: stats.framesDecoded + framesDecoded,
    audioEnergy: stats.audioEnergy + totalAudioEnergy,
    ...(kind === 'camera' && { cameraFramesDecoded: framesDecoded, frameWidth, frameHeight }),
  };
}
