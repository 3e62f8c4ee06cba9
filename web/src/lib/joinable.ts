import { trpc } from './client.ts';

/** The workspaces that the person may join by the domain of their address. */
export const joinableOptions = trpc.workspaces.listJoinable.queryOptions({ limit: 20 });
