/** How a page that was loaded again asks for its visit. */
import { expect, test } from 'vitest';
import { createClient } from '../../../packages/client/src/index.ts';
import { callUntilAnswered } from '../../../web/src/meeting/call-until-answered.ts';

/** Asks a service that answers with these statuses, one after another: 0 is no answer, and 200 is a visit. */
function ask(statuses: number[], isOver = () => false) {
  const waits: number[] = [];
  const left = [...statuses];
  const client = createClient({
    url: 'http://service.test',
    fetch: async () => {
      const status = left.shift() ?? 0;
      if (status === 0) throw new TypeError('fetch failed');
      const error = { message: 'Refused', code: -32_000, data: { httpStatus: status } };
      const result = { data: { participant: { id: 7 } } };
      // A gateway in front of the service answers 502 with a page.
      const body = status === 502 ? '<p>Bad gateway</p>' : JSON.stringify(status === 200 ? { result } : { error });
      return new Response(body, { status });
    },
  });
  const answer = callUntilAnswered(() => client.participants.presence.mutate({ roomName: 'room', token: 'token' }), {
    isOver,
    async sleep(ms) {
      waits.push(ms);
      if (waits.length > statuses.length) throw new Error('It is asked too often');
    },
  });
  return { answer, waits };
}

test('it is asked again until the service answers', async () => {
  const { answer, waits } = ask([0, 502, 503, 429, 0, 503, 200]);
  expect(await answer).toEqual({ participant: { id: 7 } });
  expect(waits).toEqual([500, 1_000, 2_000, 4_000, 5_000, 5_000]);
});

test.each([400, 401, 403, 404])('status %i is an answer', async (status) => {
  const { answer, waits } = ask([503, status]);
  await expect(answer).rejects.toMatchObject({ status });
  expect(waits).toEqual([500]);
});

test('a page that is gone asks no more', async () => {
  let calls = 0;
  const { answer } = ask([503, 503, 200], () => {
    calls += 1;
    return calls > 2;
  });
  expect(await answer).toBeNull();
});

test('a mistake of the page is not repeated', async () => {
  const call = () => Promise.reject(new RangeError('a mistake'));
  await expect(callUntilAnswered(call, { isOver: () => false })).rejects.toThrow('a mistake');
});
