import type { Outputs } from '@lynxroom/client';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { lazy, Suspense, useState } from 'react';
import { Badge } from '../../../components/Badge.tsx';
import { Button } from '../../../components/Button.tsx';
import { CopyButton } from '../../../components/CopyButton.tsx';
import { ConfirmDialog, Dialog, DialogActions } from '../../../components/Dialog.tsx';
import { ErrorPanel } from '../../../components/ErrorPanel.tsx';
import { Form, TextField } from '../../../components/Form.tsx';
import { Section } from '../../../components/Section.tsx';
import { Skeleton } from '../../../components/Skeleton.tsx';
import { client, trpc } from '../../../lib/client.ts';
import { formatDate, formatNumber } from '../../../lib/format.ts';
import { withRecentSignIn } from '../../../lib/recent-sign-in.ts';
import { showError, showSuccess } from '../../../lib/toasts.ts';
import { secondFactorOptions } from './queries.ts';
import { RecoveryCodes } from './RecoveryCodes.tsx';

const QrCode = lazy(() => import('./QrCode.tsx').then((parts) => ({ default: parts.QrCode })));

type Setup = Outputs['secondFactor']['setUp'];
type Step = { kind: 'secret'; setup: Setup } | { kind: 'codes'; codes: readonly string[] } | { kind: 'switch off' };

export function SecondFactorSection() {
  const factor = useQuery(secondFactorOptions);
  const queryClient = useQueryClient();
  const [step, setStep] = useState<Step | null>(null);
  const refresh = () => queryClient.invalidateQueries(trpc.secondFactor.pathFilter());
  const close = () => setStep(null);
  const showCodes = ({ recovery_codes: codes }: { recovery_codes: string[] }) => {
    setStep({ kind: 'codes', codes });
    return refresh();
  };
  const setUp = useMutation({
    mutationFn: () => withRecentSignIn(() => client.secondFactor.setUp.mutate()),
    onSuccess: (setup) => setStep({ kind: 'secret', setup }),
    onError: (error) => showError('Could not set up the second factor', error),
  });
  const renewCodes = useMutation({
    mutationFn: () => withRecentSignIn(() => client.secondFactor.createRecoveryCodes.mutate()),
    onSuccess: showCodes,
    onError: (error) => showError('Could not create recovery codes', error),
  });
  const isEnabled = factor.data?.second_factor.enabled ?? false;

  return (
    <Section
      title="Second factor"
      text="Signing in with your password then also needs a code from an authenticator app on your phone."
      actions={
        isEnabled && (
          <>
            <Button isPending={renewCodes.isPending} onClick={() => renewCodes.mutate()}>
              New recovery codes
            </Button>
            <Button onClick={() => setStep({ kind: 'switch off' })}>Switch off</Button>
          </>
        )
      }
    >
      {factor.isPending && <Skeleton className="h-6 w-48" />}
      {factor.isError && <ErrorPanel error={factor.error} onRetry={() => factor.refetch()} />}
      {factor.data && <State {...factor.data.second_factor} />}
      {factor.data && !isEnabled && (
        <Button tone="primary" className="self-start" isPending={setUp.isPending} onClick={() => setUp.mutate()}>
          Set it up
        </Button>
      )}
      {step?.kind === 'secret' && (
        <Dialog onClose={close} title="Set up the second factor">
          <SetUpForm setup={step.setup} onDone={showCodes} />
        </Dialog>
      )}
      {step?.kind === 'codes' && (
        <Dialog onClose={close} title="Your recovery codes">
          <RecoveryCodes codes={step.codes} onDone={close} />
        </Dialog>
      )}
      {step?.kind === 'switch off' && (
        <ConfirmDialog
          onClose={close}
          title="Switch the second factor off?"
          text="Your password alone is then enough to sign in. The recovery codes no longer work."
          action="Switch off"
          onConfirm={async () => {
            await withRecentSignIn(() => client.secondFactor.remove.mutate());
            await refresh();
            showSuccess('The second factor was switched off');
          }}
        />
      )}
    </Section>
  );
}

function State({ enabled, enabled_at, recovery_codes }: Outputs['secondFactor']['read']['second_factor']) {
  if (!enabled) {
    return (
      <p>
        <Badge>Off</Badge>
      </p>
    );
  }
  return (
    <p className="flex flex-wrap items-center gap-2">
      <Badge tone="success">On</Badge>
      {enabled_at !== null && <span>Since {formatDate(enabled_at)}.</span>}
      <span>
        {recovery_codes === 1 ? '1 recovery code is left.' : `${formatNumber(recovery_codes)} recovery codes are left.`}
      </span>
    </p>
  );
}

function SetUpForm({ setup, onDone }: { setup: Setup; onDone: (codes: Outputs['secondFactor']['confirm']) => void }) {
  const confirm = useMutation({
    mutationFn: (code: string) => client.secondFactor.confirm.mutate({ code }),
    onSuccess: onDone,
  });
  return (
    <Form onSubmit={(values) => confirm.mutate(String(values.get('code')))} error={confirm.error}>
      <p>
        1. Scan the code with your authenticator app, or type the key there.{' '}
        <a href={setup.otpauth_uri} className="link">
          Open the authenticator app on this device
        </a>
      </p>
      <Suspense fallback={<Skeleton className="size-52 self-center" />}>
        <QrCode text={setup.otpauth_uri} label="QR code for your authenticator app" />
      </Suspense>
      <div className="flex items-center gap-2">
        <input
          readOnly
          aria-label="Key"
          value={setup.secret}
          onFocus={(event) => event.target.select()}
          className="h-10 min-w-0 grow rounded-lg border border-control-line bg-panel px-3 font-mono text-sm"
        />
        <CopyButton text={setup.secret} label="Copy the key" />
      </div>
      <p>In groups of four: {setup.secret.replace(/(.{4})(?=.)/g, '$1 ')}</p>
      <TextField
        name="code"
        label="Code"
        hint="2. Enter the code that the app shows now"
        inputMode="numeric"
        autoComplete="one-time-code"
        maxLength={10}
        required
      />
      <DialogActions>
        <Button type="submit" tone="primary" isPending={confirm.isPending}>
          Switch on
        </Button>
      </DialogActions>
    </Form>
  );
}
