/** What keys do in the player of videos. Pure. */

export const SPEEDS = [0.5, 0.75, 1, 1.25, 1.5, 1.75, 2] as const;

const SEEK_SECONDS = 5;
const VOLUME_STEP = 0.05;

export type PlayerKeyAction =
  | { kind: 'toggle-play' | 'toggle-mute' | 'toggle-fullscreen' }
  /** By how many seconds to move. */
  | { kind: 'move'; seconds: number }
  /** To which share of the duration to go, 0 to 1. */
  | { kind: 'go'; share: number }
  | { kind: 'volume'; step: number }
  /** To the next speed, up or down. */
  | { kind: 'speed'; direction: 1 | -1 };

/** What the help of the player says. */
export const KEY_HELP = [
  ['Space', 'play or pause'],
  ['← and →', 'back or forward 5 seconds'],
  ['0 to 9', 'go to 0 % to 90 %'],
  ['↑ and ↓', 'louder or quieter'],
  ['M', 'mute'],
  ['F', 'full screen'],
  ['< and >', 'slower or faster'],
] as const;

const actions: Readonly<Record<string, PlayerKeyAction>> = {
  ' ': { kind: 'toggle-play' },
  k: { kind: 'toggle-play' },
  m: { kind: 'toggle-mute' },
  f: { kind: 'toggle-fullscreen' },
  arrowleft: { kind: 'move', seconds: -SEEK_SECONDS },
  arrowright: { kind: 'move', seconds: SEEK_SECONDS },
  arrowup: { kind: 'volume', step: VOLUME_STEP },
  arrowdown: { kind: 'volume', step: -VOLUME_STEP },
  '<': { kind: 'speed', direction: -1 },
  '>': { kind: 'speed', direction: 1 },
};

/** Returns what a key does, by its value in events; null if it does nothing. */
export function findKeyAction(key: string): PlayerKeyAction | null {
  if (/^\d$/.test(key)) return { kind: 'go', share: Number(key) / 10 };
  return actions[key.toLowerCase()] ?? null;
}

/** The next speed of the list. A browser's own menu may have set one that is not in it. */
export function findNextSpeed(speed: number, direction: 1 | -1): number {
  const candidates = SPEEDS.filter((candidate) => (direction === 1 ? candidate > speed : candidate < speed));
  return candidates.at(direction === 1 ? 0 : -1) ?? speed;
}

export type PlayerSettings = { speed: number; volume: number; isMuted: boolean };

export const DEFAULT_SETTINGS: PlayerSettings = { speed: 1, volume: 1, isMuted: false };

/** Reads what this device remembers. Values that no player can have are replaced by the defaults. */
export function parsePlayerSettings(text: string | null): PlayerSettings {
  try {
    // `as`: each field is checked.
    const stored = JSON.parse(text ?? '{}') as Partial<Record<keyof PlayerSettings, unknown>> | null;
    const { speed, volume, isMuted } = { ...DEFAULT_SETTINGS, ...stored };
    return {
      speed: isBetween(speed, 0.25, 4) ? speed : DEFAULT_SETTINGS.speed,
      volume: isBetween(volume, 0, 1) ? volume : DEFAULT_SETTINGS.volume,
      isMuted: isMuted === true,
    };
  } catch {
    return DEFAULT_SETTINGS;
  }
}

function isBetween(value: unknown, min: number, max: number): value is number {
  return typeof value === 'number' && value >= min && value <= max;
}
