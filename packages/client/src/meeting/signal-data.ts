/**
 * The signals by which two pages connect. The service carries each as one text of at most 16,384 bytes that it does not
 * read. A longer signal, such as an offer of a browser with many codecs, is sent in parts. All that a signal contains
 * comes from another person, so everything is checked here, and nothing else reaches the connection.
 */
import { isRecord, type TrackKind, trackKinds } from './kinds.ts';

export type Candidate = {
  candidate: string;
  sdpMid: string | null;
  sdpMLineIndex: number | null;
  usernameFragment: string | null;
};

/** Counts offers, so that an answer belongs to one, and names the transceiver of each kind by its `mid`. */
export type Offer = { number: number; sdp: string; mids: Record<TrackKind, string> };
export type Answer = { number: number; sdp: string };

/** A signal without an offer, an answer and candidates asks for an offer. */
export type Signal = {
  /** Identifies the connection of the sender. A page that connects anew has a new one. */
  session: string;
  /** The connection of the receiver that is meant; null if the sender does not know it yet. */
  peer: string | null;
  offer?: Offer;
  answer?: Answer;
  candidates?: Candidate[];
};

export const MAX_SIGNAL_BYTES = 16_384;
export const MAX_CANDIDATES = 40;
const MAX_PARTS = 12;
/** JSON in JSON has at most twice as many characters, and the rest of a part is short. */
const PART_LENGTH = 8_000;
/** Offers of browsers are 6 to 12 kB long, and have five sections. */
const MAX_SDP_LENGTH = 64_000;
const MAX_SECTIONS = 8;
const MAX_CANDIDATE_LENGTH = 1_000;
const MAX_MID_LENGTH = 16;
const idPattern = /^[\w-]{8,64}$/;

/** Converts a signal to the texts that carry it, in the order in which they are sent. Throws RangeError if too long. */
export function encodeSignal(signal: Signal): string[] {
  // Only ASCII, so that a character is a byte.
  const text = JSON.stringify(signal).replaceAll(
    /[\u0080-\uffff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  if (text.length <= MAX_SIGNAL_BYTES) return [text];
  const count = Math.ceil(text.length / PART_LENGTH);
  if (count > MAX_PARTS) throw new RangeError('The description of the connection is too long');
  return Array.from({ length: count }, (_, index) => {
    const part = text.slice(index * PART_LENGTH, (index + 1) * PART_LENGTH);
    return JSON.stringify({ session: signal.session, index, count, part });
  });
}

/** Reads the texts of one page. It holds at most one signal whose parts are still arriving. */
export class SignalReader {
  #parts: string[] = [];

  /** Returns the signal that `text` is or completes. null for an incomplete one, and for anything that is no signal. */
  read(text: string): Signal | null {
    const value = text.length <= MAX_SIGNAL_BYTES ? parse(text) : null;
    if (!isRecord(value)) return null;
    if (!('part' in value)) return checkSignal(value);
    const { index, count, part } = value;
    const isNext =
      typeof part === 'string' && typeof count === 'number' && count <= MAX_PARTS && index === this.#parts.length;
    // Texts arrive in order, so a first part begins another signal, and any other one must follow the last.
    if (index === 0) this.#parts = [];
    if (typeof part !== 'string' || !(isNext || index === 0)) return null;
    this.#parts.push(part);
    if (this.#parts.length !== count) return null;
    const whole = parse(this.#parts.join(''));
    this.#parts = [];
    return isRecord(whole) ? checkSignal(whole) : null;
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function checkSignal({ session, peer, offer, answer, candidates }: Record<string, unknown>): Signal | null {
  if (!isId(session) || !(peer === null || isId(peer))) return null;
  const signal: Signal = { session, peer };
  if (offer !== undefined) {
    if (!isDescription(offer) || !isRecord(offer.mids)) return null;
    const mids = checkMids(offer.mids);
    if (mids === null) return null;
    signal.offer = { number: offer.number, sdp: offer.sdp, mids };
  }
  if (answer !== undefined) {
    if (!isDescription(answer)) return null;
    signal.answer = { number: answer.number, sdp: answer.sdp };
  }
  if (candidates !== undefined) {
    if (!Array.isArray(candidates) || candidates.length > MAX_CANDIDATES || !candidates.every(isCandidate)) return null;
    signal.candidates = candidates.map(({ candidate, sdpMid, sdpMLineIndex, usernameFragment }) => ({
      candidate,
      sdpMid,
      sdpMLineIndex,
      usernameFragment,
    }));
  }
  return signal;
}

function isId(value: unknown): value is string {
  return typeof value === 'string' && idPattern.test(value);
}

function isDescription(value: unknown): value is { number: number; sdp: string; mids?: unknown } {
  if (!isRecord(value) || typeof value.sdp !== 'string' || value.sdp.length > MAX_SDP_LENGTH) return false;
  // More sections would make the browser create as many receivers.
  return Number.isSafeInteger(value.number) && value.sdp.split(/^m=/m).length - 1 <= MAX_SECTIONS;
}

function checkMids(mids: Record<string, unknown>): Record<TrackKind, string> | null {
  const { microphone, camera, screen, screenAudio } = mids;
  if (![microphone, camera, screen, screenAudio].every(isMid)) return null;
  if (new Set(trackKinds.map((kind) => mids[kind])).size !== trackKinds.length) return null;
  return {
    microphone: String(microphone),
    camera: String(camera),
    screen: String(screen),
    screenAudio: String(screenAudio),
  };
}

function isMid(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && value.length <= MAX_MID_LENGTH;
}

function isCandidate(value: unknown): value is Candidate {
  if (!isRecord(value)) return false;
  const { candidate, sdpMid, sdpMLineIndex, usernameFragment } = value;
  return (
    isShort(candidate, MAX_CANDIDATE_LENGTH) &&
    (sdpMid === null || isShort(sdpMid, MAX_MID_LENGTH)) &&
    (sdpMLineIndex === null || (Number.isSafeInteger(sdpMLineIndex) && Number(sdpMLineIndex) < MAX_SECTIONS)) &&
    (usernameFragment === null || isShort(usernameFragment, MAX_CANDIDATE_LENGTH))
  );
}

function isShort(value: unknown, maxLength: number): value is string {
  return typeof value === 'string' && value.length <= maxLength;
}
