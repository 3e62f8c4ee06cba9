/** The rules of a meeting that need no browser: who speaks, what a chat may say, and when connections are repaired. */
import { describe, expect, test } from 'vitest';
import { checkChatText, RateLimit, readPageMessage } from '../../../packages/client/src/meeting/chat.ts';
import { waitForRenewal } from '../../../packages/client/src/meeting/credentials.ts';
import { LinkRecovery, type ObservedState } from '../../../packages/client/src/meeting/link-recovery.ts';
import { nobodySpeaks, stepSpeaking } from '../../../packages/client/src/meeting/speaker.ts';

describe('the speaker', () => {
  /** The speaker and all who speak after these levels of the participants 1 and 2. */
  function listen(levels: [number, number][]) {
    const steps = levels.map(([one, two]) => new Map([...[[1, one] as const], ...[[2, two] as const]]));
    return steps.reduce(stepSpeaking, nobodySpeaks);
  }

  test('is nobody while there is only noise', () => {
    expect(listen([[0.01, 0.015]])).toEqual({ speaker: null, remaining: new Map() });
  });

  test('is the loudest', () => {
    expect(listen([[0.2, 0.3]]).speaker).toBe(2);
  });

  test('stays the speaker after they stop, but speaks no more after a pause', () => {
    const { speaker, remaining } = listen([
      [0.3, 0],
      [0, 0],
      [0, 0],
      [0, 0],
    ]);
    expect([speaker, remaining.has(1)]).toEqual([1, true]);
    const later = listen([
      [0.3, 0],
      [0, 0],
      [0, 0],
      [0, 0],
      [0, 0],
    ]);
    expect([later.speaker, later.remaining.has(1)]).toEqual([1, false]);
  });

  test('is not replaced by somebody who is only a little louder', () => {
    expect(
      listen([
        [0.3, 0],
        [0.3, 0.4],
      ]).speaker,
    ).toBe(1);
    expect(
      listen([
        [0.3, 0],
        [0.2, 0.4],
      ]).speaker,
    ).toBe(2);
  });

  test('is replaced once they have been silent for a pause', () => {
    expect(
      listen([
        [0.3, 0],
        [0, 0],
        [0, 0],
        [0, 0],
        [0, 0],
        [0, 0.1],
      ]).speaker,
    ).toBe(2);
  });

  test('is forgotten when they leave', () => {
    const speaking = listen([[0.3, 0]]);
    expect(stepSpeaking(speaking, new Map([[2, 0]]))).toEqual({ speaker: null, remaining: new Map() });
  });
});

describe('a chat message', () => {
  test('is plain text without control characters, and keeps its line breaks', () => {
    expect(checkChatText('  one\ntwo\u0000\u202E <b>\t')).toBe('one\ntwo <b>');
  });

  test.each([
    ['', 0],
    [' \n ', 0],
    ['x'.repeat(2_001), 2_001],
  ])('of %j characters is refused', (text) => {
    expect(() => checkChatText(text)).toThrow(new RangeError('A message must have 1 to 2000 characters'));
    expect(readPageMessage(JSON.stringify({ type: 'chat', text }))).toBeNull();
  });

  test('of 2,000 characters arrives', () => {
    const message = { type: 'chat', text: '\u2028'.repeat(2_000) };
    expect(checkChatText(message.text.replaceAll('\u2028', 'ü'))).toHaveLength(2_000);
    const text = 'ü'.repeat(2_000);
    expect(readPageMessage(JSON.stringify({ type: 'chat', text }))).toEqual({ type: 'chat', text });
  });

  test.each([
    ['bytes', new ArrayBuffer(8)],
    ['no JSON', 'hello'],
    ['null', 'null'],
    ['an unknown type', '{"type":"run","text":"x"}'],
    ['no text', '{"type":"chat","text":{"length":5}}'],
    ['a camera that is neither on nor off', '{"type":"camera","isPaused":"yes"}'],
    ['a flood', JSON.stringify({ type: 'chat', text: 'x'.repeat(1_000_000) })],
  ])('that is %s is ignored', (_what, data) => {
    expect(readPageMessage(data)).toBeNull();
  });

  test('is not read any more when there are too many, until time has passed', () => {
    const limit = new RateLimit(3, 2);
    const taken = [0, 1, 2, 3, 4, 504, 505].map((now) => limit.take(1_000_000 + now));
    expect(taken).toEqual([true, true, true, false, false, true, false]);
  });
});

