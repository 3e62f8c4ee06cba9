/** Where the recorder of the console draws everybody. */
import { describe, expect, test } from 'vitest';
import {
  type Box,
  cropToFill,
  fitInside,
  layOut,
  MAX_TILES,
  shortenText,
} from '../../../web/src/meeting/recorder/layout.ts';
import { estimateSecondsLeft } from '../../../web/src/meeting/recorder/rate.ts';
import { chooseType } from '../../../web/src/meeting/recorder/recording-type.ts';

const STAGE = { width: 1280, height: 720 };
const WHOLE = { x: 0, y: 0, ...STAGE };

function overlap(one: Box, other: Box): boolean {
  const isApart = (from: 'x' | 'y', size: 'width' | 'height') =>
    one[from] + one[size] <= other[from] || other[from] + other[size] <= one[from];
  return !isApart('x', 'width') && !isApart('y', 'height');
}

function contains(outer: Box, inner: Box): boolean {
  return (
    inner.x >= outer.x &&
    inner.y >= outer.y &&
    inner.x + inner.width <= outer.x + outer.width &&
    inner.y + inner.height <= outer.y + outer.height
  );
}

describe.each([false, true])('with a shared screen: %s', (hasScreen) => {
  test.each([1, 2, 3, 4, 5, 6, 7, 8, 9, 16, 25])('%i tiles are on the stage, of equal size, and apart', (count) => {
    const { screen, tiles } = layOut(STAGE, count, hasScreen);
    expect(screen !== null).toBe(hasScreen);
    expect(tiles).toHaveLength(count);
    const boxes = screen === null ? tiles : [screen, ...tiles];
    for (const [index, box] of boxes.entries()) {
      expect(contains(WHOLE, box)).toBe(true);
      for (const other of boxes.slice(index + 1)) expect(overlap(box, other)).toBe(false);
    }
    expect(new Set(tiles.map(({ width, height }) => `${width} ${height}`)).size).toBe(1);
    expect(tiles[0]?.width).toBeGreaterThan(80);
  });
});

test('a screen is larger than all tiles beside it, and alone fills the stage', () => {
  const { screen, tiles } = layOut(STAGE, 8, true);
  const area = ({ width, height }: { width: number; height: number }) => width * height;
  expect(area(screen ?? STAGE)).toBeGreaterThan(tiles.reduce((sum, tile) => sum + area(tile), 0));
  expect(layOut(STAGE, 0, true)).toEqual({ screen: WHOLE, tiles: [] });
  expect(layOut(STAGE, 0, false)).toEqual({ screen: null, tiles: [] });
});

test('two people are beside each other, and more than the maximum are left out', () => {
  const [left, right] = layOut(STAGE, 2, false).tiles;
  expect(left?.y).toBe(right?.y);
  expect(left?.width).toBeGreaterThan(600);
  expect(layOut(STAGE, MAX_TILES + 5, false).tiles).toHaveLength(MAX_TILES);
});

test('a picture of another shape fills a tile, or is whole on the screen', () => {
  expect(cropToFill({ width: 640, height: 480 }, { width: 320, height: 180 })).toEqual({
    x: 0,
    y: 60,
    width: 640,
    height: 360,
  });
  expect(cropToFill({ width: 480, height: 640 }, { width: 100, height: 100 })).toMatchObject({ x: 0, y: 80 });
  expect(fitInside({ width: 1000, height: 1000 }, WHOLE)).toEqual({ x: 280, y: 0, width: 720, height: 720 });
});

test('names are shortened between characters', () => {
  const measure = (text: string) => Array.from(text).length;
  expect(shortenText('Ada Lovelace', 12, measure)).toBe('Ada Lovelace');
  expect(shortenText('Ada Lovelace', 5, measure)).toBe('Ada…');
  expect(shortenText('👩‍🚀👩‍🚀', 3, measure)).not.toMatch(/\ufffd/);
});

test('the time that is left is estimated after some seconds, by the rate so far', () => {
  const maxBytes = 1_000_000;
  expect(estimateSecondsLeft({ bytes: 9_000, seconds: 9 }, maxBytes)).toBeNull();
  expect(estimateSecondsLeft({ bytes: 0, seconds: 60 }, maxBytes)).toBeNull();
  expect(estimateSecondsLeft({ bytes: 100_000, seconds: 100 }, maxBytes)).toBe(900);
  expect(estimateSecondsLeft({ bytes: 2_000_000, seconds: 100 }, maxBytes)).toBe(0);
});

test('an MP4 is recorded where the browser can, and without sound no codec of one is named', () => {
  const chromium = (type: string) => !type.includes('mp4a');
  expect(chooseType(chromium, true)).toEqual({ mimeType: 'video/mp4;codecs=avc1.42E01F,opus', extension: 'mp4' });
  const firefox = (type: string) => type.startsWith('video/webm');
  expect(chooseType(firefox, true)).toEqual({ mimeType: 'video/webm;codecs=vp8,opus', extension: 'webm' });
  expect(chooseType(firefox, false)).toEqual({ mimeType: 'video/webm;codecs=vp8', extension: 'webm' });
  expect(chooseType(() => false, true)).toBeNull();
});
