/** What two pages send each other to connect. Everything that arrives may come from a page that lies. */
import { describe, expect, test } from 'vitest';
import {
  encodeSignal,
  MAX_SIGNAL_BYTES,
  type Signal,
  SignalReader,
} from '../../../packages/client/src/meeting/signal-data.ts';

const session = 'session-of-the-sender';
const mids = { microphone: '0', camera: '1', screen: '2', screenAudio: '3' };
const candidate = { candidate: 'candidate:1', sdpMid: '0', sdpMLineIndex: 0, usernameFragment: 'abcd' };

function offerOf(sdp: string): Signal {
  return { session, peer: null, offer: { number: 1, sdp, mids } };
}

function read(value: unknown): Signal | null {
  return new SignalReader().read(JSON.stringify(value));
}

/** Lines with what JSON escapes, as in an SDP, and with characters of several bytes. */
function linesOf(length: number): string {
  return 'a=rtpmap:96 "VP8"/90000 \\ ü €\r\n'.repeat(Math.ceil(length / 32)).slice(0, length);
}

describe('a signal arrives as it was sent:', () => {
  test.each([
    ['a question for an offer', { session, peer: 'session-of-the-receiver' }],
    ['a short offer', offerOf('v=0\r\nm=audio\r\n')],
    ['an answer', { session, peer: session, answer: { number: 7, sdp: 'v=0\r\n' } }],
    ['candidates', { session, peer: session, candidates: [candidate, { ...candidate, sdpMid: null }] }],
    ['an offer of 16 kB', offerOf(linesOf(16_384))],
    ['an offer of 32 kB', offerOf(linesOf(32_768))],
    ['an offer of nothing but escapes', offerOf('"\\'.repeat(10_000))],
  ])('%s', (_what, signal) => {
    const texts = encodeSignal(signal);
    expect(Math.max(...texts.map((text) => Buffer.byteLength(text)))).toBeLessThanOrEqual(MAX_SIGNAL_BYTES);
    const reader = new SignalReader();
    expect(texts.map((text) => reader.read(text))).toEqual([...texts.slice(1).map(() => null), signal]);
  });

  test('one part, if it fits', () => {
    expect(encodeSignal(offerOf('v=0'))).toHaveLength(1);
    expect(encodeSignal(offerOf(linesOf(20_000))).length).toBeGreaterThan(1);
  });
});

test('a signal that would need too many parts is not sent', () => {
  expect(() => encodeSignal(offerOf(linesOf(100_000)))).toThrow(RangeError);
});

describe('parts', () => {
  const texts = encodeSignal(offerOf(linesOf(30_000)));

  test('that miss one make no signal, and the next signal is read', () => {
    const reader = new SignalReader();
    const withoutSecond = texts.filter((_text, index) => index !== 1);
    expect(withoutSecond.map((text) => reader.read(text))).toEqual(withoutSecond.map(() => null));
    expect(texts.map((text) => reader.read(text)).at(-1)).toEqual(offerOf(linesOf(30_000)));
  });

  test('of another signal replace those that never became complete', () => {
    const reader = new SignalReader();
    reader.read(texts[0] ?? '');
    expect(reader.read(JSON.stringify({ session, peer: null }))).toEqual({ session, peer: null });
    expect(texts.map((text) => reader.read(text)).at(-1)).not.toBeNull();
  });

  test.each([
    ['more than are allowed', { session, index: 0, count: 1_000, part: 'x' }],
    ['none', { session, index: 0, count: 0, part: 'x' }],
    ['that are no text', { session, index: 0, count: 1, part: {} }],
    ['beyond the last', { session, index: 5, count: 2, part: 'x' }],
  ])('%s make no signal', (_what, part) => {
    const reader = new SignalReader();
    expect(Array.from({ length: 20 }, () => reader.read(JSON.stringify(part)))).toEqual(Array(20).fill(null));
  });
});

describe('is no signal:', () => {
  test.each([
    ['no JSON', '<script>'],
    ['a text beyond the limit', JSON.stringify({ session, peer: null, more: 'x'.repeat(MAX_SIGNAL_BYTES) })],
    ['null', 'null'],
    ['a list', '[]'],
  ])('%s', (_what, text) => {
    expect(new SignalReader().read(text)).toBeNull();
  });

  test.each([
    ['without a session', { peer: null }],
    ['with a session that is no id', { session: '<b>', peer: null }],
    ['without a receiver', { session }],
    ['with an offer without SDP', { ...offerOf(''), offer: { number: 1, mids } }],
    ['with an offer without kinds', { session, peer: null, offer: { number: 1, sdp: '' } }],
    [
      'with two kinds in one section',
      { session, peer: null, offer: { number: 1, sdp: '', mids: { ...mids, camera: '0' } } },
    ],
    ['with a number that is none', { session, peer: null, offer: { number: '1', sdp: '', mids } }],
    ['with an answer of many sections', { session, peer: null, answer: { number: 1, sdp: 'm=video\r\n'.repeat(9) } }],
    ['with a long SDP', { session, peer: null, answer: { number: 1, sdp: { length: 1 } } }],
    ['with candidates that are no list', { session, peer: null, candidates: { length: 1 } }],
    ['with too many candidates', { session, peer: null, candidates: Array(41).fill(candidate) }],
    ['with a long candidate', { session, peer: null, candidates: [{ ...candidate, candidate: 'x'.repeat(1_001) }] }],
    ['with a candidate of another kind', { session, peer: null, candidates: [{ ...candidate, sdpMLineIndex: 'x' }] }],
  ])('one %s', (_what, value) => {
    expect(read(value)).toBeNull();
  });

  test('what is not asked for is left out', () => {
    const value = { session, peer: null, extra: 1, candidates: [{ ...candidate, extra: 1 }] };
    expect(read(value)).toEqual({ session, peer: null, candidates: [candidate] });
  });
});
