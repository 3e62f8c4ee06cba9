import type { ChatMessage, Meeting } from '@lynxroom/client/meeting';
import { useEffect, useState } from 'react';

/** What a page keeps of a long chat. */
const MAX_MESSAGES = 500;

export type Chat = { messages: readonly ChatMessage[]; unreadCount: number };

/** The messages of this meeting since the page was opened, and how many came while the chat was closed. */
export function useChat(meeting: Meeting, isOpen: boolean): Chat {
  const [messages, setMessages] = useState<readonly ChatMessage[]>([]);
  const [readId, setReadId] = useState<string | null>(null);
  useEffect(
    () => meeting.on('chat', (message) => setMessages((earlier) => [...earlier.slice(1 - MAX_MESSAGES), message])),
    [meeting],
  );
  const last = messages.at(-1);
  const lastId = last?.id ?? null;
  useEffect(() => {
    if (isOpen) setReadId(lastId);
  }, [isOpen, lastId]);
  const firstUnread = messages.findIndex(({ id }) => id === readId) + 1;
  const unreadCount = isOpen ? 0 : messages.slice(firstUnread).filter(({ isOwn }) => !isOwn).length;
  return { messages, unreadCount };
}