describe('a broken connection', () => {
  /** What is done while a connection is in these states, each with how many milliseconds it lasts. */
  function watch(isInitiator: boolean, states: [ObservedState, number][]): string[] {
    const recovery = new LinkRecovery(isInitiator);
    const actions: string[] = [];
    let now = 1_000;
    for (const [state, ms] of states)
      for (const end = now + ms; now < end; now += 500) {
        const action = recovery.step(now, state);
        if (action !== null) actions.push(`${action} ${(now - 1_000) / 1_000}`);
      }
    return actions;
  }

  test('is left alone while it works', () => {
    expect(
      watch(true, [
        ['connecting', 5_000],
        ['connected', 100_000],
        ['disconnected', 2_500],
        ['connected', 9_000],
      ]),
    ).toEqual([]);
  });

  test('is repaired at once when it has failed, and by the other side a second later', () => {
    expect(
      watch(true, [
        ['connected', 1_000],
        ['failed', 2_000],
      ]),
    ).toEqual(['restart 1']);
    expect(
      watch(false, [
        ['connected', 1_000],
        ['failed', 2_000],
      ]),
    ).toEqual(['restart 2']);
  });

  test('is repaired after three seconds without a sign of the peer', () => {
    expect(
      watch(true, [
        ['connected', 1_000],
        ['disconnected', 4_000],
      ]),
    ).toEqual(['restart 4']);
  });

  test('is made anew after three restarts', () => {
    const actions = watch(true, [['failed', 20_000]]);
    expect(actions.slice(0, 4).map((action) => action.split(' ')[0])).toEqual([
      'restart',
      'restart',
      'restart',
      'reopen',
    ]);
    expect(actions.length).toBeLessThan(7);
  });

  test('is made anew if a later offer stays without an answer, although it seems to work', () => {
    const actions = watch(true, [
      ['connected', 1_000],
      ['offering', 15_000],
    ]);
    expect(actions.slice(0, 4).map((action) => action.split(' ')[0])).toEqual(['ask', 'ask', 'ask', 'reopen']);
  });

  test('is asked for again when nobody answers', () => {
    expect(watch(true, [['unanswered', 8_000]])).toEqual(['ask 2', 'ask 5']);
    expect(watch(false, [['unanswered', 4_000]])).toEqual(['ask 3']);
  });

  test('is restarted, not made anew, when the answer arrives at last', () => {
    const actions = watch(true, [
      ['unanswered', 15_000],
      ['connecting', 8_000],
    ]);
    expect(actions.slice(-2)).toEqual([expect.stringMatching(/^ask/), 'restart 21']);
  });

  test('is made anew if nobody answers for long, because it may refuse what it gets', () => {
    const actions = watch(false, [['unanswered', 40_000]]);
    expect(actions.slice(0, 7).map((action) => action.split(' ')[0])).toEqual([...Array(6).fill('ask'), 'reopen']);
  });

  test('that is made anew gets more time each time, until one works', () => {
    const recovery = new LinkRecovery(true);
    /** How many milliseconds pass until a connection that does not work is made anew. */
    function timeToReopen(start: number): number {
      for (let now = start; ; now += 100) if (recovery.step(now, 'connecting') === 'reopen') return now - start;
    }
    const times = [0, 100_000, 200_000, 300_000].map((start) => {
      const time = timeToReopen(start);
      recovery.restart();
      return time;
    });
    const [first = 0] = times;
    expect(first).toBeGreaterThan(10_000);
    expect(times.map((time) => Math.round(time / first))).toEqual([1, 2, 4, 4]);
    recovery.step(400_000, 'connected');
    expect(timeToReopen(500_000)).toBe(first);
  });
});

describe('credentials', () => {
  test('are replaced in the middle of the time that is left, so that several attempts fit', () => {
    expect(waitForRenewal(600_000, 0)).toBe(300_000);
    expect(waitForRenewal(600_000, 400_000)).toBe(100_000);
  });

  test('are not asked for without a pause, even when they have ended', () => {
    expect(waitForRenewal(600_000, 700_000)).toBe(3_000);
  });

  test('that do not end are kept', () => {
    expect(waitForRenewal(null, 0)).toBeNull();
  });
});
