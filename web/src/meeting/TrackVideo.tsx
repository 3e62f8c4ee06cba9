import { useEffect, useRef } from 'react';

type TrackVideoProps = { track: MediaStreamTrack; isMirrored?: boolean; isWhole?: boolean };

/** The picture of a track, without its sound. It fills its box, or shows all of the picture if `isWhole`. */
export function TrackVideo({ track, isMirrored = false, isWhole = false }: TrackVideoProps) {
  const video = useRef<HTMLVideoElement>(null);
  useEffect(() => {
    const { current } = video;
    if (current === null) return;
    current.srcObject = new MediaStream([track]);
    // Rejects if the track is replaced before it has begun. Pictures without sound are never blocked.
    current.play().catch(() => undefined);
    return () => {
      current.srcObject = null;
    };
  }, [track]);
  return (
    <video
      ref={video}
      muted
      playsInline
      // Tab must not stop at pictures.
      tabIndex={-1}
      className={`absolute inset-0 size-full ${isWhole ? 'object-contain' : 'object-cover'} ${isMirrored ? '-scale-x-100' : ''}`}
    />
  );
}
