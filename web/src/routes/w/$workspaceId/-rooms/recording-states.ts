/** How recordings are named and described in lists. */
import type { Outputs } from '@lynxroom/client';
import type { BadgeTone } from '../../../../components/Badge.tsx';

export type Recording = Outputs['recordings']['listInRoom']['recordings'][number];

type State = { label: string; tone: BadgeTone };

export const recordingStates: Record<Recording['status'], State> = {
  started: { label: 'Recording', tone: 'danger' },
  uploaded: { label: 'Processing', tone: 'accent' },
  available: { label: 'Ready', tone: 'success' },
  failed: { label: 'Failed', tone: 'warning' },
};

/** Red only while somebody records. */
export function toState({ status, is_abandoned, ended_at }: Recording): State {
  if (status === 'started' && is_abandoned === 1) return { label: 'Recorder has left', tone: 'neutral' };
  if (status === 'started' && ended_at !== null) return { label: 'Waiting for the file', tone: 'neutral' };
  return recordingStates[status];
}

export function toTitle({ title, id }: Pick<Recording, 'id' | 'title'>): string {
  return title ?? `Recording ${id}`;
}
