import type { Client } from '@lynxroom/client';
import { useEffect, useState, useSyncExternalStore } from 'react';
import { createRecorder, IDLE } from './create-recorder.ts';
import type { RecordedMeeting, Recorder, RecorderState } from './types.ts';

/**
 * The recorder of a meeting, as long as the component is shown. If it disappears, the recording ends, and its rest is
 * still sent. `meeting` must be the same object each time.
 */
export function useRecorder(
  meeting: RecordedMeeting,
  client: Client,
  roomName: string,
): Pick<Recorder, 'start' | 'stop'> & { state: RecorderState } {
  const [recorder, setRecorder] = useState<Recorder | null>(null);
  useEffect(() => {
    const created = createRecorder({ meeting, client, roomName });
    setRecorder(created);
    return () => created.dispose();
  }, [meeting, client, roomName]);
  const state = useSyncExternalStore(
    (listener) => recorder?.subscribe(listener) ?? (() => {}),
    () => recorder?.getState() ?? IDLE,
  );
  return {
    start: async () => recorder?.start(),
    stop: async () => recorder?.stop(),
    state,
  };
}
