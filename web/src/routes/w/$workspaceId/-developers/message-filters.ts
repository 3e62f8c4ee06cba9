/** The filters of the messages of a webhook. The address has them, so the first script of the console has this file. */
import type { BadgeTone } from '../../../../components/Badge.tsx';
import type { MessageStatus, SentEvent } from './webhooks.ts';

export type MessageFilters = { status?: MessageStatus; event?: SentEvent };

export const statuses: Record<MessageStatus, { label: string; tone: BadgeTone }> = {
  waiting: { label: 'Waiting', tone: 'accent' },
  delivered: { label: 'Delivered', tone: 'success' },
  failed: { label: 'Failed', tone: 'danger' },
  cancelled: { label: 'Cancelled', tone: 'warning' },
};

export function isStatus(value: unknown): value is MessageStatus {
  return typeof value === 'string' && Object.hasOwn(statuses, value);
}
