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

type FrameProps = CommonProps & {
  part: Part;
  name: string;
  token?: string | undefined;
  title: string;
  connection?: { current: FrameConnection | null };
  onEvent?: (event: FrameEvent) => void;
};

function Frame({ part, name, token, service, theme, title, className, style, connection, ...listeners }: FrameProps) {
  const frame = useRef<HTMLIFrameElement>(null);
  const latest = useRef(listeners);
  useEffect(() => {
    latest.current = listeners;
  });
  const [height, setHeight] = useState<number | null>(null);
  // A new token does not load a frame again: what it was for goes on.
  const [firstToken] = useState(token);
  useEffect(() => {
    if (frame.current === null) return;
    const connected = connectFrame(frame.current, service, (event) => {
      const { onReady, onError, onEvent } = latest.current;
      if (event.event === 'size') setHeight(event.height);
      if (event.event === 'ready') onReady?.();
      if (event.event === 'error') onError?.({ code: event.code, message: event.message });
      onEvent?.(event);
    });
    if (connection) connection.current = connected;
    return () => {
      connected.disconnect();
      if (connection) connection.current = null;
    };
  }, [service, connection]);
  return (
    <iframe
      ref={frame}
      src={toFrameUrl({ service, part, name, token: firstToken, theme })}
      title={title}
      allow={FRAME_PERMISSIONS}
      className={className}
      style={{ border: 0, width: '100%', height: height ?? (part === 'room' ? '100%' : '40rem'), ...style }}
    />
  );
}
