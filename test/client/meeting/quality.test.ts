/** How many pixels a page sends. */
import { describe, expect, test } from 'vitest';
import {
  findLoss,
  firstQuality,
  limitCamera,
  limitScreen,
  type Measurement,
  type Quality,
  stepQuality,
} from '../../../packages/client/src/meeting/quality.ts';

const good: Measurement = { lossRatio: 0, availableBitrate: 5_000_000, isLimited: false };
const lossy: Measurement = { ...good, lossRatio: 0.2 };
const slow: Measurement = { lossRatio: 0, availableBitrate: 100_000, isLimited: true };

function stepMany(quality: Quality, measurement: Measurement, count: number, people = 2): Quality {
  let next = quality;
  for (let step = 0; step < count; step += 1) next = stepQuality(next, measurement, people);
  return next;
}

/** How many good steps it takes until the level changes. */
function stepsUntilChange(quality: Quality): number {
  let next = quality;
  for (let step = 1; step <= 200; step += 1) {
    next = stepQuality(next, good, 2);
    if (next.level !== quality.level) return step;
  }
  return Number.POSITIVE_INFINITY;
}

describe('the number of people', () => {
  test('decides how much each picture may take, so that all together stay within 3 Mbit/s', () => {
    const bitrates = [2, 3, 4, 5, 6, 7, 8].map((people) => limitCamera(people, 0, 720).maxBitrate * (people - 1));
    expect(Math.max(...bitrates)).toBeLessThanOrEqual(3_000_000);
  });

  test('makes pictures smaller from five on', () => {
    const scales = [2, 3, 4, 5, 6, 7, 8].map((people) => limitCamera(people, 0, 720).scaleDownBy);
    expect(scales).toEqual([1, 1, 1, 2, 720 / 270, 4, 4]);
  });

  test('never enlarges a picture that is small already', () => {
    expect([2, 5, 8].map((people) => limitCamera(people, 0, 90).scaleDownBy)).toEqual([1, 1, 1]);
  });

  test('leaves the pixels of a shared screen as they are', () => {
    expect([2, 8].map((people) => limitScreen(people, 3).scaleDownBy)).toEqual([1, 1]);
    expect(limitScreen(8, 0).maxBitrate).toBeLessThan(limitScreen(2, 0).maxBitrate);
  });
});

test('each level has fewer pixels and bits, and the last one has no picture', () => {
  const limits = ([0, 1, 2] as const).map((level) => limitCamera(2, level, 720));
  for (const [index, limit] of limits.slice(1).entries()) {
    expect(limit.scaleDownBy).toBeGreaterThan(limits[index]?.scaleDownBy ?? 0);
    expect(limit.maxBitrate).toBeLessThan(limits[index]?.maxBitrate ?? 0);
  }
  expect(([0, 1, 2, 3] as const).map((level) => limitCamera(2, level, 720).isActive)).toEqual([
    true,
    true,
    true,
    false,
  ]);
});

describe('a connection', () => {
  test.each([
    ['loses packets', lossy],
    ['is too slow', slow],
  ])('that %s falls to sound only, one level at a time', (_what, measurement) => {
    const levels = [1, 2, 3, 4, 6, 8, 20].map((steps) => stepMany(firstQuality, measurement, steps).level);
    expect(levels).toEqual([0, 1, 1, 2, 3, 3, 3]);
  });

  test('that has one bad moment does not fall', () => {
    let quality = firstQuality;
    for (let step = 0; step < 20; step += 1) quality = stepQuality(quality, step % 2 === 0 ? lossy : good, 2);
    expect(quality.level).toBe(0);
  });

  test('that is limited a little keeps its level: the browser itself sends less', () => {
    const limited = { lossRatio: 0.05, availableBitrate: 2_000_000, isLimited: true };
    expect(stepMany(firstQuality, limited, 50).level).toBe(0);
    expect(stepMany(stepMany(firstQuality, lossy, 2), { ...limited, availableBitrate: 800_000 }, 50).level).toBe(1);
  });

  test('that is good again rises, one level at a time', () => {
    const fallen = stepMany(firstQuality, lossy, 6);
    const levels = [0, 4, 5, 9, 10, 15, 40].map((steps) => stepMany(fallen, good, steps).level);
    expect(levels).toEqual([3, 3, 2, 2, 1, 0, 0]);
  });

  test('that falls again each time it rises is tried ever less often, up to two minutes', () => {
    let quality = stepMany(firstQuality, lossy, 2);
    const waits: number[] = [];
    for (let round = 0; round < 6; round += 1) {
      const wait = stepsUntilChange(quality);
      waits.push(wait);
      quality = stepMany(stepMany(quality, good, wait), lossy, 2);
    }
    expect(waits).toEqual([5, 10, 20, 40, 60, 60]);
  });

  test('that was stable for two minutes is tried soon again', () => {
    let quality = stepMany(firstQuality, lossy, 2);
    quality = stepMany(stepMany(quality, good, 5), lossy, 2);
    expect(stepsUntilChange(quality)).toBe(10);
    quality = stepMany(stepMany(quality, good, 80), lossy, 2);
    expect(stepsUntilChange(quality)).toBe(5);
  });

  test('of which the browser says nothing keeps its level', () => {
    const unknown = { lossRatio: null, availableBitrate: null, isLimited: false };
    expect(stepMany(firstQuality, unknown, 100).level).toBe(0);
  });
});

/** The reports about a sound and a picture after so many packets. */
function reportsAfter(sound: number, picture: number, lossOfPicture: number) {
  return new Map(
    Object.entries({
      sound: { id: 'sound', type: 'outbound-rtp', packetsSent: sound },
      picture: { id: 'picture', type: 'outbound-rtp', packetsSent: picture },
      ofSound: { id: 'ofSound', type: 'remote-inbound-rtp', localId: 'sound', fractionLost: 0.01 },
      ofPicture: { id: 'ofPicture', type: 'remote-inbound-rtp', localId: 'picture', fractionLost: lossOfPicture },
      received: { id: 'received', type: 'inbound-rtp', packetsReceived: 7 },
    }),
  );
}

test('the loss is that of the sound or the picture, whichever is greater', () => {
  expect(findLoss(reportsAfter(50, 20, 0.2), null)).toBe(0.2);
  expect(findLoss(reportsAfter(150, 60, 0), reportsAfter(50, 20, 0.2))).toBe(0.01);
});

test('a picture that is not sent any more has no loss, although the browser remembers its last one', () => {
  expect(findLoss(reportsAfter(150, 20, 0.2), reportsAfter(50, 20, 0.2))).toBe(0.01);
});

test('nothing is known before the peer reports, and while nothing is sent', () => {
  expect(findLoss(new Map(), null)).toBeNull();
  expect(findLoss(reportsAfter(50, 20, 0.2), reportsAfter(50, 20, 0.2))).toBeNull();
});
