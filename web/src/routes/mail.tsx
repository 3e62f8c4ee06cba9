/**
 * `/mail`: redirects to the list of unsent mail. A service without a mail server shows this list to browsers on the
 * same machine. Otherwise the page says where to find the mail.
 */
import { createFileRoute, redirect } from '@tanstack/react-router';
import { Mail } from 'lucide-react';
import { EmptyState } from '../components/EmptyState.tsx';
import { PageHeader } from '../components/PageHeader.tsx';
import { Frame } from '../frame/Frame.tsx';
import { requireAccount } from '../lib/session.ts';

const OUTBOX = '/dev/mail';

export const Route = createFileRoute('/mail')({
  beforeLoad: requireAccount,
  async loader() {
    const answer = await fetch(OUTBOX);
    if (answer.ok) throw redirect({ href: OUTBOX, reloadDocument: true });
  },
  component: MailPage,
});

function MailPage() {
  return (
    <Frame navigation={null}>
      <PageHeader title="Mail" />
      <EmptyState icon={<Mail aria-hidden size={28} />} title="The mail is not shown here">
        Either this service has a mail server, or your browser is not on the machine that runs the service. Operators
        list the mail with <code className="font-mono">npm run lynxroom -- mail</code>.
      </EmptyState>
    </Frame>
  );
}
