/** Whether this browser can record a meeting. Where it cannot, pages show no button "Record". */
export function canRecord(): boolean {
  return (
    typeof MediaRecorder !== 'undefined' &&
    typeof AudioContext !== 'undefined' &&
    typeof HTMLCanvasElement !== 'undefined' &&
    // Phones with iOS had no such method for long, which the types do not say.
    'captureStream' in HTMLCanvasElement.prototype
  );
}
