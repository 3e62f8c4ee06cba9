/** The keys of a worker: each secret is opened once, and never with another workspace. */
import { expect, test, vi } from 'vitest';
import { createKeyRing } from '../../src/webhook-delivery/signing-keys.ts';

function sealed(text: string): Uint8Array {
  return new Uint8Array(Buffer.from(text));
}

test('a secret is opened once for each workspace, whatever buffer it is in', () => {
  const open = vi.fn((bytes: Uint8Array) => Buffer.from(bytes).toString());
  const openKey = createKeyRing({ open });
  const key = openKey(1, sealed('whsec_YQ=='));
  expect(openKey(1, sealed('whsec_YQ=='))).toBe(key);
  expect(openKey(2, sealed('whsec_YQ=='))).not.toBe(key);
  expect(openKey(1, sealed('whsec_Yg=='))).not.toBe(key);
  expect(open.mock.calls.map(([, context]: unknown[]) => context)).toMatchObject([
    { workspaceId: 1 },
    { workspaceId: 2 },
    { workspaceId: 1 },
  ]);
});

test('a secret that cannot be opened throws each time', () => {
  const open = vi.fn(() => {
    throw new Error('another key');
  });
  const openKey = createKeyRing({ open });
  expect(() => openKey(1, sealed('a'))).toThrow('another key');
  expect(() => openKey(1, sealed('a'))).toThrow('another key');
});

test('only the last thousand keys are kept', () => {
  const open = vi.fn(() => 'whsec_YQ==');
  const openKey = createKeyRing({ open });
  for (let secret = 0; secret < 1_001; secret += 1) openKey(1, sealed(String(secret)));
  openKey(1, sealed('1'));
  expect(open).toHaveBeenCalledTimes(1_001);
  openKey(1, sealed('0'));
  expect(open).toHaveBeenCalledTimes(1_002);
});
