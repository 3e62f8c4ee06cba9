/** How a workspace looks to its guests: a color, a logo, and links. */
import type { Branding } from '@lynxroom/client';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { createFileRoute } from '@tanstack/react-router';
import { useState } from 'react';
import { LANGUAGES, languageNames } from '../../../../../src/languages/languages.ts';
import { Button } from '../../../components/Button.tsx';
import { ErrorPanel } from '../../../components/ErrorPanel.tsx';
import { CheckboxField, Field, Form, SelectField, TextField } from '../../../components/Form.tsx';
import { PageHeader } from '../../../components/PageHeader.tsx';
import { RoleGate } from '../../../components/RoleGate.tsx';
import { Section } from '../../../components/Section.tsx';
import { SkeletonRows } from '../../../components/Skeleton.tsx';
import { client } from '../../../lib/client.ts';
import { showSuccess } from '../../../lib/toasts.ts';
import { useWorkspaceId } from '../../../lib/workspace.ts';
import { LogoField } from './-branding/LogoField.tsx';
import { Preview } from './-branding/Preview.tsx';
import { brandingOptions } from './-branding/queries.ts';

/** What the field shows while the pages have the color of the service. */
const DEFAULT_COLOR = '#4f46e5';

export const Route = createFileRoute('/w/$workspaceId/branding')({
  loader: async ({ params }) => (await import('./-branding/queries.ts')).loadBranding(Number(params.workspaceId)),
  component: BrandingPage,
});

function BrandingPage() {
  const branding = useQuery(brandingOptions(useWorkspaceId()));
  return (
    <>
      <PageHeader title="Branding" text="How booking pages and rooms look to your guests" />
      <RoleGate min="owner" to="change the branding">
        {branding.isPending && <SkeletonRows />}
        {branding.isError && (
          <ErrorPanel
            what="The branding could not be loaded"
            error={branding.error}
            onRetry={() => branding.refetch()}
          />
        )}
        {branding.isSuccess && <Editor branding={branding.data.branding} />}
      </RoleGate>
    </>
  );
}

function Editor({ branding }: { branding: Branding }) {
  const id = useWorkspaceId();
  const queryClient = useQueryClient();
  const [color, setColor] = useState(branding.color ?? DEFAULT_COLOR);
  const [hasColor, setHasColor] = useState(branding.color !== null);
  const show = (changed: Branding) => queryClient.setQueryData(brandingOptions(id).queryKey, { branding: changed });
  const save = useMutation({
    mutationFn: (input: Pick<Branding, 'color' | 'imprint_url' | 'privacy_url' | 'language'>) =>
      client.branding.change.mutate({ id, ...input }),
    onSuccess(answer) {
      show(answer.branding);
      showSuccess('The branding was saved');
    },
  });

  function submit(values: FormData): void {
    const link = (name: string) => String(values.get(name)).trim() || null;
    save.mutate({
      color: hasColor ? color : null,
      imprint_url: link('imprint_url'),
      privacy_url: link('privacy_url'),
      language: LANGUAGES.find((one) => one === values.get('language')) ?? null,
    });
  }

  return (
    <div className="grid items-start gap-x-6 lg:grid-cols-2">
      <div>
        <Section title="Logo">
          <LogoField id={id} hasLogo={branding.logo_url !== null} onChange={show} />
        </Section>
        <Section title="Color, links and language">
          <Form onSubmit={submit} error={save.error}>
            <CheckboxField
              name="has_color"
              label="Use a color of our own"
              hint="If the color is too pale or too dark to be read, the pages use the nearest one that is not."
              checked={hasColor}
              onChange={({ target }) => setHasColor(target.checked)}
            />
            <Field name="color" label="Color">
              {(control) => (
                <input
                  type="color"
                  {...control}
                  value={color}
                  disabled={!hasColor}
                  onChange={({ target }) => setColor(target.value)}
                  className="h-10 w-16 rounded-lg border border-control-line bg-raised p-1 disabled:opacity-60"
                />
              )}
            </Field>
            <TextField
              name="imprint_url"
              label="Imprint"
              type="url"
              placeholder="https://example.com/imprint"
              hint="Who is responsible for the pages."
              defaultValue={branding.imprint_url ?? ''}
            />
            <TextField
              name="privacy_url"
              label="Privacy"
              type="url"
              placeholder="https://example.com/privacy"
              hint="How the data of guests is used."
              defaultValue={branding.privacy_url ?? ''}
            />
            <SelectField
              name="language"
              label="Language"
              hint="Of pages and mail for guests who have not chosen one, and whose browser has none of these."
              defaultValue={branding.language ?? 'en'}
              options={LANGUAGES.map((value) => ({ value, label: languageNames[value] }))}
            />
            <Button type="submit" tone="primary" className="self-start" isPending={save.isPending}>
              Save
            </Button>
          </Form>
        </Section>
      </div>
      <Section title="What guests see" text="In the light or dark colors that they use themselves.">
        <Preview branding={{ ...branding, color: hasColor ? color : null }} />
      </Section>
    </div>
  );
}
