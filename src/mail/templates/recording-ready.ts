import type { MailData } from '../kinds.ts';
import { formatTime, type MailContent, quoteStranger } from './content.ts';

export function recordingReady({ roomName, title, recordedAt, link }: MailData['recording-ready']): MailContent {
  return {
    subject: 'Your recording is ready',
    paragraphs: [
      link === null
        ? 'The recording that you started is ready. Those who may watch it find it in the room.'
        : 'The recording is ready. You can watch it, and download it.',
    ],
    facts: [
      ['Room', quoteStranger(roomName)],
      // Guests may have chosen the title.
      ...(title === null ? [] : ([['Title', quoteStranger(title)]] as const)),
      ['Recorded', formatTime(recordedAt)],
    ],
    ...(link !== null && { action: { label: 'Watch the recording', link } }),
    otherLinks: [{ label: 'To stop this mail, open your profile and switch it off', link: '/account' }],
    ending: 'You get this mail because the room is yours, or because you started the recording.',
  };
}
