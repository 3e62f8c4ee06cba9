/** Where the tiles of a meeting are, from a phone to 4K. */
import { describe, expect, test } from 'vitest';
import { type Box, layOutTiles, type Size } from '../../../web/src/meeting/tile-layout.ts';

const SCREENS: Record<string, Size> = {
  'a small phone': { width: 320, height: 480 },
  'a phone': { width: 390, height: 700 },
  'a phone on its side': { width: 700, height: 280 },
  'a tablet': { width: 768, height: 900 },
  'a laptop': { width: 1280, height: 640 },
  'a monitor': { width: 1920, height: 980 },
  'a wide monitor': { width: 3440, height: 1300 },
  '4K': { width: 3840, height: 2060 },
};
const PEOPLE = [1, 2, 3, 4, 5, 6, 7, 8];

describe.each(Object.entries(SCREENS))('on %s', (_name, screen) => {
  test.each(PEOPLE)('%i tiles are inside of the area, apart, equal, and as people are shaped', (count) => {
    for (const hasStage of [false, true]) {
      const { stage, tiles } = layOutTiles(screen, count, hasStage);
      expect(tiles.length).toBe(count);
      const boxes = stage === null ? tiles : [stage, ...tiles];
      for (const box of boxes) expectInside(box, screen);
      expect(boxes.flatMap((box, index) => boxes.slice(index + 1).filter((other) => overlap(box, other)))).toEqual([]);
      expect(new Set(tiles.map(({ width, height }) => `${width}x${height}`)).size).toBe(1);
      for (const { width, height } of tiles) {
        expect(width / height).toBeGreaterThan(0.65);
        expect(width / height).toBeLessThan(1.81);
        // Large enough for a face and a name.
        expect(Math.min(width, height)).toBeGreaterThanOrEqual(hasStage ? 28 : 64);
      }
    }
  });

  test.each(PEOPLE)('%i tiles fill most of the area', (count) => {
    const { tiles } = layOutTiles(screen, count, false);
    const used = tiles.reduce((sum, tile) => sum + tile.width * tile.height, 0);
    expect(used / (screen.width * screen.height)).toBeGreaterThan(0.5);
  });

  test('a shared screen is at least as large as a tile beside it, and does not shrink with their number', () => {
    const sizes = PEOPLE.map((count) => {
      const { stage, tiles } = layOutTiles(screen, count, true);
      const [tile] = tiles;
      expect((stage?.width ?? 0) * (stage?.height ?? 0)).toBeGreaterThanOrEqual(
        (tile?.width ?? 0) * (tile?.height ?? 0),
      );
      return `${stage?.width}x${stage?.height}`;
    });
    expect(new Set(sizes).size).toBe(1);
    // At least as wide as two thirds of what the area could hold.
    const possible = Math.min(screen.width, (screen.height * 16) / 9);
    const { stage } = layOutTiles(screen, 8, true);
    expect(Math.min(stage?.width ?? 0, ((stage?.height ?? 0) * 16) / 9)).toBeGreaterThan((possible * 2) / 3);
  });
});

test('two people stand side by side on a laptop, and one above the other on a phone', () => {
  const [left, right] = layOutTiles({ width: 1280, height: 640 }, 2, false).tiles;
  expect([left?.y === right?.y, (left?.x ?? 0) < (right?.x ?? 0)]).toEqual([true, true]);
  const [upper, lower] = layOutTiles({ width: 390, height: 700 }, 2, false).tiles;
  expect([upper?.x === lower?.x, (upper?.y ?? 0) < (lower?.y ?? 0)]).toEqual([true, true]);
});

test('the last row is centred', () => {
  const { tiles } = layOutTiles({ width: 1280, height: 720 }, 5, false);
  const last = tiles.filter(({ y }) => y === tiles.at(-1)?.y);
  const left = last[0]?.x ?? 0;
  const right = 1280 - ((last.at(-1)?.x ?? 0) + (last.at(-1)?.width ?? 0));
  expect(last.length).toBe(2);
  expect(Math.abs(left - right)).toBeLessThanOrEqual(1);
});

test.each([
  [0, 0],
  [1, 1],
  [50, 20],
])('an area of %i x %i pixels, as before the first layout, has no box with a negative size', (width, height) => {
  for (const hasStage of [false, true]) {
    const { stage, tiles } = layOutTiles({ width, height }, 8, hasStage);
    for (const box of [...(stage ? [stage] : []), ...tiles])
      expect([box.width >= 0, box.height >= 0]).toEqual([true, true]);
  }
});

test('nobody beside a shared screen leaves it the whole area', () => {
  expect(layOutTiles({ width: 800, height: 600 }, 0, true).stage).toEqual({ x: 0, y: 0, width: 800, height: 600 });
  expect(layOutTiles({ width: 800, height: 600 }, 0, false)).toEqual({ stage: null, tiles: [] });
});

function expectInside({ x, y, width, height }: Box, screen: Size): void {
  const whole = [x, y, width, height].every(Number.isInteger);
  expect([whole, x >= 0, y >= 0, x + width <= screen.width, y + height <= screen.height]).toEqual(Array(5).fill(true));
}

function overlap(a: Box, b: Box): boolean {
  return a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height;
}
