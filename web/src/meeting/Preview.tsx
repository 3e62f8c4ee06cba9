import { Mic, MicOff } from 'lucide-react';
import { useTexts } from '../languages/texts.ts';
import { DeviceButtons } from './Controls.tsx';
import { FaultNotes } from './FaultNotes.tsx';
import { LevelMeter } from './LevelMeter.tsx';
import type { CaptureKind, LocalMedia, LocalMediaState } from './local-media.ts';
import { useShortcuts } from './shortcuts.ts';
import { TrackVideo } from './TrackVideo.tsx';

/** What the others will see and hear, before they do. */
export function Preview({ media, state }: { media: LocalMedia; state: LocalMediaState }) {
  const { tracks, isOn, faults, isAsking } = state;
  const { write } = useTexts();
  const toggle = (kind: CaptureKind): void => void media.setOn(kind, !isOn[kind]);
  useShortcuts({ m: () => toggle('microphone'), v: () => toggle('camera') });
  return (
    <section aria-label={write('device.own')} className="flex flex-col gap-3">
      <div className="relative aspect-video w-full overflow-hidden rounded-xl bg-tile">
        {tracks.camera === null ? (
          <p className="absolute inset-0 flex items-center justify-center p-6 text-center text-muted">
            {write(isAsking ? 'device.asking' : 'device.cameraIsOff')}
          </p>
        ) : (
          <TrackVideo track={tracks.camera} isMirrored />
        )}
        <div className="absolute inset-x-0 bottom-3 flex justify-center gap-3">
          <DeviceButtons isOn={isOn} onToggle={toggle} />
        </div>
      </div>
      <div className="flex items-center gap-3 text-muted">
        {isOn.microphone ? <Mic aria-hidden size={18} /> : <MicOff aria-hidden size={18} />}
        <LevelMeter track={isOn.microphone ? tracks.microphone : null} />
      </div>
      <FaultNotes faults={faults} />
    </section>
  );
}
