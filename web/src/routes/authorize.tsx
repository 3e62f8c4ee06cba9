/** The page on which a person allows an app to use a workspace, or not. The app has sent the browser here. */
import type { Inputs, Outputs } from '@lynxroom/client';
import { useMutation, useQuery } from '@tanstack/react-query';
import { createFileRoute } from '@tanstack/react-router';
import { Button } from '../components/Button.tsx';
import { ErrorPanel } from '../components/ErrorPanel.tsx';
import { CheckboxField, FieldGroup, Form, SelectField } from '../components/Form.tsx';
import { Skeleton } from '../components/Skeleton.tsx';
import { IdentityDialog } from '../frame/IdentityDialog.tsx';
import { SignInFrame } from '../frame/SignInFrame.tsx';
import { client, trpc } from '../lib/client.ts';
import { withRecentSignIn } from '../lib/recent-sign-in.ts';
import { describeScope } from '../lib/scopes.ts';
import { requireAccount, useAccount } from '../lib/session.ts';
import { pickWorkspace, workspaces } from '../lib/workspace.ts';

type Asked = Inputs['apps']['describe'];
type Authorization = Outputs['apps']['describe'];
type Scope = Authorization['scopes'][number];

/** What the service accepts. */
const MAX_STATE_LENGTH = 1_500;

export const Route = createFileRoute('/authorize')({
  // The service puts all parameters of the app into one, because the router would read numbers in them as numbers.
  validateSearch: ({ request }: Record<string, unknown>) => ({ request: typeof request === 'string' ? request : '' }),
  beforeLoad: requireAccount,
  component: AuthorizePage,
});

function AuthorizePage() {
  const { request } = Route.useSearch();
  // `as`: the service checks the parameters, whatever they are.
  const asked = Object.fromEntries(new URLSearchParams(request)) as Asked;
  // The app gets its state back, which may be too long for the URL of a query.
  const { state = '', ...query } = asked;
  const described = useQuery({ ...trpc.apps.describe.queryOptions(query), retry: false });
  const listed = useQuery(workspaces);
  const isTooLong = state.length > MAX_STATE_LENGTH;
  const refusal = isTooLong ? new Error(`The app sends a state of more than ${MAX_STATE_LENGTH} characters.`) : null;
  const error = refusal ?? described.error ?? listed.error;
  return (
    <SignInFrame title="Connect an app">
      {error !== null && (
        <>
          <ErrorPanel what="The app cannot be connected" error={error} />
          <p>Close this page, and start again in the app.</p>
        </>
      )}
      {described.isPending && <Skeleton className="h-48" />}
      {refusal === null && described.data && listed.data && (
        <ConsentForm asked={asked} authorization={described.data} ownWorkspaces={listed.data} />
      )}
      <IdentityDialog />
    </SignInFrame>
  );
}

type ConsentFormProps = {
  asked: Asked;
  authorization: Authorization;
  ownWorkspaces: Outputs['workspaces']['list']['workspaces'];
};

function ConsentForm({ asked, authorization, ownWorkspaces }: ConsentFormProps) {
  const { app, scopes, days, decline_url } = authorization;
  const me = useAccount();
  const connect = useMutation({
    mutationFn: ({ id, allowed }: { id: number; allowed: Scope[] }) =>
      withRecentSignIn(() => client.apps.connect.mutate({ ...asked, id, scopes: allowed })),
    // The address may be that of a program on this computer, so it is no page of the console.
    onSuccess: ({ url }) => location.assign(url),
  });
  const allow = (values: FormData): void =>
    connect.mutate({
      id: Number(values.get('workspace')),
      allowed: scopes.filter((scope) => values.has(scope)),
    });
  return (
    <Form onSubmit={allow} error={connect.error}>
      <p>
        An app that calls itself <strong>{app.name}</strong> asks to act for you, {me?.name} ({me?.email}).
      </p>
      <div className="rounded-lg border border-line bg-panel p-4">
        <p className="text-sm text-muted">The access goes to</p>
        <p className="font-medium break-all">{app.redirect_host}</p>
        <p className="mt-2 text-sm">
          {app.is_local === 1 ? 'This is a program on your computer. ' : ''}
          Nothing proves the name of the app. Allow it only if you have just started this in the app, and know this
          address.
        </p>
      </div>
      <SelectField
        name="workspace"
        label="Workspace"
        hint="The app can use only this one."
        defaultValue={String(pickWorkspace(ownWorkspaces)?.id ?? '')}
        options={ownWorkspaces.map(({ id, name }) => ({ value: String(id), label: name }))}
      />
      <FieldGroup name="scopes" label="What the app may do" hint="At most what your role in the workspace allows.">
        {scopes.map((scope) => (
          <CheckboxField
            key={scope}
            name={scope}
            label={describeScope(scope)}
            defaultChecked={!scope.endsWith('admin') || scopes.every((one) => one.endsWith('admin'))}
          />
        ))}
      </FieldGroup>
      <p className="text-sm text-muted">
        The app has to ask again after {days} days. You can end its access at any time under Account, Connected apps.
      </p>
      <div className="flex flex-wrap justify-end gap-2">
        <Button onClick={() => location.assign(withState(decline_url, asked.state))}>Decline</Button>
        <Button type="submit" tone="primary" isPending={connect.isPending || connect.isSuccess}>
          Allow
        </Button>
      </div>
    </Form>
  );
}

function withState(url: string, state: string | undefined): string {
  const returned = new URL(url);
  if (state !== undefined) returned.searchParams.set('state', state);
  return returned.href;
}
