import { setTimeout as sleep } from 'node:timers/promises';
import { createHttp, type Http } from '../support/http.ts';

/** How often a call that exceeds a rate limit is made. The limits count minutes. */
const MAX_TRIES = 4;
const MAX_WAIT_SECONDS = 60;

/** As `createHttp`, and waits where the installation limits how often one may call. */
export function createPatientHttp(url: string): Http {
  const http = createHttp(url);
  const call: Http['call'] = async (method, path, options) => {
    for (let tries = 1; ; tries += 1) {
      const answer = await http.call(method, path, options);
      if (answer.status !== 429 || tries === MAX_TRIES) return answer;
      const seconds = Number(answer.headers.get('retry-after') ?? 1);
      await sleep(1000 * Math.min(Math.max(seconds, 1), MAX_WAIT_SECONDS));
    }
  };
  return {
    call,
    get: (path, token) => call('GET', path, { token }),
    getJson: (path, token) => call('GET', path, { token, headers: { accept: 'application/json' } }),
    post: (path, token, json) => call('POST', path, { token, json }),
    patch: (path, token, json) => call('PATCH', path, { token, json }),
    delete: (path, token) => call('DELETE', path, { token }),
  };
}
