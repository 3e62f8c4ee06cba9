/** The keyboard and the settings of the console's player. */
import { expect, test } from 'vitest';
import {
  DEFAULT_SETTINGS,
  findKeyAction,
  findNextSpeed,
  parsePlayerSettings,
  SPEEDS,
} from '../../web/src/components/player-keys.ts';

test('digits go to tenths of the video, and letters work in both cases', () => {
  expect(['0', '5', '9'].map(findKeyAction)).toEqual([0, 0.5, 0.9].map((share) => ({ kind: 'go', share })));
  expect(['m', 'M', 'f', ' '].map((key) => findKeyAction(key)?.kind)).toEqual([
    ...['toggle-mute', 'toggle-mute', 'toggle-fullscreen', 'toggle-play'],
  ]);
  expect([findKeyAction('ArrowLeft'), findKeyAction('ArrowRight')]).toEqual([
    { kind: 'move', seconds: -5 },
    { kind: 'move', seconds: 5 },
  ]);
  expect(['Tab', 'Escape', 'F5', 'x', '10'].map(findKeyAction)).toEqual([null, null, null, null, null]);
});

test('the speed goes from one of the list to the next, and stays at its ends', () => {
  expect([findNextSpeed(1, 1), findNextSpeed(1, -1), findNextSpeed(1.1, 1), findNextSpeed(1.1, -1)]).toEqual([
    ...[1.25, 0.75, 1.25, 1],
  ]);
  expect([findNextSpeed(2, 1), findNextSpeed(0.5, -1)]).toEqual([SPEEDS.at(-1), SPEEDS[0]]);
});

test('what a device remembers is used as far as a player can have it', () => {
  const settings = { speed: 1.5, volume: 0.25, isMuted: true };
  expect(parsePlayerSettings(JSON.stringify(settings))).toEqual(settings);
  for (const text of [null, '', 'null', '{', '[]', '{"speed":0,"volume":7,"isMuted":"yes"}'])
    expect(parsePlayerSettings(text)).toEqual(DEFAULT_SETTINGS);
});
