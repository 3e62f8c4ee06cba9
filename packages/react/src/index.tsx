/** Parts of Lynxroom in React pages of another origin. Each is a frame; `embed_origins` of the workspace allows it. */
import { type CSSProperties, forwardRef, useEffect, useImperativeHandle, useRef, useState } from 'react';
import {
  connectFrame,
  type EventName,
  FRAME_PERMISSIONS,
  type FrameConnection,
  type FrameEvent,
  type Part,
  type Theme,
  toFrameUrl,
} from './frame.ts';

export type { FrameEvent, Theme } from './frame.ts';

type EventOf<Name extends EventName> = Extract<FrameEvent, { event: Name }>;

type CommonProps = {
  /** The address of the service, such as `https://lynxroom.example.com`. */
  service: string;
  /** Default: as the system of the visitor says. */
  theme?: Theme;
  /** The title of the frame for screen readers. */
  title?: string;
  className?: string;
  style?: CSSProperties;
  /** The frame listens to the page. */
  onReady?: () => void;
  /** Something was refused, or the frame does not answer (`NOT_READY`). */
  onError?: (error: { code: string; message: string }) => void;
};

export type RoomProps = CommonProps & {
  /** The name of the room. */
  room: string;
  /** A token of `POST /api/workspaces/{id}/rooms/{roomName}/participants`. Without one, people give their name. */
  token?: string;
  onJoined?: (participant: EventOf<'joined'>['participant']) => void;
  onLeft?: (reason: string) => void;
  onRecording?: (isRecording: boolean) => void;
};

export type RoomHandle = {
  /** Switches the microphone or the camera of the person off, or on again. */
  mute(kind: 'microphone' | 'camera', isMuted: boolean): void;
  /** Ends the visit. */
  leave(): void;
};

export type BookingProps = CommonProps & {
  /** The last part of the address of the booking page. */
  slug: string;
  onBooked?: (booking: EventOf<'booked'>['booking']) => void;
};

type OfWorkspaceProps = CommonProps & {
  /** The ID of the workspace. */
  workspace: number;
  /**
   * A token of `POST /api/workspaces/{id}/embed-tokens`. Another one takes its place without loading the frame again:
   * give one when `onError` is called with the code `UNAUTHORIZED`.
   */
  token?: string;
};

export type LibraryProps = OfWorkspaceProps & {
  onUploaded?: (item: EventOf<'uploaded'>['item']) => void;
};

export type WebhookPortalProps = OfWorkspaceProps;

/** A meeting room, which fills its frame: give it a height by `style` or `className`. */
export const Room = forwardRef<RoomHandle, RoomProps>(function Room(
  { room, token, title = 'Meeting room', onJoined, onLeft, onRecording, ...common },
  ref,
) {
  const connection = useRef<FrameConnection | null>(null);
  useImperativeHandle(ref, () => ({
    mute: (kind, isMuted) => connection.current?.send({ command: 'mute', kind, isMuted }),
    leave: () => connection.current?.send({ command: 'leave' }),
  }));
  return (
    <Frame
      {...common}
      part="room"
      name={room}
      token={token}
      title={title}
      connection={connection}
      onEvent={(event) => {
        if (event.event === 'joined') onJoined?.(event.participant);
        if (event.event === 'left') onLeft?.(event.reason);
        if (event.event === 'recording') onRecording?.(event.isRecording);
      }}
    />
  );
});

/** A booking page, as high as its content. */
export function Booking({ slug, title = 'Booking', onBooked, ...common }: BookingProps) {
  return (
    <Frame
      {...common}
      part="book"
      name={slug}
      title={title}
      onEvent={(event) => {
        if (event.event === 'booked') onBooked?.(event.booking);
      }}
    />
  );
}

/** The media library, as high as its content. It uploads if its token may. */
export function Library({ workspace, title = 'Library', onUploaded, ...common }: LibraryProps) {
  return (
    <Frame
      {...common}
      part="library"
      name={String(workspace)}
      title={title}
      onEvent={(event) => {
        if (event.event === 'uploaded') onUploaded?.(event.item);
      }}
    />
  );
}

/** The webhooks of a workspace, their messages and attempts, as high as its content. */
export function WebhookPortal({ workspace, title = 'Webhooks', ...common }: WebhookPortalProps) {
  return <Frame {...common} part="webhooks" name={String(workspace)} title={title} />;
}

type FrameProps = CommonProps & {
  part: Part;
  name: string;
  token?: string | undefined;
  title: string;
  connection?: { current: FrameConnection | null };
  onEvent?: (event: FrameEvent) => void;
};

/** Another room, page or workspace gets a frame of its own, which begins with the token of its own. */
function Frame(props: FrameProps) {
  const { service, part, name } = props;
  return <FrameOf key={toFrameUrl({ service, part, name })} {...props} />;
}

function FrameOf({ part, name, token, service, theme, title, className, style, connection, ...listeners }: FrameProps) {
  const frame = useRef<HTMLIFrameElement>(null);
  const latest = useRef(listeners);
  useEffect(() => {
    latest.current = listeners;
  });
  const [height, setHeight] = useState<number | null>(null);
  // A new token does not load a frame again: what it was for goes on.
  const [firstToken] = useState(token);
  const own = useRef<FrameConnection | null>(null);
  const latestToken = useRef(token);
  useEffect(() => {
    latestToken.current = token;
    sendToken(own.current, part, token);
  }, [part, token]);
  useEffect(() => {
    if (frame.current === null) return;
    const connected = connectFrame(frame.current, service, (event) => {
      const { onReady, onError, onEvent } = latest.current;
      if (event.event === 'size') setHeight(event.height);
      if (event.event === 'ready') {
        sendToken(own.current, part, latestToken.current);
        onReady?.();
      }
      if (event.event === 'error') onError?.({ code: event.code, message: event.message });
      onEvent?.(event);
    });
    own.current = connected;
    if (connection) connection.current = connected;
    return () => {
      connected.disconnect();
      own.current = null;
      if (connection) connection.current = null;
    };
  }, [service, part, connection]);
  return (
    <iframe
      ref={frame}
      src={toFrameUrl({ service, part, name, token: firstToken, theme })}
      title={title}
      allow={FRAME_PERMISSIONS}
      // As attributes, which give way to the height and the width of a class.
      width="100%"
      height={part === 'room' ? '100%' : '640'}
      className={className}
      style={{ border: 0, ...(height !== null && { height }), ...style }}
    />
  );
}

/** A room takes its token from its address alone: it may be used once. */
function sendToken(connection: FrameConnection | null, part: Part, token: string | undefined): void {
  if (token !== undefined && (part === 'library' || part === 'webhooks')) connection?.send({ command: 'token', token });
}
