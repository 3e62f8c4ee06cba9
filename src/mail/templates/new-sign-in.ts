import type { MailData } from '../kinds.ts';
import { formatTime, type MailContent, NOT_YOU } from './content.ts';

export function newSignIn({ method, address, userAgent, at }: MailData['new-sign-in']): MailContent {
  return {
    subject: 'New sign-in to your account',
    paragraphs: ['Somebody signed in to your Lynxroom account from a new device.'],
    facts: [
      ['When', formatTime(at)],
      ['How', method],
      ['Network address', address ?? 'unknown'],
      ['Program', userAgent ?? 'unknown'],
    ],
    ending: NOT_YOU,
  };
}
