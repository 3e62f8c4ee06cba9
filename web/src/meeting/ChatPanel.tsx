import type { ChatMessage } from '@lynxroom/client/meeting';
import { SendHorizontal } from 'lucide-react';
import { type FormEvent, type KeyboardEvent, type ReactNode, useEffect, useRef, useState } from 'react';
import { IconButton } from '../components/Button.tsx';
import { controlClass } from '../components/Form.tsx';
import { useTexts } from '../languages/texts.ts';
import { describeError } from '../lib/errors.ts';
import { SidePanel } from './SidePanel.tsx';

const MAX_LENGTH = 2_000;

type ChatPanelProps = {
  messages: readonly ChatMessage[];
  isEnabled: boolean;
  /** Throws if the message cannot be sent. */
  onSend: (text: string) => void;
  onClose: () => void;
};

/** The chat, which goes from browser to browser and is stored nowhere. */
export function ChatPanel({ messages, isEnabled, onSend, onClose }: ChatPanelProps) {
  const { write } = useTexts();
  const end = useRef<HTMLDivElement>(null);
  const lastId = messages.at(-1)?.id;
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new message scrolls the list to its end.
  useEffect(() => {
    end.current?.scrollIntoView({ block: 'end' });
  }, [lastId]);
  return (
    <SidePanel title={write('meeting.chat')} onClose={onClose}>
      <div
        role="log"
        aria-label={write('chat.messages')}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard must be able to scroll it.
        tabIndex={0}
        className="min-h-0 flex-1 overflow-y-auto px-4 py-3"
      >
        {messages.length === 0 && <p className="text-sm text-muted">{write('chat.notStored')}</p>}
        <ol className="flex flex-col gap-3">
          {messages.map((message) => (
            <Message key={message.id} message={message} />
          ))}
        </ol>
        <div ref={end} />
      </div>
      {isEnabled ? (
        <ChatForm onSend={onSend} />
      ) : (
        <p className="border-t border-line px-4 py-3 text-muted">{write('chat.off')}</p>
      )}
    </SidePanel>
  );
}

function Message({ message: { from, text, at, isOwn } }: { message: ChatMessage }) {
  const { write, locale } = useTexts();
  return (
    <li className={`flex flex-col ${isOwn ? 'items-end' : 'items-start'}`}>
      <p className="text-sm text-muted">
        <span className="font-medium text-text">{isOwn ? write('chat.you') : from.name}</span>{' '}
        <time dateTime={new Date(at).toISOString()}>
          {new Date(at).toLocaleTimeString(locale, { hour: '2-digit', minute: '2-digit' })}
        </time>
      </p>
      <p
        // Each message has the direction of what was written.
        dir="auto"
        className={`max-w-full rounded-xl px-3 py-1.5 whitespace-pre-wrap ${isOwn ? 'bg-accent-soft text-text' : 'bg-hover'}`}
      >
        {withLinks(text)}
      </p>
    </li>
  );
}

/** Addresses of the web become links. All else stays text. */
function withLinks(text: string): ReactNode[] {
  return text.split(/(https?:\/\/[^\s<>"']+)/).map((part, index) =>
    index % 2 === 0 ? (
      part
    ) : (
      // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a message never change.
      <a key={index} href={part} target="_blank" rel="noopener noreferrer" className="link">
        {part}
      </a>
    ),
  );
}

function ChatForm({ onSend }: { onSend: (text: string) => void }) {
  const { write } = useTexts();
  const [text, setText] = useState('');
  const [error, setError] = useState<string | null>(null);

  function send(event: FormEvent | KeyboardEvent): void {
    event.preventDefault();
    const message = text.trim();
    if (message === '') return;
    try {
      onSend(message);
      setText('');
      setError(null);
    } catch (failure) {
      setError(describeError(failure).message);
    }
  }

  return (
    <form onSubmit={send} className="flex shrink-0 flex-col gap-1 border-t border-line p-3">
      {error !== null && (
        <p role="alert" className="text-sm text-danger-text">
          {error}
        </p>
      )}
      <div className="flex items-end gap-2">
        <textarea
          aria-label={write('chat.message')}
          placeholder={write('chat.write')}
          rows={2}
          maxLength={MAX_LENGTH}
          value={text}
          onChange={({ target }) => setText(target.value)}
          // Enter sends, and Shift+Enter begins a line. While a word is composed, Enter only ends that.
          onKeyDown={(event) => {
            if (event.key === 'Enter' && !event.shiftKey && !event.nativeEvent.isComposing) send(event);
          }}
          className={`${controlClass} resize-none py-1.5`}
        />
        <IconButton
          type="submit"
          tone="primary"
          label={write('chat.send')}
          icon={<SendHorizontal aria-hidden size={18} />}
        />
      </div>
    </form>
  );
}
