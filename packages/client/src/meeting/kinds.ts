/** What is sent between two pages. Without types of browsers, so that it can be tested outside of them. */

import type { TrackKind } from './track-kind.ts';

export type { TrackKind };

/** In the order of their transceivers. */
export const trackKinds: readonly TrackKind[] = ['microphone', 'camera', 'screen', 'screenAudio'];

export function mediaOf(kind: TrackKind): 'audio' | 'video' {
  return kind === 'camera' || kind === 'screen' ? 'video' : 'audio';
}

/** Returns an object with a value per kind. */
export function forEachKind<Value>(create: (kind: TrackKind) => Value): Record<TrackKind, Value> {
  return {
    microphone: create('microphone'),
    camera: create('camera'),
    screen: create('screen'),
    screenAudio: create('screenAudio'),
  };
}

/** Whether `value` is an object whose fields can be looked at. What it holds is not known yet. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
