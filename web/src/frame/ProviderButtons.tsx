import type { Inputs, Outputs } from '@lynxroom/client';
import { useMutation } from '@tanstack/react-query';
import { LogIn } from 'lucide-react';
import { Button } from '../components/Button.tsx';
import { ErrorNote } from '../components/ErrorPanel.tsx';
import { type Provider, useProviders } from '../lib/providers.ts';

type Props = {
  /** Starts what the provider completes, such as a sign-in. */
  start: (input: Inputs['openid']['start']) => Promise<Outputs['openid']['start']>;
  /** The path to which the provider redirects afterwards. */
  returnTo: string;
  /** Which providers to show. Default: all. */
  isShown?: (provider: Provider) => boolean;
};

/** A button for each provider. It opens a page of the provider, which redirects back to the console. */
export function ProviderButtons({ start, returnTo, isShown = () => true }: Props) {
  const providers = useProviders().filter(isShown);
  const goTo = useMutation({
    async mutationFn({ id }: Provider) {
      const { url } = await start({ provider: id, return_to: returnTo });
      location.assign(url);
    },
  });
  return (
    <>
      {goTo.error && <ErrorNote error={goTo.error} />}
      {providers.map((provider) => (
        <Button
          key={provider.id}
          icon={<LogIn aria-hidden size={18} />}
          isPending={goTo.isPending && goTo.variables.id === provider.id}
          onClick={() => goTo.mutate(provider)}
        >
          Continue with {provider.name}
        </Button>
      ))}
    </>
  );
}
