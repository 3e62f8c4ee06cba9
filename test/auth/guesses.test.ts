/** What a process remembers about the names that networks have reached, without a server. */
import { expect, test } from 'vitest';
import { createGuesses } from '../../src/auth/guesses.ts';
import { createManualTicker } from '../support/manual-ticker.ts';

const MINUTE_MS = 60_000;

test('a name is known for an hour after it was last reached, to the network that reached it', () => {
  const ticker = createManualTicker();
  const guesses = createGuesses(ticker);
  guesses.remember('10.0.0.1', 'a');
  ticker.advance(59 * MINUTE_MS);
  guesses.remember('10.0.0.1', 'a');
  ticker.advance(59 * MINUTE_MS);
  expect([guesses.isKnown('10.0.0.1', 'a'), guesses.isKnown('10.0.0.2', 'a')]).toEqual([true, false]);
  ticker.advance(MINUTE_MS);
  expect(guesses.isKnown('10.0.0.1', 'a')).toBe(false);
});

test('of more than 10,000 names, those that were not reached for the longest time are forgotten', () => {
  const guesses = createGuesses(createManualTicker());
  for (let index = 0; index < 10_000; index += 1) guesses.remember('10.0.0.1', String(index));
  guesses.remember('10.0.0.1', '0');
  guesses.remember('10.0.0.1', 'new');
  expect(['0', '1', '2', 'new'].map((name) => guesses.isKnown('10.0.0.1', name))).toEqual([true, false, true, true]);
});
