/** The data of the account: exports it, or deletes the account. */
import { useMutation } from '@tanstack/react-query';
import { createFileRoute, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { Button } from '../../components/Button.tsx';
import { PageHeader } from '../../components/PageHeader.tsx';
import { Section } from '../../components/Section.tsx';
import { TypeToConfirmDialog } from '../../components/TypeToConfirmDialog.tsx';
import { client } from '../../lib/client.ts';
import { withRecentSignIn } from '../../lib/recent-sign-in.ts';
import { saveFile } from '../../lib/save-file.ts';
import { deleteAccount, useAccount } from '../../lib/session.ts';
import { showError, showSuccess } from '../../lib/toasts.ts';

export const Route = createFileRoute('/account/data')({ component: DataPage });

function DataPage() {
  return (
    <>
      <PageHeader title="Your data" />
      <ExportSection />
      <DeleteSection />
    </>
  );
}

function ExportSection() {
  const exportAccount = useMutation({
    mutationFn: () => withRecentSignIn(() => client.exportAccount()),
    onSuccess(data) {
      saveFile(data, 'account.json');
      showSuccess('Your data was exported');
    },
    onError: (error) => showError('Could not export your data', error),
  });
  return (
    <Section
      title="Export"
      text="Download everything that belongs to your account as one JSON file: profile, sessions, memberships, keys, what you created, your visits, mail and logs. Secrets are not included."
    >
      <Button className="self-start" isPending={exportAccount.isPending} onClick={() => exportAccount.mutate()}>
        Export my data
      </Button>
    </Section>
  );
}

function DeleteSection() {
  const me = useAccount();
  const navigate = useNavigate();
  const [isOpen, setIsOpen] = useState(false);
  return (
    <Section
      title="Delete the account"
      text="Your Personal workspace, and workspaces without other members, are deleted with all that they contain. What you created in other workspaces stays there without an author. First, make somebody else the owner of each workspace of yours that has other members."
    >
      <Button tone="danger" className="self-start" onClick={() => setIsOpen(true)}>
        Delete my account
      </Button>
      {isOpen && me && (
        <TypeToConfirmDialog
          onClose={() => setIsOpen(false)}
          title="Delete your account?"
          text="Everything that is yours is deleted at once. This cannot be undone."
          expected={me.email}
          label="Your email address"
          action="Delete"
          onConfirm={async () => {
            await withRecentSignIn(deleteAccount);
            showSuccess('Your account was deleted');
            await navigate({ to: '/', replace: true });
          }}
        />
      )}
    </Section>
  );
}
