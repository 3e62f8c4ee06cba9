import type { Outputs } from '@lynxroom/client';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Button } from '../../../components/Button.tsx';
import { ConfirmDialog } from '../../../components/Dialog.tsx';
import { Section } from '../../../components/Section.tsx';
import { WholeTable } from '../../../components/Table.tsx';
import { Time } from '../../../components/Time.tsx';
import { client, trpc } from '../../../lib/client.ts';
import { type Provider, useProviders } from '../../../lib/providers.ts';
import { withRecentSignIn } from '../../../lib/recent-sign-in.ts';
import { showError, showSuccess } from '../../../lib/toasts.ts';
import { identitiesOptions } from './queries.ts';

type Identity = Outputs['openid']['identities']['identities'][number];

/** The accounts at OpenID providers. It is left out if the service has no providers, and the user no such account. */
export function IdentitiesSection() {
  const queryClient = useQueryClient();
  const providers = useProviders();
  const linked = useQuery(identitiesOptions);
  const [asked, setAsked] = useState<Identity | null>(null);
  const link = useMutation({
    async mutationFn({ id }: Provider) {
      const { url } = await withRecentSignIn(() =>
        client.openid.link.mutate({ provider: id, return_to: '/account/security' }),
      );
      location.assign(url);
    },
    onError: (error) => showError('Could not link the account', error),
  });
  const nameOf = ({ provider, issuer }: Identity) => providers.find(({ id }) => id === provider)?.name ?? issuer;
  if (providers.length === 0 && (linked.data?.identities ?? []).length === 0) return null;
  return (
    <Section
      title="Linked accounts"
      text="Accounts elsewhere with which you can sign in here."
      actions={providers.map((provider) => (
        <Button key={provider.id} isPending={link.isPending} onClick={() => link.mutate(provider)}>
          Link {provider.name}
        </Button>
      ))}
    >
      <WholeTable
        caption="Linked accounts"
        list={linked}
        rowsOf={(answer) => answer.identities}
        failure="The linked accounts could not be loaded"
        empty={<p>You have not linked any accounts yet.</p>}
        skeletonRows={1}
        keyOf={({ id }) => id}
        columns={[
          {
            heading: 'Account',
            className: 'min-w-48',
            cell: (identity) => (
              <>
                <span className="font-medium">{nameOf(identity)}</span>
                <span className="block text-sm text-muted">{identity.email ?? 'No address'}</span>
              </>
            ),
          },
          { heading: 'Linked', cell: ({ created_at }) => <Time at={created_at} /> },
          { heading: 'Last used', cell: ({ last_used_at }) => <Time at={last_used_at} /> },
          {
            heading: 'Actions',
            isHeadingHidden: true,
            className: 'w-24 py-1',
            cell: (identity) => (
              <Button size="small" aria-label={`Unlink ${nameOf(identity)}`} onClick={() => setAsked(identity)}>
                Unlink
              </Button>
            ),
          },
        ]}
      />
      {asked && (
        <ConfirmDialog
          onClose={() => setAsked(null)}
          title={`Unlink ${nameOf(asked)}?`}
          text="You can no longer sign in with it."
          action="Unlink"
          onConfirm={async () => {
            await withRecentSignIn(() => client.openid.unlink.mutate({ identityId: asked.id }));
            await queryClient.invalidateQueries(trpc.openid.identities.pathFilter());
            showSuccess('The account was unlinked');
          }}
        />
      )}
    </Section>
  );
}
