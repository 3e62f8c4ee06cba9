/** The OpenID providers with which people can sign in. */
import type { Outputs } from '@lynxroom/client';
import { useQuery } from '@tanstack/react-query';
import { trpc } from './client.ts';

export type Provider = Outputs['openid']['providers']['providers'][number];

/** They are settings of the service, so they are read once. The first account is created in this browser, or not here. */
export const providersOptions = trpc.openid.providers.queryOptions(undefined, { staleTime: Number.POSITIVE_INFINITY });

export function useProviders(): readonly Provider[] {
  return useQuery(providersOptions).data?.providers ?? [];
}

/** Who may create an account. Until it is known, everybody: the service decides. */
export function useRegistration(): Outputs['openid']['providers']['registration'] {
  return useQuery(providersOptions).data?.registration ?? 'open';
}

/** Whether nobody has an account yet, and the person at this machine may create the first one. */
export function useIsFirstAccount(): boolean {
  return useQuery(providersOptions).data?.first_account === 1;
}
