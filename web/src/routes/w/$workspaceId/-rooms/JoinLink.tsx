import { buttonClass } from '../../../../components/Button.tsx';

/** Leads into the meeting of a room. A load of the document, because the page of a meeting has headers of its own. */
export function JoinLink({ roomName, title }: { roomName: string; title?: string }) {
  const isSmall = title !== undefined;
  return (
    <a
      href={`/room/${roomName}`}
      aria-label={isSmall ? `Join ${title}` : undefined}
      className={isSmall ? buttonClass('secondary', 'small') : buttonClass('primary')}
    >
      Join
    </a>
  );
}
