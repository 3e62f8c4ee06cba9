/**
 * How much a page sends of its camera. Each page sends its picture to every other one, so it shrinks as people join.
 * Where a connection loses packets or is too slow, it shrinks further, and is left out before the sound breaks.
 */

/** 0: what the number of people allows; 1 and 2: fewer pixels; 3: no picture of the camera. */
export type QualityLevel = 0 | 1 | 2 | 3;

/** What a sender of pictures is set to. */
export type PictureLimits = { isActive: boolean; maxBitrate: number; scaleDownBy: number; maxFramerate: number };

/** What was measured since the last step. null where the browser does not say. */
export type Measurement = {
  /** Share of the packets that the peer did not get, 0 to 1. */
  lossRatio: number | null;
  /** What the connection can carry, in bits per second. */
  availableBitrate: number | null;
  /** Whether the browser already sends less than it may, because the connection is too slow. */
  isLimited: boolean;
};

export type Quality = {
  level: QualityLevel;
  /** Steps in a row that were bad, or good. */
  badSteps: number;
  goodSteps: number;
  /** How many good steps are needed to go up. It grows with each attempt that failed. */
  stepsToRise: number;
  /** Steps since the last change of the level. */
  age: number;
  /** Whether the last change was up, so that it may turn out to be a failed attempt. */
  hasRisen: boolean;
};

/** A step is taken about every two seconds. */
export const STEP_MS = 2_000;
const BAD_STEPS = 2;
const MIN_STEPS_TO_RISE = 5;
const MAX_STEPS_TO_RISE = 60;
/** Falling again within so many steps after rising is a failed attempt. */
const TRIAL_STEPS = 10;
const BAD_LOSS = 0.1;
const GOOD_LOSS = 0.03;

/** Pixels in height, and bits per second, by how many people take part; from five on, with fewer pixels. */
const sizes = [
  { maxPeople: 2, height: 720, bitrate: 2_500_000 },
  { maxPeople: 3, height: 720, bitrate: 1_500_000 },
  { maxPeople: 4, height: 720, bitrate: 1_000_000 },
  { maxPeople: 5, height: 360, bitrate: 500_000 },
  { maxPeople: 6, height: 270, bitrate: 350_000 },
  { maxPeople: Number.POSITIVE_INFINITY, height: 180, bitrate: 220_000 },
] as const;

/** What each level leaves of the height and of the bits. */
const shares: Record<QualityLevel, { height: number; bitrate: number }> = {
  0: { height: 1, bitrate: 1 },
  1: { height: 0.6, bitrate: 0.45 },
  2: { height: 0.35, bitrate: 0.18 },
  3: { height: 0.35, bitrate: 0.18 },
};

/** A shared screen keeps its pixels, since text would become unreadable, and gets fewer pictures and bits. */
const screens: Record<QualityLevel, { bitrate: number; framerate: number }> = {
  0: { bitrate: 1_800_000, framerate: 15 },
  1: { bitrate: 900_000, framerate: 10 },
  2: { bitrate: 400_000, framerate: 5 },
  3: { bitrate: 200_000, framerate: 3 },
};

/** How a connection begins. */
export const firstQuality: Quality = {
  level: 0,
  badSteps: 0,
  goodSteps: 0,
  stepsToRise: MIN_STEPS_TO_RISE,
  age: 0,
  hasRisen: false,
};

/** The limits of the camera for one peer. `people` counts everybody, and `height` is that of the track. */
export function limitCamera(people: number, level: QualityLevel, height: number): PictureLimits {
  const size = sizeFor(people);
  const share = shares[level];
  return {
    isActive: level < 3,
    maxBitrate: Math.round(size.bitrate * share.bitrate),
    scaleDownBy: Math.max(1, height / Math.round(size.height * share.height)),
    maxFramerate: 30,
  };
}

/** The limits of the shared screen for one peer. */
export function limitScreen(people: number, level: QualityLevel): PictureLimits {
  const { bitrate, framerate } = screens[level];
  return {
    isActive: true,
    maxBitrate: people > 4 ? Math.round(bitrate / 2) : bitrate,
    scaleDownBy: 1,
    maxFramerate: framerate,
  };
}

/** The quality after one more measurement. It falls after two bad ones in a row, and rises after many good ones. */
export function stepQuality(quality: Quality, measurement: Measurement, people: number): Quality {
  const { level } = quality;
  const isBad = isBadFor(measurement, limitCamera(people, level, 0).maxBitrate);
  const badSteps = isBad ? quality.badSteps + 1 : 0;
  const goodSteps = isBad || !isGood(measurement) ? 0 : quality.goodSteps + 1;
  const age = quality.age + 1;
  const changed = { badSteps: 0, goodSteps: 0, age: 0 };
  if (badSteps >= BAD_STEPS && level < 3) {
    const hasFailed = quality.hasRisen && age <= TRIAL_STEPS;
    const stepsToRise = hasFailed ? Math.min(quality.stepsToRise * 2, MAX_STEPS_TO_RISE) : quality.stepsToRise;
    return { ...changed, level: levelOf(level + 1), stepsToRise, hasRisen: false };
  }
  const stepsToRise = age > MAX_STEPS_TO_RISE ? MIN_STEPS_TO_RISE : quality.stepsToRise;
  if (goodSteps >= stepsToRise && level > 0)
    return { ...changed, level: levelOf(level - 1), stepsToRise, hasRisen: true };
  return { ...quality, badSteps, goodSteps, stepsToRise, age };
}

/** What the loss is read from, by ID. */
type LossReports = ReadonlyMap<string, { type: string; localId?: string; packetsSent?: number; fractionLost?: number }>;

/**
 * The greatest loss of what was sent since `earlier`. Browsers keep the last loss of what is not sent any more, so a
 * camera that was left out because of it would stay out.
 */
export function findLoss(reports: LossReports, earlier: LossReports | null): number | null {
  const losses = [...reports.values()].flatMap(({ type, localId = '', fractionLost }) => {
    const isSent = reports.get(localId)?.packetsSent !== earlier?.get(localId)?.packetsSent;
    return type === 'remote-inbound-rtp' && isSent ? (fractionLost ?? []) : [];
  });
  return losses.length === 0 ? null : Math.max(...losses);
}

function sizeFor(people: number): (typeof sizes)[number] {
  return sizes.find(({ maxPeople }) => people <= maxPeople) ?? sizes[sizes.length - 1] ?? sizes[0];
}

function isBadFor({ lossRatio, availableBitrate, isLimited }: Measurement, bitrate: number): boolean {
  if (lossRatio !== null && lossRatio > BAD_LOSS) return true;
  return isLimited && availableBitrate !== null && availableBitrate < bitrate / 2;
}

function isGood({ lossRatio, isLimited }: Measurement): boolean {
  return (lossRatio === null || lossRatio < GOOD_LOSS) && !isLimited;
}

function levelOf(level: number): QualityLevel {
  return level <= 0 ? 0 : level === 1 ? 1 : level === 2 ? 2 : 3;
}
