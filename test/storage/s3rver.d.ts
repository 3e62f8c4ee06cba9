/** The part of s3rver 3.7 that the tests use. The package has no types. */
declare module 's3rver' {
  import type { Server } from 'node:http';

  type Options = {
    address: string;
    port: number;
    silent: boolean;
    directory: string;
    configureBuckets: { name: string; configs: string[] }[];
  };

  export default class S3rver {
    constructor(options: Options);
    /** Exists while it runs. */
    httpServer: Server;
    run(): Promise<{ address: string; port: number }>;
    close(): Promise<void>;
  }
}
