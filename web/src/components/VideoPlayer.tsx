import { useEffect, useRef, useState } from 'react';
import { ErrorPanel } from './ErrorPanel.tsx';
import { PlayerBar, usePlayer } from './PlayerControls.tsx';
import { posterPath } from './Poster.tsx';

/** How long the player waits before it loads the video again, after each failure without progress in between. */
const RETRY_DELAYS_MS = [0, 1_000, 3_000, 10_000];

type VideoPlayerProps = {
  src: string;
  /** Returns another URL if `src` is one that expires itself, and not an address that redirects to one. */
  renewSrc?: () => Promise<string>;
  posterUrl: string | null;
  label: string;
  className: string;
};

type Position = { seconds: number; isPlaying: boolean };

/**
 * Plays a video from an address that redirects to a URL that expires. Browsers keep the URL: when it has expired, the
 * next read fails, and the player loads the address again, and goes on where it was. The volume and the speed are
 * remembered on this device.
 */
export function VideoPlayer({ src, renewSrc, posterUrl, label, className }: VideoPlayerProps) {
  const video = useRef<HTMLVideoElement>(null);
  const failures = useRef(0);
  /** Where to go on, until the player is there. */
  const position = useRef<Position | null>(null);
  const isRestored = useRef(false);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const [hasFailed, setHasFailed] = useState(false);
  const player = usePlayer(video, !hasFailed);
  useEffect(() => () => clearTimeout(timer.current), []);

  function retry(): void {
    const { current } = video;
    if (current === null) return;
    // A second failure in a row happens before the position is restored.
    isRestored.current = false;
    position.current ??= { seconds: current.currentTime, isPlaying: !current.paused };
    const delay = RETRY_DELAYS_MS[failures.current];
    failures.current += 1;
    if (delay === undefined) setHasFailed(true);
    else timer.current = setTimeout(() => void load(current), delay);
  }

  async function load(current: HTMLVideoElement): Promise<void> {
    try {
      if (renewSrc) current.src = await renewSrc();
      current.load();
    } catch {
      // The message of the player says what may be wrong.
      setHasFailed(true);
    }
  }

  function restore(): void {
    const { current } = video;
    if (current === null || position.current === null) return;
    const { seconds, isPlaying } = position.current;
    current.currentTime = seconds;
    if (isPlaying) void current.play().catch(() => {});
    isRestored.current = true;
  }

  function endRestoring(): void {
    if (!isRestored.current) return;
    position.current = null;
    isRestored.current = false;
  }

  function countProgress(): void {
    const { current } = video;
    if (current === null || position.current !== null || current.seeking || current.error) return;
    failures.current = 0;
  }

  function startAgain(): void {
    failures.current = 0;
    setHasFailed(false);
  }

  if (hasFailed) {
    const error = new Error('Perhaps it was deleted, or the connection is interrupted.');
    return <ErrorPanel what="The video cannot be played" error={error} onRetry={startAgain} />;
  }
  return (
    <div className="flex flex-col gap-2">
      <video
        ref={video}
        controls
        // Not all browsers let the keyboard reach a video with controls.
        tabIndex={0}
        preload="metadata"
        src={src}
        poster={posterUrl ? posterPath(posterUrl) : undefined}
        aria-label={label}
        className={className}
        onError={retry}
        onLoadedMetadata={restore}
        onSeeked={endRestoring}
        onTimeUpdate={countProgress}
        {...player.handlers}
      />
      <PlayerBar {...player} />
    </div>
  );
}
