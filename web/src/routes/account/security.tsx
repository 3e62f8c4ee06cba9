/** How the user signs in: password, second factor, passkeys, and accounts at providers. */
import { createFileRoute } from '@tanstack/react-router';
import { PageHeader } from '../../components/PageHeader.tsx';
import { AccessSection } from './-security/AccessSection.tsx';
import { IdentitiesSection } from './-security/IdentitiesSection.tsx';
import { PasskeysSection } from './-security/PasskeysSection.tsx';
import { PasswordSection } from './-security/PasswordSection.tsx';
import { readSecurity } from './-security/queries.ts';
import { SecondFactorSection } from './-security/SecondFactorSection.tsx';

export const Route = createFileRoute('/account/security')({ loader: readSecurity, component: SecurityPage });

function SecurityPage() {
  return (
    <>
      <PageHeader title="Security" text="How you sign in" />
      <PasswordSection />
      <SecondFactorSection />
      <PasskeysSection />
      <IdentitiesSection />
      <AccessSection />
    </>
  );
}
