import { assert, constantFrom, integer, property, string, stringMatching, tuple } from 'fast-check';
import { describe, expect, test } from 'vitest';
import { AppError } from '../../src/core/errors.ts';
import type { SignedGrant } from '../../src/storage/signed-url.ts';
import { createUrlSigner } from '../../src/storage/signed-url.ts';

const SECRET = 'a secret of the tests';
const clock = { time: 1_800_000_000_000, now: () => new Date(clock.time) };
const signer = createUrlSigner(SECRET, clock);

/** Reads a URL like the server does: the path decoded once, the query raw. */
function verifyUrl(url: string): SignedGrant {
  const { pathname, search } = new URL(url);
  return signer.verify(decodeURIComponent(pathname.slice('/files/'.length)), search.slice(1));
}

const key = stringMatching(/^[a-z0-9_-]{1,20}(\/[a-z0-9_-]{1,20}){0,3}$/);
const filename = string({ unit: 'binary', maxLength: 40 });
function sign(theKey: string, name: string, seconds = 900) {
  return signer.sign(theKey, {
    filename: name,
    contentType: 'application/pdf',
    expiresInSeconds: seconds,
    origin: 'https://api.test',
  });
}
function expectRefused(read: () => unknown) {
  try {
    read();
  } catch (error) {
    expect(error).toBeInstanceOf(AppError);
    expect(error).toMatchObject({ code: 'FORBIDDEN', message: 'Forbidden' });
    return;
  }
  expect.fail('The URL was accepted');
}

describe('signed URLs', () => {
  test('a URL gives access to exactly what was signed, for every name', () => {
    assert(
      property(key, filename, (theKey, name) => {
        const grant = { key: theKey, filename: name.toWellFormed(), contentType: 'application/pdf', isInline: false };
        expect(verifyUrl(sign(theKey, name))).toEqual(grant);
      }),
    );
  });

  test('a URL is valid until its last second and no longer', () => {
    const url = sign('a', 'a.pdf', 900);
    const start = clock.time;
    clock.time = start + 899_999;
    expect(verifyUrl(url).key).toBe('a');
    clock.time = start + 900_000;
    expectRefused(() => verifyUrl(url));
    clock.time = start;
  });

  test('a change of any character of the key or query is rejected, unless it means the same', () => {
    const edit = tuple(
      integer({ min: 0, max: 10_000 }),
      integer({ min: 0, max: 1 }),
      string({ minLength: 0, maxLength: 2 }),
    );
    assert(
      property(key, filename, edit, (theKey, name, [position, removed, added]) => {
        const url = sign(theKey, name);
        const start = 'https://api.test/files/'.length;
        const at = start + (position % (url.length - start));
        const altered = url.slice(0, at) + added + url.slice(at + removed);
        let same: unknown;
        try {
          same = verifyUrl(altered);
        } catch (error) {
          // The path is decoded before it gets here, so paths that cannot be decoded never do.
          if (!(error instanceof URIError)) expectRefused(() => verifyUrl(altered));
          return;
        }
        expect(same).toEqual(verifyUrl(url));
      }),
      { numRuns: 3000 },
    );
  });

  test('every parameter is required exactly once, and no other is accepted', () => {
    const url = sign('a/b', 'x.pdf');
    const query = new URL(url).search.slice(1);
    const parameters = query.split('&');
    expect(parameters).toHaveLength(4);
    for (const [index, parameter] of parameters.entries()) {
      expectRefused(() => signer.verify('a/b', parameters.toSpliced(index, 1).join('&')));
      expectRefused(() => signer.verify('a/b', `${query}&${parameter}`));
      expectRefused(() => signer.verify('a/b', `${parameter}&${query}`));
    }
    for (const more of ['x=1', 'Expires=9999999999', 'response-content-type=text/html', '__proto__=1', 'a']) {
      expectRefused(() => signer.verify('a/b', `${query}&${more}`));
    }
    expect(signer.verify('a/b', parameters.toReversed().join('&')).key).toBe('a/b');
  });

  test('a different expiry in any notation is rejected', () => {
    const url = sign('a', 'x.pdf');
    const expires = /expires=(\d+)/.exec(url)?.[1] ?? '';
    for (const other of [
      '',
      '0',
      '-1',
      '1e99',
      `${expires}0`,
      `0${expires}`,
      `+${expires}`,
      ` ${expires}`,
      'Infinity',
    ]) {
      expectRefused(() => verifyUrl(url.replace(`expires=${expires}`, `expires=${encodeURIComponent(other)}`)));
    }
  });

  test('moving text between parameters, or another secret, changes the signature', () => {
    const spread = constantFrom<string[]>(['a', 'b","c'], ['a","b', 'c'], ['a\n', 'b'], ['a', '\nb']);
    assert(
      property(spread, spread, (one, other) => {
        const signature = ([name, type]: string[]) =>
          new URL(
            signer.sign('k', {
              filename: name ?? '',
              contentType: type ?? '',
              expiresInSeconds: 1,
              origin: 'http://a',
            }),
          ).searchParams.get('signature');
        expect(signature(one) === signature(other)).toBe(one === other);
      }),
    );
    const foreign = createUrlSigner(`${SECRET}.`, clock);
    const options = { filename: 'x', contentType: 'y/z', expiresInSeconds: 9, origin: 'http://a' };
    expectRefused(() => verifyUrl(foreign.sign('k', options)));
  });
});

test('URLs that were signed with a previous secret are valid while it is listed', () => {
  const options = { filename: 'a.pdf', contentType: 'application/pdf', expiresInSeconds: 60, origin: 'http://x' };
  const url = new URL(signer.sign('items/a', options));
  const verifyWith = (...previous: string[]) =>
    createUrlSigner('another secret for tests', clock, previous).verify('items/a', url.search.slice(1));
  expect(verifyWith('a third secret for tests', SECRET)).toMatchObject({ key: 'items/a' });
  expect(() => verifyWith('a third secret for tests')).toThrow('Forbidden');
  expect(() => verifyWith()).toThrow('Forbidden');
  expect(() => createUrlSigner(SECRET, clock, ['short'])).toThrow(RangeError);
});
