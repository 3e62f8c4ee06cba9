import type { Readable } from 'node:stream';

type Options = {
  endpoint: string;
  headers: Record<string, string>;
  chunkSize: number;
  metadata?: Record<string, string>;
  uploadUrl?: string;
  uploadLengthDeferred?: boolean;
  retryDelays?: number[];
  onBeforeRequest?(request: Request): void;
};

type Request = { getMethod(): string; getHeader(name: string): string | undefined };

export function beginWithTus(file: Buffer, options: Options, stopAfter: number): Promise<string>;
export function uploadWithTus(file: Buffer | Readable, options: Options): Promise<string>;
export function uploadWithUppy(
  file: { name: string; type: string; data: Blob | Buffer },
  options: Options,
): Promise<{ errors: string[]; count: number }>;
