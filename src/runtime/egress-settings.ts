/** The settings of the recordings that the LiveKit server of the operator writes into the bucket. */
import { z } from 'zod';
import type { Clock } from '../core/time.ts';
import type { LivekitEgress } from '../services.ts';
import { OBJECT_KEY_PREFIX } from '../storage/create-object-key.ts';
import type { StorageSettings } from '../storage/create-store.ts';
import { directoryPrefix, isObjectKey } from '../storage/object-key.ts';

type EgressConfig = {
  LIVEKIT_EGRESS_S3_ACCESS_KEY_ID?: string | undefined;
  LIVEKIT_EGRESS_S3_SECRET_ACCESS_KEY?: string | undefined;
  LIVEKIT_EGRESS_S3_ENDPOINT?: string | undefined;
  LIVEKIT_EGRESS_S3_PREFIX: string;
};

/** `LIVEKIT_EGRESS_S3_PREFIX`, without a slash at its end. */
export const egressPrefix = z
  .string()
  .transform((value) => (value.endsWith('/') ? value.slice(0, -1) : value))
  .refine(isObjectKey, { error: 'must be a directory of a-z, 0-9, _, . and -, such as egress' });

/** Whether the server records. */
export function hasEgress(config: EgressConfig): boolean {
  return config.LIVEKIT_EGRESS_S3_ACCESS_KEY_ID !== undefined;
}

/** Whether nothing that the server may write is a file of the service. */
export function isApart(prefix: string, storePrefix: string | undefined): boolean {
  const files = `${directoryPrefix(storePrefix)}${OBJECT_KEY_PREFIX}`;
  return !files.startsWith(`${prefix}/`) && !`${prefix}/`.startsWith(files);
}

/** Returns where the server writes, and how this service reads it; null if it does not record. */
export async function createLivekitEgress(
  config: EgressConfig,
  storage: StorageSettings,
  clock: Clock,
): Promise<LivekitEgress | null> {
  const { LIVEKIT_EGRESS_S3_ACCESS_KEY_ID: accessKeyId, LIVEKIT_EGRESS_S3_SECRET_ACCESS_KEY: secretAccessKey } = config;
  if (storage.kind !== 's3' || accessKeyId === undefined || secretAccessKey === undefined) return null;
  const { createS3Store } = await import('../storage/s3-store.ts');
  const { bucket, region, forcePathStyle = false } = storage;
  const endpoint = config.LIVEKIT_EGRESS_S3_ENDPOINT ?? storage.endpoint;
  const prefix = config.LIVEKIT_EGRESS_S3_PREFIX;
  return {
    target: {
      ...{ bucket, region, forcePathStyle, accessKeyId, secretAccessKey, prefix },
      ...(endpoint !== undefined && { endpoint }),
    },
    // With the key of the service, which reads and removes what the server has written.
    files: createS3Store({ ...storage, prefix, clock }),
  };
}
