/** How loud a track is. One audio context serves the whole page, since browsers allow only a few. */

const SAMPLES = 512;
const READ_MS = 100;

let shared: AudioContext | null = null;

/**
 * Calls `onLevel` ten times a second with the loudness of a track, from 0 to 1 (the root of the mean square). Returns a
 * function that ends it. Without a gesture of the person, some browsers report silence until `resumeAudio`.
 */
export function watchLevel(track: MediaStreamTrack, onLevel: (level: number) => void): () => void {
  const context = openContext();
  const source = context.createMediaStreamSource(new MediaStream([track]));
  const analyser = new AnalyserNode(context, { fftSize: SAMPLES });
  source.connect(analyser);
  const samples = new Float32Array(SAMPLES);
  const timer = setInterval(() => {
    analyser.getFloatTimeDomainData(samples);
    onLevel(Math.sqrt(samples.reduce((sum, sample) => sum + sample * sample, 0) / SAMPLES));
  }, READ_MS);
  return () => {
    clearInterval(timer);
    source.disconnect();
  };
}

/** To be called in the handler of a gesture: browsers start audio contexts only then. */
export function resumeAudio(): void {
  if (shared?.state === 'suspended') void shared.resume();
}

function openContext(): AudioContext {
  if (shared === null) {
    shared = new AudioContext();
    for (const gesture of ['pointerdown', 'keydown']) addEventListener(gesture, resumeAudio, { passive: true });
  }
  return shared;
}
